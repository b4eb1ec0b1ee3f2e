"""Tangents and cotangents: what a derivative in one direction gets (layer: ``link``, room ``models``).

What it does: compares the tangents of `jax.jvp` with the inputs, and the cotangent that the function of `jax.vjp` gets with the
result, in form, kind and shape; as measured. What it does not: ask for exact dtypes, which follow from options, or
for those of whole numbers, which have a dtype of their own there.
"""

from __future__ import annotations

from jitlint.catalogue.transforms import HigherOrder
from jitlint.infer.dims import Dims, shape_text
from jitlint.infer.grounds import SEEN
from jitlint.infer.lattice import traced_modes
from jitlint.infer.values import NO_CONST, NONE, UNKNOWN, Arr, ExtInst, Map, Py, Seq, Tup, Value
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.jax.mapping import in_words, leaves, report
from jitlint.link.models.trees import leaf_shapes
from jitlint.link.values import fitting, pytrees

RESULT = "result"
INPUTS = "inputs"
"""Where the function that `jax.vjp` gives keeps what the differentiated one gave, and by what the derivative is taken."""


def check_tangents(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> None:
    """The inputs and their tangents are tuples, also where there is one, and alike."""
    for name in ("primals", "tangents"):
        value = named.get(name)
        array = type(value) is Arr and value.kind is SEEN and not value.weak
        number = type(value) is Py and value.kind in pytrees.NUMBERS and value.const is not NO_CONST
        if value is not None and (array or number):
            report(m, f, at, spec.name, "no-tuple", in_words(value), name, value)
            return
    inputs, tangents = named.get("primals"), named.get("tangents")
    detail = _unlike(tangents, inputs) if inputs is not None and tangents is not None else ""
    if detail:
        report(m, f, at, spec.name, "unlike-tangent", detail)


def check_cotangent(m: Machine, f: Frame, at: int, pullback: ExtInst, args: Args) -> None:
    """What goes backwards is like what came out."""
    result = pullback.attrs.get(RESULT)
    if result is None or len(args.pos) != 1 or args.kw or args.more is not None or args.kw_more is not None:
        return
    detail = _unlike(args.pos[0], result)
    if detail:
        report(m, f, at, "jax.vjp", "unlike-cotangent", detail)


def pulled_back(f: Frame, pullback: ExtInst, args: Args) -> Value:
    """What comes out at the other end: a tuple with a derivative by each input."""
    inputs = pullback.attrs.get(INPUTS)
    if type(inputs) is not Tup or len(args.pos) != 1 or args.kw:
        return UNKNOWN
    modes = f.world.here | traced_modes(args.pos[0])
    return Tup(tuple([_derivative_by(f, value, modes) for value in inputs.items]))


def _derivative_by(f: Frame, value: Value, modes: int) -> Value:
    """A derivative by an input; unknown for what may hold whole or complex numbers, which have others."""
    inside = list(leaves(value))
    plain = inside and all(fitting.kind_of(leaf) == "float" for leaf in inside)
    return leaf_shapes.derivative_by(f, value, modes | traced_modes(value)) if plain else UNKNOWN


def _unlike(given: Value, wanted: Value, depth: int = 4) -> str:
    """How what a derivative gets certainly differs from what it belongs to, or ""."""
    if _is_array(wanted):
        return _unlike_array(given, wanted)
    parts, others = pytrees.children(given), pytrees.children(wanted)
    if type(given) is not type(wanted) or parts is None or others is None or not depth:
        bare = _is_plain(wanted) and _is_array(given)
        return f"{in_words(given)} for {in_words(wanted)}" if bare else ""
    if _have_other_keys(given, wanted):
        return ""
    if len(parts) != len(others):
        return f"{in_words(given)} for {in_words(wanted)}" if _is_plain(given) and _is_plain(wanted) else ""
    return next(filter(None, (_unlike(one, other, depth - 1) for one, other in zip(parts, others))), "")


def _have_other_keys(given: Value, wanted: Value) -> bool:
    return type(given) is Map and type(wanted) is Map and given.entries.keys() != wanted.entries.keys()


def _is_plain(value: Value) -> bool:
    return type(value) is Tup and value.cls is None


def _is_array(value: Value) -> bool:
    """Whether something is certainly an array or a number that becomes one."""
    return fitting.is_sure(value) or fitting.is_number(value)


def _unlike_array(given: Value, wanted: Value) -> str:
    if fitting.kind_of(wanted) not in ("float", "complex"):
        return ""  # whole numbers have no derivative: what stands for it is of a dtype that has no numbers
    bare = given is NONE or (type(given) is Tup and given.cls is None)
    if bare or (type(given) is Seq and given.kind == "list"):
        return f"{_form(given)} for an array"
    if not (_is_array(given) or _is_of_numpy(given)):
        return ""
    kind = fitting.kind_of(given)
    if kind in ("int", "bool"):
        return f"{'integers' if kind == 'int' else 'booleans'} for floats"
    return _unlike_sizes(fitting.dims_of(given), fitting.dims_of(wanted))


def _is_of_numpy(value: Value) -> bool:
    return type(value) is Arr and value.host and value.kind is SEEN and not value.weak


def _unlike_sizes(given: Dims | None, wanted: Dims | None) -> str:
    if given is None or wanted is None:
        return ""
    differ = any(None not in pair and pair[0] != pair[1] for pair in zip(given, wanted))
    unlike = differ or len(given) != len(wanted)
    return f"shape {shape_text(given)} for shape {shape_text(wanted)}" if unlike else ""


def _form(value: Value) -> str:
    return "a list" if type(value) is Seq else in_words(value)
