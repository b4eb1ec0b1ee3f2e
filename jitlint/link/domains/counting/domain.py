"""What a loop adds to the whole numbers of its carry (layer: ``link``, room ``domains``).

What it does: compares what the body of a loop got with what it gives: the step of a number, with the number of turns, says where it
ends; those who wait for it are told. ``(place + step) % size`` says itself where a place may be. What it does not: find who uses the
number; they wait in `Machine.counts`.
"""

from __future__ import annotations

from jitlint.infer.about import numbered
from jitlint.infer.counted import in_a_ring
from jitlint.infer.values import Arr, Tup, Value, const_of
from jitlint.link.engine.domain import Domain, Turn
from jitlint.link.engine.frame import Frame
from jitlint.link.values import paths
from jitlint.link.values.questions import counting
from jitlint.syntax import ir


class Counting(Domain[None]):
    """Tells how far numbers get."""

    def on_operator(self, f: Frame, node: ir.BinOp, operands: tuple[Value, Value], result: Value) -> Value:
        """A remainder is taken, perhaps of a place in a ring that moves on."""
        moved = node.left
        if node.op != "%" or type(moved) is not ir.BinOp or moved.op != "+" or type(result) is not Arr:
            return result
        size = const_of(operands[1])
        if type(size) is not int or size < 1:
            return result
        sides = (paths.constant(self.m, f, side) for side in (moved.left, moved.right))
        steps = [step for step in sides if type(step) is int and step]
        if len(steps) == 1 and result.dtype in ("int", "number") and not result.host:
            result.about = numbered(in_a_ring(f.module.name, node.at, steps[0], size))
        return result

    def on_turn(self, inner: Frame, turn: Turn) -> None:
        """A loop of a library has run its body."""
        carry = turn.returned
        if turn.paired and type(carry) is Tup and carry.items:
            carry = carry.items[0]
        counting.end(self.m, turn.given, carry)
