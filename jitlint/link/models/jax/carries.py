"""What must fit in loops and branches: carries, conditions, branch results, reverse mode (layer: ``link``, room ``models``).

Only certain differences are reported. Types as measured: a Python number is weakly typed, so as an initial carry
it is promoted to what the body returns; the results of branches are compared as they are.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.dtypes import differ, exact_of, is_weak, shown
from jitlint.catalogue.transforms import HigherOrder
from jitlint.infer.dims import Dims, shape_text
from jitlint.infer.events import TransformMisuse
from jitlint.infer.grounds import GUESSED, SEEN
from jitlint.infer.lattice import traced_modes
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import (
    BEHIND,
    FORI,
    NO_CONST,
    NONE,
    UNKNOWN,
    WHILE,
    Arr,
    Inst,
    L,
    Map,
    Py,
    Seq,
    Tree,
    Tup,
    Union,
    Value,
    const_of,
)
from jitlint.link.engine.events import STAGED_OR_BATCHED, hurt
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.maps import varying
from jitlint.link.values import fitting, flattening, pytrees
from jitlint.link.values.operators import operand_of
from jitlint.link.values.questions.registering import is_in_type

_WORDS: Final = {
    "none": "`None`",
    "tuple": "a tuple",
    "array": "an array",
    "dict": "a dict",
    "list": "a list",
}


def check_carry(m: Machine, f: Frame, at: int, spec: HigherOrder, init: Value, out: Value) -> None:
    """The body of a loop must return what it received."""
    _report(m, f, at, spec, "carry-mismatch", mismatch(init, out) or varying.mismatch(f, init, out))


def check_combined(m: Machine, f: Frame, at: int, spec: HigherOrder, given: Value, result: Value) -> None:
    """What combines two elements gives one of the same structure."""
    before, after = _arrays_in(given), _arrays_in(result)
    if before and after and before != after:
        _report(m, f, at, spec, "combined", f"{before} {after}")


def _arrays_in(value: Value) -> int:
    """How many arrays a tuple of arrays, or one, holds; 0 for anything else."""
    if type(value) is Arr:
        return 1
    arrays = type(value) is Tup and all(type(item) is Arr for item in value.items)
    return len(value.items) if arrays and type(value) is Tup else 0


def check_pair(m: Machine, f: Frame, at: int, spec: HigherOrder, init: Value, result: Value) -> None:
    """The body of a scan returns the carry and one output. A dict of two is a pair as well, if that is not the carry itself."""
    shape = _outline(result)
    items = getattr(result, "items", None)
    if shape in ("tuple", "list"):
        detail = "" if items is None or len(items) == 2 else f"{_WORDS[shape]} of {len(items)}"
    else:
        no_pair = shape in ("array", "none") or _is_like_carry(init, result)
        detail = _WORDS[shape] if no_pair else ""
    _report(m, f, at, spec, "no-pair", detail)


def _is_like_carry(init: Value, result: Value) -> bool:
    """Whether a dict has just the keys of the carry that came in."""
    if type(result) is not Map or type(init) is not Map or result.rest is not None or result.open:
        return False
    return bool(result.entries) and init.entries.keys() == result.entries.keys()


def check_condition(m: Machine, f: Frame, at: int, spec: HigherOrder, result: Value) -> None:
    """The condition of a loop returns a boolean scalar."""
    dtype = _dtype(result)
    detail = f"`{_name(dtype)}`" if dtype not in (None, "bool", "key") else ""
    if type(result) is Arr and result.rank:
        detail = f"an array with {result.rank} axes"
    elif _outline(result) not in ("", "array"):
        detail = _word(_outline(result))
    _report(m, f, at, spec, "no-boolean", detail)


def check_branches(m: Machine, f: Frame, at: int, spec: HigherOrder, results: list[Value]) -> None:
    """All branches return the same structure and types."""
    for other in results[1:]:
        detail = mismatch(results[0], other, strict=True) or varying.mismatch(
            f, results[0], other, branches=True
        )
        if detail:
            _report(m, f, at, spec, "branch-mismatch", detail)
            return


def _report(m: Machine, f: Frame, at: int, spec: HigherOrder, problem: str, detail: str) -> None:
    if detail:
        m.emit(
            f,
            TransformMisuse,
            at,
            None,
            transform=spec.name,
            problem=problem,
            parameter="",
            detail=detail,
        )


def mismatch(init: Value, out: Value, path: str = "", strict: bool = False) -> str:
    """How two values certainly differ in structure, number of axes or dtype, or "".

    strict: a Python number on the left is not promoted (the results of two branches).
    """
    if type(init) is Union or type(out) is Union or _is_hearsay(init, out):
        return ""
    where = f" at `{path}`" if path else ""
    verbs = ("is returned by one", "by another") if strict else ("comes in", "goes out")
    shape_a, shape_b = _outline(init), _outline(out)
    if shape_a != shape_b:
        known = shape_a and shape_b
        return f"{_word(shape_a)} {verbs[0]}, {_word(shape_b)} {verbs[1]}{where}" if known else ""
    if shape_a == "array":
        return _arrays(init, out, where, verbs, strict)
    parts = _parts(init, out, path, _word(shape_a), verbs, where)
    if isinstance(parts, str):
        return parts
    return next((found for p, x, y in parts if (found := mismatch(x, y, p, strict))), "")


def _is_hearsay(init: Value, out: Value) -> bool:
    """Whether only an annotation says that two values are of different classes."""
    said = [value for value in (init, out) if type(value) is Tup and value.said]
    return bool(said) and not (type(init) is Tup and type(out) is Tup and init.cls is out.cls)


_Pairs = list[tuple[str, Value, Value]]
"""Parts of two values that belong together, with where they are."""


def _parts(init: Value, out: Value, path: str, kind: str, verbs: tuple[str, str], where: str) -> _Pairs | str:
    """What two values of one outline hold, or how they differ in that."""
    if type(init) is Inst and type(out) is Inst:
        return _fields_to_compare(init, out, path, verbs, where)
    if type(init) is Map:
        return _entries_to_compare(init, out, path, where)
    return _items_to_compare(init, out, path, kind, verbs, where)


def _items_to_compare(
    init: Value, out: Value, path: str, kind: str, verbs: tuple[str, str], where: str
) -> _Pairs | str:
    """The items of two sequences; how the sequences differ if their lengths do."""
    if not isinstance(init, (Tup, Seq)) or not isinstance(out, (Tup, Seq)):
        return ""
    if init.items is None or out.items is None:
        return _rests_to_compare(init, out, path)
    if len(init.items) != len(out.items):
        return f"{kind} of {len(init.items)} {verbs[0]}, one of {len(out.items)} {verbs[1]}{where}"
    return [(f"{path}[{i}]", x, y) for i, (x, y) in enumerate(zip(init.items, out.items))]


def _rests_to_compare(init: Value, out: Value, path: str) -> _Pairs:
    """What is said of all elements of two lists or dicts together, or of each in one of them: where the elements differ in that, all of
    them do. Other numbers of elements do not fit, either."""
    before, after = _elements(init), _elements(out)
    return [(f"{path}[...]", one, other) for one in before for other in after]


def _elements(value: Value) -> list[Value]:
    """The elements of a list, or what stands for all of them."""
    items = value.items if isinstance(value, (Tup, Seq)) else None
    rest = getattr(value, "rest", None)
    return [*(items or ()), *([] if rest is None else [rest])]


def _entries_to_compare(init: Value, out: Value, path: str, where: str) -> _Pairs | str:
    """The entries of two dicts; how the dicts differ if their keys do."""
    if type(init) is not Map or type(out) is not Map:
        return ""
    if init.rest is not None or out.rest is not None:
        return "" if init.entries or out.entries else _rests_to_compare(init, out, path)
    if set(init.entries) != set(out.entries):
        extra = sorted(map(str, set(init.entries) ^ set(out.entries)))
        return f"the dict keys differ ({', '.join(extra[:3])}){where}"
    return [(f"{path}[{key!r}]", x, out.entries[key]) for key, x in init.entries.items()]


def _fields_to_compare(init: Inst, out: Inst, path: str, verbs: tuple[str, str], where: str) -> _Pairs | str:
    """The fields of two objects of one class, where it is known which are data; the others belong to the structure."""
    if not flattening.says_children(init.cls):
        return ""
    static = flattening.static_names(init)
    pairs: _Pairs = []
    for name, x in init.attrs.items():
        y = out.attrs.get(name)
        if y is None:
            continue
        if name not in static:
            pairs.append((f"{path}.{name}", x, y))
        elif (
            NO_CONST not in (one := const_of(x), other := const_of(y))
            and one != other
            and is_in_type(init, name)
        ):
            return f"the static field `{name}` is {one!r} where it {verbs[0]}, {other!r} where it {verbs[1]}{where}"
    return pairs


def _arrays(init: Value, out: Value, where: str, verbs: tuple[str, str], strict: bool) -> str:
    before, after = _dtype(init), _dtype(out)
    if (before == "key" and _is_number(out)) or (after == "key" and _is_number(init)):
        words = ["a PRNG key" if dtype == "key" else f"`{_name(dtype)}`" for dtype in (before, after)]
        return f"{words[0]} {verbs[0]}, {words[1]} {verbs[1]}{where}"
    if before and after and "key" not in (before, after) and not _fits(before, after, strict):
        return f"`{_name(before)}` {verbs[0]}, `{_name(after)}` {verbs[1]}{where}"
    known = None if before is None or after is None else _unlike(init, out, strict)
    if known is not None:
        return f"`{known[0]}` {verbs[0]}, `{known[1]}` {verbs[1]}{where}"
    return "" if "key" in (before, after) else _axes(init, out, where, verbs)


def _may_be_complex(before: str | None, after: str | None) -> bool:
    """Whether one of two is complex, and the other one may be: what is computed with something unknown counts as a float."""
    return {before, after} == {"complex", "float"} and None in (exact_of(before), exact_of(after))


def _is_number(value: Value) -> bool:
    """Whether something is certainly one number, or an array that holds no bits of a key."""
    if type(value) is Arr:
        return value.kind is SEEN and (
            value.dtype in ("float", "bool") or (value.dtype == "int" and value.rank == 0)
        )
    return type(value) is Py and value.kind in pytrees.NUMBERS


def _axes(init: Value, out: Value, where: str, verbs: tuple[str, str]) -> str:
    """How two arrays certainly differ in the number or the sizes of their axes."""
    ranks = [v.rank if type(v) is Arr else 0 for v in (init, out)]
    if None not in ranks and ranks[0] != ranks[1]:
        return f"an array with {ranks[0]} axes {verbs[0]}, one with {ranks[1]} {verbs[1]}{where}"
    sizes = [fitting.dims_of(v) for v in (init, out)]
    return _sizes(sizes[0] or (), sizes[1] or (), where, verbs)


def _sizes(before: Dims, after: Dims, where: str, verbs: tuple[str, str]) -> str:
    """Whether two arrays with as many axes certainly have other sizes."""
    unlike = any(None not in pair and pair[0] != pair[1] for pair in zip(before, after))
    if not unlike or len(before) != len(after):
        return ""
    first, second = shape_text(before), shape_text(after)
    return f"an array of shape {first} {verbs[0]}, one of shape {second} {verbs[1]}{where}"


def _fits(before: str, after: str, strict: bool) -> bool:
    if before == after or {before, after} == {"int", "number"} or _may_be_complex(before, after):
        return True
    return not strict and (before == "number" or after == "complex") and after != "bool"


def _unlike(init: Value, out: Value, strict: bool) -> tuple[str, str] | None:
    """The exact dtypes of two arrays where they certainly differ; a weakly typed carry becomes what the body returns."""
    before, after = operand_of(init)[1], operand_of(out)[1]
    if before is None or after is None or not differ(before, after) or (is_weak(before) and not strict):
        return None
    return shown(before), shown(after)


def _name(dtype: str | None) -> str:
    return "int" if dtype == "number" else str(dtype)


def _dtype(value: Value) -> str | None:
    if type(value) is Arr:
        return None if value.weak else value.dtype
    if type(value) is Py and value.kind in pytrees.NUMBERS:
        return "number" if value.kind == "int" else value.kind
    return None


def _outline(value: Value) -> str:
    if type(value) is Py:
        return "none" if value is NONE else "array" if value.kind in pytrees.NUMBERS else ""
    if type(value) is Seq:
        return "list" if value.kind == "list" else ""
    if type(value) is Tup:
        return "tuple" if value.cls is None else _class(value.cls)
    if type(value) is Inst:
        return "" if value.open or not flattening.is_pytree(value.cls) else _class(value.cls)
    return {Arr: "array", Map: "dict"}.get(type(value), "")


def _class(cls: ClassInfo) -> str:
    """Objects of a class have an outline of their own: the class decides what they are put together from."""
    return f"`{cls.qualname}`" if not cls.extern else ""


def _word(outline: str) -> str:
    return _WORDS.get(outline) or f"a {outline}"


LOOP_NAMES: Final = {WHILE: "jax.lax.while_loop", FORI: "jax.lax.fori_loop"}


def through_loop(spec: HigherOrder, named: dict[str, Value], carry: Value) -> Value:
    """The result of a loop: what has a derivative in it now goes through the loop, unless the number of turns is static, or may be:
    an attribute of an object that nobody knows is perhaps a setting."""
    if not traced_modes(carry) & L:
        return carry
    bounds = [hurt(named.get(name, UNKNOWN), STAGED_OR_BATCHED) for name in ("lower", "upper")]
    if spec.result == "fori" and all(bound is None or bound.traced is GUESSED for bound in bounds):
        return carry
    loop = FORI if spec.result == "fori" else WHILE
    return pytrees.remode(carry, lambda modes: modes | loop if modes & L else modes)


def through_branches(results: list[Value], value: Value) -> Value:
    """What `jax.lax.cond` gives, or `jax.lax.scan` of its body: its derivative goes through the loops of all branches."""
    loops = 0
    for result in results:
        loops |= traced_modes(result, 8) & BEHIND
    return pytrees.remode(value, lambda modes: modes | loops if modes & L else modes) if loops else value


def loop_behind(value: Value) -> str:
    """The loop of unknown length that the derivative of a value goes through, or "".

    It must reach the value: what a derivative does not depend on, what `stop_gradient` or a comparison cut off, is never
    gone through backwards.
    """
    if type(value) is Tree and value.weak:
        return ""
    loops = traced_modes(value, 8) & BEHIND
    return next((name for loop, name in LOOP_NAMES.items() if loops & loop), "")


def emit_reverse(m: Machine, f: Frame, at: int, loop: str) -> None:
    """Record that a derivative goes backwards through a loop. JAX raises where the derivative is taken."""
    m.emit(
        f,
        TransformMisuse,
        at,
        None,
        transform=loop,
        problem="reverse-mode-loop",
        parameter="",
        detail=loop,
    )
