"""What a choice keeps from overflowing in the value, but not in the derivative (layer: ``link``, room ``domains``).

``jnp.where(x > 20, x, jnp.log1p(jnp.exp(x)))``: for a large ``x`` the exponential is infinite, and so is its derivative. What it
does: compares what the condition of a choice bounds with what grows without bound. What it does not: speak of conditions that
tell positive numbers from negative ones, or of arguments that are computed by anything else than arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.domains.gradients import singular, spelling
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import ir

_BOUNDING: Final = {(">", False), (">=", False), ("<", True), ("<=", True)}
"""Comparisons with a number, and how they come out, for what is not above it."""
_ORDERS: Final = frozenset({">", ">=", "<", "<="})
_SIGNLESS: Final = spelling.ABSOLUTE - {"square"}
_EVEN: Final = frozenset({"cosh", "sinh"})
"""Functions that overflow on both sides."""


def hole(parts: Sequence[ir.Node], call: ir.Call) -> spelling.Hole | None:
    """What overflows in the way of a choice that is not taken for large numbers."""
    for test, side, way in singular.sides(call):
        bounded = list(_bounded(parts, test, side))
        for node in singular.computed(spelling.written(parts, way)) if bounded else ():
            found = _overflowing(parts, node, bounded)
            if found is not None:
                return found
    return None


def _overflowing(
    parts: Sequence[ir.Node], node: ir.Node, bounded: Sequence[tuple[ir.Node, int]]
) -> spelling.Hole | None:
    """The call of a function that is infinite for large arguments, if these are what is bounded."""
    if type(node) is not ir.Call or last_name(node.func) not in lexicon().gradients.growing:
        return None
    for argument, sign in _exponents(node):
        is_bounded = any(sign == there and spelling.same(parts, argument, other) for other, there in bounded)
        if is_bounded and spelling.is_arithmetic(parts, argument):
            words, names = spelling.in_words([argument]), spelling.names_in(argument)
            return spelling.Hole(node.at, last_name(node.func), words, names, True)
    return None


def _bounded(parts: Sequence[ir.Node], test: ir.Node, side: bool) -> Iterator[tuple[ir.Node, int]]:
    """What is not large wherever a condition comes out this way; with -1, what is not large below zero."""
    for node, op, other, way in singular.comparisons(parts, test, side):
        bound = spelling.number(other)
        if not bound or ((op, way) in _BOUNDING) != (bound > 0) or op not in _ORDERS:
            continue
        sign = 1 if bound > 0 else -1
        for one in singular.spellings(parts, node):
            yield one, sign
            if sign > 0 and type(one) is ir.Call and last_name(one.func) in _SIGNLESS and len(one.args) == 1:
                yield one.args[0].value, 1
                yield one.args[0].value, -1


def _exponents(call: ir.Call) -> Iterator[tuple[ir.Node, int]]:
    """What the argument of a function that overflows grows with, or with -1, what it falls with."""
    argument: ir.Node = call.args[0].value if call.args else call
    sign = 1
    while True:
        factor = spelling.number(argument.left) if type(argument) is ir.BinOp and argument.op == "*" else None
        if type(argument) is ir.UnaryOp and argument.op == "-":
            argument, sign = argument.operand, -sign
        elif type(argument) is ir.BinOp and factor is not None and abs(factor) >= 1:
            argument, sign = argument.right, sign if factor > 0 else -sign
        else:
            break
    yield argument, sign
    if last_name(call.func) in _EVEN:
        yield argument, -sign
