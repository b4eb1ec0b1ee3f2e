"""Operators on Python's own numbers and strings, which need no analysis (layer: ``link``, room ``values``)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from jitlint.infer.values import STR, UNKNOWN, Py, Value, py

FOLD: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "**": lambda a, b: operator.pow(a, _small(b)),
    "<<": lambda a, b: operator.lshift(a, _small(b)),
    ">>": operator.rshift,
}
NUMBER_KINDS: Final = ("bool", "int", "float", "complex")
LARGEST: Final = 1 << 64
"""Results from here on are not kept as constants."""


def _small(exponent: float) -> float:
    """The exponent of a power that is computed. Raises OverflowError for one whose power may be huge."""
    if not 0 <= exponent <= LARGEST.bit_length():
        raise OverflowError
    return exponent


def fold(op: str, left: Py, right: Py) -> Value:
    """``left op right`` of two Python values: exact for small numbers, else the kind."""
    if left.kind == "str":
        return STR if op in ("+", "%", "*") else UNKNOWN
    if right.kind == "str":
        return STR if op == "*" else UNKNOWN
    if left.kind == "none" or right.kind == "none":
        return UNKNOWN
    a, b = left.const, right.const
    if op in FOLD and type(a) in (int, float, bool) and type(b) in (int, float, bool):
        try:
            result = FOLD[op](a, b)
        except OverflowError:
            return Py(result_kind(op, left.kind, right.kind))
        except (ArithmeticError, ValueError, TypeError):
            return Py("static")
        if abs(result) < LARGEST:
            return py(result)
    if left.kind not in NUMBER_KINDS or right.kind not in NUMBER_KINDS:
        return Py("static")
    return Py(result_kind(op, left.kind, right.kind))


def result_kind(op: str, left: str, right: str) -> str:
    """The Python number kind, or array dtype class, of an arithmetic result."""
    if "complex" in (left, right):
        return "complex"
    if op == "/" or "float" in (left, right):
        return "float"
    if op in ("&", "|", "^") and left == right == "bool":
        return "bool"
    return "number" if "number" in (left, right) else "int"
