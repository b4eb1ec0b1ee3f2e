"""Constants around which the numbers of a NumPy array lie (layer: ``link``, room ``values``).

A date in milliseconds is a large constant and a small rest, and 32 bits have room for only one of the two. What it does: knows
that an array lies beyond a constant, where it was added to one or the array starts there. What it does not: compute with it; what
any other operation gives may be anything. Round numbers such as `1e9` stand for *infinite* more often than for a place.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import Arr, Py, Seq, Tup, Value, const_of
from jitlint.link.engine.frame import Args

EXACT: Final = 2**24
"""Beyond it 32-bit floats do not tell whole numbers apart."""
WHOLE: Final = 2**31
"""The first whole number for which 32 bits have no room."""


def of_sum(op: str, left: Value, right: Value) -> float:
    """What ``left op right``, an array of NumPy, lies around."""
    if op == "+":
        return _place(left) or _place(right)
    number = op == "-" and type(right) is Py and _place(right) == 0
    return _place(left) if number else 0


def of_call(name: str, args: Args) -> float:
    """What the array lies around that a function of NumPy, or a method of a generator, gives."""
    short = name.rpartition(".")[2]
    if args.more is not None or args.kw_more is not None:
        return 0
    first = args.pos[0] if args.pos else None
    if short in lexicon().arrays.keeps_numbers:
        return _of_elements(first) if type(first) in (Seq, Tup) else _place(first)
    parameter = lexicon().arrays.starts_at.get(short, "")
    several = len(args.pos) > 1 or bool(args.kw.keys() & {"stop", "high"})
    end = args.get(1, "high") if short in lexicon().arrays.draws_integers else None
    return (_place(args.get(0, parameter)) or _beyond(end)) if parameter and several else 0


def of_method(array: Arr, name: str) -> float:
    """What the array lies around that a method of an array of NumPy gives."""
    return array.around if name in lexicon().arrays.keeps_numbers else 0


def _place(value: Value | None) -> float:
    if type(value) is Arr:
        return value.around
    const = const_of(value) if type(value) is Py else None
    return const if isinstance(const, (int, float)) and _is_far(const) else 0


def _beyond(end: Value | None) -> float:
    """The end of whole numbers that are drawn, if 32 bits have no room for those before it."""
    const = const_of(end) if type(end) is Py else None
    return const if type(const) is int and const > WHOLE else 0


def _is_far(const: float) -> bool:
    """Whether a constant is a place far from 0: no round number, with one digit and zeros."""
    return abs(const) >= EXACT and float(f"{const:.0e}") != const


def _of_elements(value: Value | None) -> float:
    """The smallest of some whole numbers for all of which 32 bits have no room."""
    items = value.items if isinstance(value, (Seq, Tup)) else None
    numbers = [const_of(item) if type(item) is Py else None for item in items or ()]
    found = [number for number in numbers if type(number) is int and number >= WHOLE]
    return min(found) if found and len(found) == len(numbers) else 0
