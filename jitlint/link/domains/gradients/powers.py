"""Powers of negative numbers that a choice keeps away from the value, but not from the derivative (layer: ``link``, room ``domains``).

``jnp.where(age > 0, age**shape, 0.0)``: below zero the power is NaN, and so is its derivative by either of its parts. What it does:
finds powers with a point of a difference that the condition keeps positive. What it does not: look at values; what is no
difference may never be negative.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitlint.link.domains.gradients import singular, spelling
from jitlint.syntax import ir


def hole(code: spelling.Code, call: ir.Call) -> spelling.Hole | None:
    """The power whose base the condition of a choice keeps positive."""
    for test, side, way in singular.sides(call):
        kept = list(_kept_positive(code, test, side))
        for power in _fractional(code, spelling.written(code.parts, way)) if kept else ():
            alike = any(spelling.same(code.parts, power.left, one) for one in kept)
            base = spelling.written(code.parts, power.left)
            if alike and type(base) is ir.BinOp and base.op == "-" and spelling.may_be_zero(code, power.left):
                words = spelling.in_words(list(spelling.factors(power.left)))
                return spelling.Hole(power.at, "**", words, spelling.names_in(power), below=True)
    return None


def _kept_positive(code: spelling.Code, test: ir.Node, side: bool) -> Iterator[ir.Node]:
    for node, op, other, holds in singular.comparisons(code.parts, test, side):
        bound = spelling.number(other)
        if bound == 0 and op in ((">", ">=") if holds else ("<", "<=")):
            yield from singular.spellings(code.parts, node)


def _fractional(code: spelling.Code, way: ir.Node | None) -> Iterator[ir.BinOp]:
    """The powers in an expression whose exponents are no whole numbers, or traced."""
    for node in singular.computed(way):
        if type(node) is ir.BinOp and node.op == "**":
            number = spelling.number(node.right)
            number = code.constant(node.right) if number is None else number
            if code.traced(node.right) if number is None else not float(number).is_integer():
                yield node
