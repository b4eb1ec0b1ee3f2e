"""What calls and operators tell of all numbers of an array at once (layer: ``link``, room ``values``).

What it does: knows that an array of NumPy lies beyond a constant, where it was added to one or the array starts there, and that -1
stands for *nothing* in an array of indices that is filled with it. What it does not: compute; what any other operation gives may
be anything. Round numbers such as `1e9` stand for *infinite* more often than for a place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.schema import Parameter
from jitlint.infer.about import NOTHING, About, numbered
from jitlint.infer.counted import always, ranging
from jitlint.infer.lattice import parts
from jitlint.infer.values import NO_CONST, Arr, Py, Seq, Tup, Value, const_of
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import call_at, last_name
from jitlint.syntax import ir
from jitlint.syntax.children import below

EXACT: Final = 2**24
"""Beyond it 32-bit floats do not tell whole numbers apart."""
FRACTIONS: Final = 2**21
"""Beyond it 32-bit floats are at least a quarter apart."""
WHOLE: Final = 2**31
"""The first whole number for which 32 bits have no room."""
PADDING: Final = -1
_WIDE: Final = frozenset({"int64", "uint64", "float64"})
"""Functions of NumPy that make one number of 64 bits."""
_FLOOR: Final = "jax.numpy.floor"
_ONE_SIDED: Final = frozenset(
    {
        "abs",
        "clip",
        "maximum",
        "mod",
        "norm",
        "remainder",
        "relu",
        "sqrt",
        "square",
        "where",
        "min",
        "uniform",
    }
)
"""What leaves no negative numbers, or tells of a choice."""
_LIMITS: Final = {
    "jax.numpy.arange": ("start", "stop", "step"),
    "jax.random.randint": ("minval", "maxval"),
}
"""Functions that give whole numbers between limits, with the parameters that say these."""


def of_sum(op: str, left: Value, right: Value) -> About:
    """What is known of ``left op right``, an array of NumPy."""
    if op == "+":
        return _far(_place(left) or _place(right))
    number = op == "-" and type(right) is Py and const_of(right) is not NO_CONST and _place(right) == 0
    return _far(_place(left)) if number else NOTHING


def of_call(name: str, args: Args) -> About:
    """What is known of the array that a function of NumPy, or a method of a generator, gives."""
    short = name.rpartition(".")[2]
    if args.more is not None or args.kw_more is not None:
        return NOTHING
    first = args.pos[0] if args.pos else None
    words = lexicon().arrays
    if short in words.keeps_numbers | _WIDE:
        return _of_given(short, first)
    if short in words.padding:
        second = args.pos[1] if short in words.padding_second and len(args.pos) > 1 else None
        return _padded(args.kw.get(words.padding[short], second))
    parameter = words.starts_at.get(short, "")
    several = len(args.pos) > 1 or bool(args.kw.keys() & {"stop", "high"})
    end = args.get(1, "high") if short in words.draws_integers else None
    return _far(_place(args.get(0, parameter)) or _beyond(end)) if parameter and several else NOTHING


def note(
    f: Frame, at: int, name: str, bound: Sequence[tuple[Parameter, Value]], receiver: Arr | None, out: Value
) -> None:
    """Note what is known of the array, or of each array, that a function of JAX gives."""
    names = _LIMITS.get(name)
    found = _of_bound(name, bound, receiver) if names is None else _of_range(f, at, bound, names)
    if name == _FLOOR and found is NOTHING and _is_shifted(f, at):
        found = About(cells=True)
    for array in out.items if type(out) is Tup else (out.rest,) if type(out) is Seq else (out,):
        if type(array) is Arr and found is not NOTHING:
            array.about = found


def _is_shifted(f: Frame, at: int) -> bool:
    """Whether what is rounded down is the distance from a border, which may be on its other side: ``jnp.floor((x - origin) / size)``."""
    call = call_at(f.fn.parts if f.fn is not None else [], at)
    given = call.args[0].value if call is not None and call.args else None
    return _has_two_sides(below(bound_once.written(f.fn, given)))


def _has_two_sides(inside: Sequence[ir.Node]) -> bool:
    """Whether an expression takes something else than a constant away, and does nothing that leaves no negative numbers."""
    names = {last_name(part.func) for part in inside if type(part) is ir.Call}
    operations = [part for part in inside if type(part) is ir.BinOp]
    shifts = any(part.op == "-" and type(part.right) is not ir.Const for part in operations)
    return shifts and names.isdisjoint(_ONE_SIDED) and not any(part.op in ("%", "**") for part in operations)


def _of_range(f: Frame, at: int, bound: Sequence[tuple[Parameter, Value]], names: tuple[str, ...]) -> About:
    """What is known of whole numbers between limits, that follow each other or are drawn."""
    given = {p.name: const_of(value) for p, value in bound if p.name in names}
    limits = [number for number in given.values() if type(number) is int]
    if len(limits) != len(given) or not limits or (len(limits) == 3 and limits[2] <= 0):
        return NOTHING
    return numbered(ranging(f.module.name, at, range(*limits)))


def _of_bound(name: str, bound: Sequence[tuple[Parameter, Value]], receiver: Arr | None) -> About:
    short = name.rpartition(".")[2]
    words = lexicon().arrays
    first = receiver or (bound[0][1] if bound else None)
    if name in words.probabilities:
        return About(made=name)
    grown = _grown(first, bound) if short in lexicon().compilation.growing else 0
    if grown:
        return About(grown=grown)
    if short in words.keeps_numbers or short in words.whole_numbers:
        return _handed(short, first)
    if short in words.same_number:
        return (
            _of_number(Py("int", int(words.same_number[short])))
            if type(first) is Tup and not first.items
            else NOTHING
        )
    parameter = words.padding.get(short, "")
    return _padded(next((v for p, v in bound if parameter and p.name == parameter), None))


def _grown(first: Value | None, bound: Sequence[tuple[Parameter, Value]]) -> int:
    """Which argument is among arrays that are put together, as it was given; 0 if none is, or several are."""
    items = parts(first) if isinstance(first, (Seq, Tup)) else [value for _, value in bound[:2]]
    given = [item.about.given for item in items if type(item) is Arr and item.about.given]
    return given[0] if len(given) == 1 and len(items) > 1 else 0


def _handed(short: str, value: Value | None) -> About:
    """What is known of the array that a function gives which makes no new numbers."""
    if type(value) is Py:
        return (
            _of_number(value)
            if short in lexicon().arrays.keeps_all or short in lexicon().arrays.whole_numbers
            else NOTHING
        )
    return handed_on(short, value.about) if type(value) is Arr else NOTHING


def _of_number(number: Py) -> About:
    """What is known of the array that a whole number of Python's becomes."""
    const = number.const
    return numbered(number.counted or (always(const) if type(const) is int else None))


def kept(array: Arr, name: str) -> About:
    """What is known of the array that a method of an array of NumPy gives."""
    return handed_on(name, array.about) if name in lexicon().arrays.keeps_numbers else NOTHING


def handed_on(short: str, about: About) -> About:
    """What a function that makes no new numbers leaves of what is known: not all of them may be there, or in other rows."""
    words = lexicon().arrays
    loses = short not in words.keeps_all and short not in words.whole_numbers
    if about.given or about.grown:
        about = about._replace(given=0, grown=0)
    counts = about.counted is not None or about.rows is not None or about.ragged
    return about._replace(counted=None, rows=None, ragged=False) if counts and loses else about


def _far(place: float) -> About:
    return About(place) if place else NOTHING


def _padded(value: Value | None) -> About:
    """What is known of an array that is filled, or filled up, with a number."""
    const = NO_CONST if value is None else const_of(value)
    return About(padding=PADDING) if type(const) is int and const == PADDING else NOTHING


def _place(value: Value | None) -> float:
    if type(value) is Arr:
        return value.about.around
    const = NO_CONST if value is None else const_of(value)
    return const if isinstance(const, (int, float)) and _is_far(const) else 0


def _beyond(end: Value | None) -> float:
    """The end of whole numbers that are drawn, if 32 bits have no room for those before it."""
    const = NO_CONST if end is None else const_of(end)
    return const if type(const) is int and const > WHOLE else 0


def _is_far(const: float) -> bool:
    """Whether a constant is a place far from 0: no round number, with one digit and zeros; or one with a fraction where 32 bits keep
    none finer than quarters."""
    if abs(const) >= EXACT:
        return float(f"{const:.0e}") != const
    return abs(const) >= FRACTIONS and const != int(const)


def _of_arrays(places: Sequence[float]) -> float:
    """The place beyond which several arrays lie, of those of each."""
    return min(places) if min(places) > 0 else max(places) if max(places) < 0 else 0


def _of_given(short: str, value: Value | None) -> About:
    """What is known of an array that is made of another, of several numbers, or of one that gets 64 bits."""
    if type(value) is Arr:
        return handed_on(short, value.about)
    return _far(_place(value) if short in _WIDE else _of_elements(value))


def _of_elements(value: Value | None) -> float:
    """The smallest of some whole numbers for all of which 32 bits have no room, or the place beyond which several arrays lie."""
    items = parts(value) if isinstance(value, (Seq, Tup)) else []
    if items and all(type(item) is Arr for item in items):
        return _of_arrays([_place(item) for item in items])
    numbers = [const_of(item) for item in items]
    found = [number for number in numbers if type(number) is int and number >= WHOLE]
    return min(found) if found and len(found) == len(numbers) else 0
