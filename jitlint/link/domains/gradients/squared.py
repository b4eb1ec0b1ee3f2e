"""Roots that are squared again (layer: ``link``, room ``domains``).

``jnp.linalg.norm(x) ** 2`` is smooth, and its derivative at zero is NaN all the same: that of the root is not defined there, and
the 0 that comes from the square does not mend it.
"""

from __future__ import annotations

from typing import Final

from jitlint.link.domains.gradients import spelling
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import ir
from jitlint.syntax.children import below

_EVEN: Final = (2, 4)


def hole(code: spelling.Code, call: ir.Call) -> spelling.Hole | None:
    """The root, if a call is one, an even power is taken of it and nothing keeps it away from zero."""
    under = spelling.operand_of(call)
    if not spelling.is_root(call) or not under:
        return None
    squares = [part for part in code.parts if _is_squared(code, part, call)]
    if not squares or _divides(code, squares) or not spelling.may_be_zero(code, under[0]):
        return None
    summed = spelling.operand_of(under[0]) if type(under[0]) is ir.Call else under
    words = spelling.in_words([zero for one in summed for zero in spelling.factors(one)])
    return spelling.Hole(call.at, last_name(call.func), words, spelling.names_in(under[0]), edge="**")


def _divides(code: spelling.Code, squares: list[ir.Node]) -> bool:
    """Whether something is divided by a square, or its logarithm is taken: then it is not zero."""
    inner = [part for node in code.parts for one in _divisors(node) for part in below(one)]
    return any(part is square for part in inner for square in squares)


def _divisors(part: ir.Node) -> list[ir.Node]:
    if type(part) is ir.BinOp and part.op == "/":
        return [part.right]
    return spelling.operand_of(part) if type(part) is ir.Call and last_name(part.func) == "log" else []


def _is_squared(code: spelling.Code, part: ir.Node, call: ir.Call) -> bool:
    if type(part) is not ir.BinOp:
        return False
    if part.op == "**":
        power = spelling.number(part.right)
        return power in _EVEN and spelling.written(code.parts, part.left) is call
    roots = [one for one in _factors(part) if spelling.written(code.parts, one) is call]
    return len(roots) in _EVEN


def _factors(node: ir.Node) -> list[ir.Node]:
    if type(node) is ir.BinOp and node.op == "*":
        return [*_factors(node.left), *_factors(node.right)]
    return [node]
