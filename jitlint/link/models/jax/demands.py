"""What derivatives, loops and branches demand of what they get and give (layer: ``link``, room ``models``).

What it does: compares what is known of arguments and results with what JAX asks for, as measured: a derivative is taken
of one real number, by real numbers; a rule of one gives a pair, or one value for each argument; one predicate chooses a branch.
What it does not: speak of functions that no known code calls, or of values of which only a part is known.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.transforms import HigherOrder, Wrap
from jitlint.infer.events import ApiMisuse
from jitlint.infer.grounds import SEEN
from jitlint.infer.objects import DRY
from jitlint.infer.values import (
    BACK,
    NO_CONST,
    NONE,
    UNKNOWN,
    Arr,
    ExtInst,
    Func,
    Inst,
    Map,
    Partial,
    Py,
    Seq,
    Tree,
    Tup,
    Unknown,
    Value,
    Xform,
)
from jitlint.link.engine import surroundings
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.jax import arity, closed_over, hashed, mapping, operands, scalars, turns
from jitlint.link.models.jax.mapping import in_words, is_no_pair, leaves, rank_of, report, size_of
from jitlint.link.models.maps import shardings
from jitlint.link.values import flattening, iteration, pytrees
from jitlint.link.values.questions.kinds import find_method, is_sequence
from jitlint.link.values.questions.signatures import constant_ints, describe, signature
from jitlint.syntax import ir

_DEPTH: Final = 4
"""So many modules in each other are looked through."""
_NUMBERS: Final = frozenset({"int", "bool"})


def refuses_arguments(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """A transformed function is called: whether it certainly gets what the transform cannot work with, so that it never runs."""
    if x.spec.kernel and args.kw:
        return True  # it takes arrays by position only, as Python says
    if x.site == (f.module.name, at):
        return False  # nobody calls it; the arguments are made up
    if x.spec.kernel:
        return arity.refuses_references(m, f, at, x, args) or closed_over.refuses_kernel(m, f, at, x)
    if hashed.refuses(m, f, at, x.spec.name, x.target):
        return True
    return _has_no_first(m, f, at, x, args) or _refuses_inputs(m, f, at, x, args)


def _refuses_inputs(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """Whether arguments are not what is asked for."""
    if x.spec.real and not x.spec.filter and "allow_int" not in x.options:
        return _check_inputs(m, f, at, x, args)
    if x.spec.filter and x.spec.axes:
        return mapping.refuses_arrays(m, f, at, x, args)
    placed = shardings.PLACES in x.options and x.spec.static_names not in x.options
    return (bool(x.spec.results) or placed) and mapping.refuses(m, f, at, x, args)


def check_result(m: Machine, f: Frame, at: int, x: Xform, result: Value) -> None:
    """The function has run: has what it gives a derivative, if that is asked for, or the form that is said of it."""
    if x.site == (f.module.name, at):
        return
    if x.spec.results:
        mapping.check_result(m, f, at, x, result)
    elif x.spec.real:
        _check_derived(m, f, at, x, result)


def _check_derived(m: Machine, f: Frame, at: int, x: Xform, result: Value) -> None:
    aux = x.options.get("has_aux")
    if aux is not None:
        items = iteration.known_items(result) if type(result) is Tup else None
        if not (type(aux) is Py and aux.const is True):
            return
        if items is None or len(items) != 2:
            if is_no_pair(result) and not x.spec.name.startswith("flax."):  # which takes apart what it gets
                report(m, f, at, x.spec.name, "no-aux", in_words(result), value=result)
            return
        result = items[0]
    scalar = x.spec.result in ("grad", "value_and_grad")
    detail = (
        _no_number(x.target, result, aux is not None)
        if scalar and not surroundings.asks_for_shapes(f)
        else ""
    )
    if detail:
        report(m, f, at, x.spec.name, "no-scalar", detail, value=result)
    elif scalar and (kind := _no_real(x, result)):
        report(m, f, at, x.spec.name, "no-real-result", kind, value=result)


def check_rule(
    m: Machine, f: Frame, at: int, x: Xform, kind: str, rule: Value, result: Value, count: int
) -> None:
    """A derivative rule has run: has what it gives the form that JAX asks for. count: of the arguments with a derivative."""
    runs = kind in ("jvp", "fwd") or (kind == "bwd" and f.world.modes & BACK)
    result = NONE if result is UNKNOWN and _is_empty(rule) else result
    if not runs or result is UNKNOWN:
        return
    wanted = count if kind == "bwd" else 2
    if is_no_pair(result, wanted):
        detail = f"{in_words(result)} for {wanted}"
        report(m, f, at, describe(x.target), "rule-result", detail, kind)


def _no_real(x: Xform, result: Value) -> str:
    """Of which kind a number certainly is that has no derivative, or ""."""
    if type(result) is Arr and result.dtype == "complex":
        return "" if "holomorphic" in x.options else "complex"
    return "" if type(result) is Py else _whole(result)


def _is_empty(rule: Value) -> bool:
    """Whether a rule is still to be written: a function, not a method that others override, with no code in it."""
    if type(rule) is not Func or rule.owner is not None:
        return False
    return rule.fn.is_stub and not (rule.fn.node.is_async or rule.fn.node.is_generator)


def check_choice(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> None:
    """What chooses a branch is one number: a boolean, or an integer if there are several."""
    value = named.get(spec.params[0])
    if type(value) is Arr and value.rank:
        axes = "1 axis" if value.rank == 1 else f"{value.rank} axes"
        report(m, f, at, spec.name, "no-scalar-choice", f"an array with {axes}", spec.params[0], value)
    elif spec.params[0] == "index" and value is not None and _is_real(value):
        report(m, f, at, spec.name, "no-index", "a float", spec.params[0], value)
    elif isinstance(value, (Func, Partial, Xform)):
        report(m, f, at, spec.name, "no-scalar-choice", "a function", spec.params[0])


def refuses_bounds(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> bool:
    """A counting loop counts in the type of both its bounds, all of its kind, integers as a rule (measured); whether it
    certainly cannot."""
    lower, upper = (named.get(name, UNKNOWN) for name in ("lower", "upper"))
    kinds = [_kind_of_bound(value) for value in (lower, upper)]
    unlike = all(kinds) and kinds[0] != kinds[1]
    if unlike:
        odd = upper if kinds[0] == "int" else lower
        report(m, f, at, spec.name, "unequal-bounds", " and ".join(kinds), "lower,upper", odd)
    return unlike


def _kind_of_bound(value: Value) -> str:
    """`int`, `bool`, `float` or `complex`; "" for what is perhaps another one."""
    if type(value) is Py:
        return value.kind if value.kind in pytrees.NUMBERS else ""
    if type(value) is not Arr or value.kind is not SEEN or value.weak:
        return ""
    kind = "int" if value.dtype == "number" else value.dtype
    return str(kind) if kind in pytrees.NUMBERS else ""


def check_functions(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> None:
    """What a library function is to run is a function, not what one gave. A branch may follow its own operand, too."""
    operands = named.get("operands", Tup(()))
    if spec.values or type(operands) is not Tup or not all(isinstance(v, (Arr, Py)) for v in operands.items):
        return
    for one in spec.run:
        value = named.get(one.function)
        several = iteration.known_items(value) if is_sequence(value) else None
        for part in several if several is not None else [value]:
            check_function(m, f, at, spec, one.function, part)


def check_function(
    m: Machine, f: Frame, at: int, spec: Wrap | HigherOrder, parameter: str, value: Value | None
) -> None:
    """Record an array or a number where a function is wanted."""
    array = type(value) is Arr and value.kind is SEEN and not value.weak
    number = type(value) is Py and value.kind in pytrees.NUMBERS and value.const is not NO_CONST
    if (
        spec.name.startswith("jax.")
        and (array or number)
        and _is_given_here(m, f, at, spec.params.index(parameter), parameter)
    ):
        m.emit(
            f, ApiMisuse, at, value, api=spec.name, problem="wrong-call", parameter=parameter, detail="function",
            exception="TypeError",
        )  # fmt: skip


def _is_given_here(m: Machine, f: Frame, at: int, position: int, parameter: str) -> bool:
    """Whether an argument is written in its call, or bound in the same function: a variable of a module may have been a
    function when this ran, and another value since."""
    call = m.texts.table(f).calls.get(at)
    args = call.args if call is not None else []
    given = [a.value for a in args if a.name is None and not a.star]
    named = [a.value for a in args if a.name == parameter]
    node = named[0] if named else given[position] if position < len(given) else None
    return node is not None and (f.fn is None or type(node) is not ir.Name or node.id in f.scope.vars)


def refuses_rows(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> bool:
    """A loop goes through the first axes of all arrays together; whether it certainly cannot."""
    xs = named.get("xs", NONE)
    if xs is NONE:
        return _has_no_length(m, f, at, spec, named)
    rows = list(leaves(_element(xs)))
    bare = next((leaf for leaf in rows if rank_of(leaf) == 0), None)
    if bare is not None:
        what = "a number" if type(bare) is Py else "an array without axes"
        report(m, f, at, spec.name, "no-rows", what, "xs", bare)
        return True
    length = named.get("length")
    sizes = [size_of(leaf, 0) for leaf in rows]
    sizes += [length.const] if type(length) is Py and type(length.const) is int else []
    known = sorted({size for size in sizes if size is not None})
    counts = f"{known[0]} and {known[-1]}" if len(known) > 1 else turns.unequal(m, f, at, spec)
    if counts:
        report(m, f, at, spec.name, "unequal-rows", counts, "xs")
    return bool(counts)


def _has_no_length(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> bool:
    """Whether nothing says how often a loop turns: it gets neither rows nor a length."""
    call = m.texts.table(f).calls.get(at)
    whole = call is not None and not any(arg.star for arg in call.args)
    if spec.result != "scan" or not whole or named.get("length", NONE) is not NONE:
        return False
    m.emit(
        f, ApiMisuse, at, None, api=spec.name, problem="wrong-call", parameter="length", detail="missing", exception="ValueError",
    )  # fmt: skip
    return True


def _element(xs: Value) -> Value:
    """A list of which nobody knows how long it is, by one of its elements: all of them are leaves."""
    if type(xs) is Seq and xs.kind == "list" and xs.items is None and xs.rest is not None:
        return xs.rest
    return xs


def _is_real(value: Value) -> bool:
    kind = value.dtype if type(value) is Arr else value.kind if type(value) is Py else None
    return kind in ("float", "complex")


def _check_inputs(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    nums = constant_ints(x.options["argnums"]) if "argnums" in x.options else [0]
    for number in nums or ():
        if args.more is None and -len(args.pos) <= number < len(args.pos):
            value = args.pos[number]
            name = _name_of(x, number)
            if operands.refused(m, f, at, x.spec.name, name, value, "non-array-argument"):
                return True
            found = _whole_leaf(value) or _drawing_layer(x, value)
            if found is not None:
                path, kind, leaf = found
                report(m, f, at, x.spec.name, "no-real-input", kind, path, leaf)
                return True
        elif args.more is None and number >= len(args.pos) and x.spec.name.startswith("jax."):
            detail = f"{number} of {len(args.pos)}"
            report(m, f, at, x.spec.name, "no-argument", detail, next(iter(args.kw), ""))
            return True
    return False


def _has_no_first(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """A derivative by the first argument gets it by name, where it takes it by position."""
    by_position = x.spec.filter and bool(x.spec.argnums)
    missing = by_position and bool(args.kw) and not args.pos and args.more is None
    if missing:
        report(m, f, at, x.spec.name, "no-argument", "0 of 0", next(iter(args.kw)))
    return missing


def _name_of(x: Xform, number: int) -> str:
    """The parameter at a position."""
    sig = signature(x.target)
    positional = sig.positional if sig is not None else []
    return positional[number].name if 0 <= number < len(positional) else ""


def _whole_leaf(value: Value) -> tuple[str, str, Value] | None:
    """The first integer, truth value or PRNG key in a pytree: where, of which kind, and the leaf itself."""
    known = {"": value}
    if type(value) is Inst and value.open and value.cls.role == "struct":  # it has more, but these are there
        static = flattening.static_names(value)
        known = {f".{name}": part for name, part in value.attrs.items() if name not in static}
    leaves = (found for name, part in known.items() for found in mapping.parts(part, name))
    return next(((path, kind, leaf) for path, leaf in leaves if (kind := _whole(leaf))), None)


def _drawing_layer(
    x: Xform, value: Value, path: str = "", depth: int = _DEPTH
) -> tuple[str, str, Value] | None:
    """A layer of a module of `flax.nnx` that holds a stream of keys, with the number of its draws: where, and what it is. What
    `flax.nnx` differentiates itself, it differentiates by the parameters alone."""
    if type(value) is ExtInst and value.dotted in lexicon().contracts.holds_keys and DRY not in value.attrs:
        return path, "key", value
    if not x.spec.name.startswith("jax.") or not depth:
        return None
    found = (_drawing_layer(x, part, f"{path}{name}", depth - 1) for name, part in _held(value))
    return next((one for one in found if one is not None), None)


def _held(value: Value) -> list[tuple[str, Value]]:
    """What a module of `flax.nnx` holds, or a list of such."""
    if type(value) is Inst and value.cls.role == "nnx":
        return [(f".{name}", part) for name, part in value.attrs.items()]
    if not isinstance(value, (Seq, Tup)):
        return []
    rest = value.rest if type(value) is Seq else None
    items = value.items if value.items is not None else [] if rest is None else [rest]
    return [(f"[{i}]", part) for i, part in enumerate(items)]


def _whole(value: Value) -> str:
    """Which kind of whole number, or of bits, a value certainly is, or ""."""
    if type(value) is ExtInst and value.dotted in lexicon().contracts.holds_flags:
        return "bool"
    if type(value) is Py:
        return value.kind if value.kind in _NUMBERS and value.const is not NO_CONST else ""
    if type(value) is Arr and value.dtype in (*_NUMBERS, "number", "key"):
        return value.dtype if value.dtype in ("bool", "key") else "int"
    return ""


def _no_number(target: Value, result: Value, paired: bool) -> str:
    """What a function certainly gives instead of one number, by its result or by how that is written, or ""."""
    is_open = type(result) in (Tree, Unknown) or (type(result) is Arr and result.rank is None)
    many = is_open and scalars.gives_many(target, paired)
    return "an array with axes" if many else _no_scalar(result)


def _no_scalar(value: Value) -> str:
    """What a value certainly is instead of one number, or ""."""
    if value is NONE:
        return "`None`"
    if type(value) is Arr and value.rank:
        return "an array with 1 axis" if value.rank == 1 else f"an array with {value.rank} axes"
    if type(value) is Tup:
        return f"a tuple of {len(value.items)}" if value.cls is None else f"a `{value.cls.name}`"
    if type(value) is Inst and flattening.is_pytree(value.cls):
        return "" if find_method(value, "__jax_array__") is not None else f"a `{value.cls.name}`"
    if type(value) is Seq and value.kind == "list":
        return "a list"
    return "a dict" if type(value) is Map else ""


def rows(named: dict[str, Value]) -> int | None:
    """How many turns a loop over rows takes, if that is known."""
    length = named.get("length")
    if type(length) is Py and type(length.const) is int:
        return length.const
    xs = named.get("xs")
    sizes = [size_of(leaf, 0) for leaf in leaves(xs)] if xs is not None else []
    return next((size for size in sizes if size is not None), None)
