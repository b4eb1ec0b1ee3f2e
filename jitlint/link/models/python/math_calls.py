"""The functions of `math` and `cmath`: each converts its arguments to Python numbers (layer: ``link``, room ``models``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.lattice import or_unknown
from jitlint.infer.values import BOOL, FLOAT, INT, NO_CONST, Py, Tup, Value, py
from jitlint.link.engine.events import emit_convert
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.python.python_sequences import fold
from jitlint.link.values.boxes import argument, spread

_EXACT: Final[dict[str, Callable[..., float]]] = {
    name: getattr(math, name)
    for name in ("ceil", "floor", "trunc", "sqrt", "log", "log2", "log10", "isqrt", "gcd")
}
"""Carried out on known small numbers, because loop bounds are computed with them."""

LARGEST: Final = 1 << 40


Handler = Callable[[Machine, Frame, int, Args], Value]


def _handler(module: str, name: str, result: Value) -> Handler:
    what = f"{module}.{name}"

    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        values = [*args.pos, *args.kw.values()]
        if args.more is not None:
            values.append(args.more)
        if name in lexicon().python.iterating:
            values = [part for value in values for part in _numbers(m, f, at, value)]
        for value in values:
            if emit_convert(m, f, at, value, "math", what):
                return result
        exact = _exactly(name, args) if module == "math" else None
        return result if exact is None else exact

    return handler


def _numbers(m: Machine, f: Frame, at: int, iterable: Value) -> list[Value]:
    items, rest = spread(m, f, at, iterable)
    if items is not None:
        return items
    return [] if rest is None else [rest]


def _exactly(name: str, args: Args) -> Value | None:
    function = _EXACT.get(name)
    numbers = [value.const if type(value) is Py else NO_CONST for value in args.pos]
    if function is None or args.kw or args.more is not None:
        return None
    if not all(isinstance(n, (int, float)) and abs(n) < LARGEST for n in numbers):
        return None
    try:
        return py(function(*numbers))
    except (ValueError, TypeError, ArithmeticError):
        return None


def _prod(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``math.prod`` multiplies: tracers stay tracers."""
    return fold(m, f, at, "*", or_unknown(argument(args, 0)), args.get(1, "start") or py(1))


_RESULTS: Final[dict[str, Value]] = {
    "float": FLOAT,
    "int": INT,
    "bool": BOOL,
    "complex": Py("complex"),
    "pair": Tup((FLOAT, FLOAT)),
    "mixed": Tup((FLOAT, INT)),
}


def conversion(dotted: str) -> Handler | None:
    """The model of a function that makes Python numbers of its arguments; None for any other."""
    if dotted == "math.prod":
        return _prod
    kind = lexicon().python.numbers.get(dotted)
    module, _, name = dotted.rpartition(".")
    return None if kind is None else _handler(module, name, _RESULTS[kind])
