"""Two calls that meet the same random numbers as a pair (layer: ``link``, room ``domains``).

``loss(key, x + e), loss(key, x - e)`` are the two sides of one difference, ``match(a, b, key), match(b, a, key)`` a game and its return
match. What it does: compares how two calls of one function are written. What it does not: ask what becomes of the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.infer.keys import Use
from jitlint.link.tables.ir_walk import call_at, same_text
from jitlint.syntax import ir

_SIDES: Final = frozenset({"+", "-"})


def are_a_pair(code: Sequence[ir.Node], this: Use, found: Use) -> bool:
    """Whether one function is called with both sides of a difference, or with its arguments exchanged."""
    if this.site[0] != found.site[0] or this.site == found.site:
        return False
    one, other = call_at(code, this.site[1]), call_at(code, found.site[1])
    if (
        one is None
        or other is None
        or not same_text(one.func, other.func)
        or len(one.args) != len(other.args)
    ):
        return False
    pairs = [(a.value, b.value) for a, b in zip(one.args, other.args)]
    unlike = [pair for pair in pairs if not same_text(*pair)]
    if len(unlike) == 1:
        return _are_sides(*unlike[0])
    return (
        len(unlike) == 2 and same_text(unlike[0][0], unlike[1][1]) and same_text(unlike[0][1], unlike[1][0])
    )


def _are_sides(one: ir.Node, other: ir.Node) -> bool:
    if type(one) is not ir.BinOp or type(other) is not ir.BinOp or {one.op, other.op} != _SIDES:
        return False
    return same_text(one.left, other.left) and same_text(one.right, other.right)
