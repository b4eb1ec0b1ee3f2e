"""What a loop adds to the whole numbers of its carry (layer: ``link``, room ``domains``).

What it does: compares what the body of a loop got with what it gives: the step of a number, with the number of turns, says where it
ends; those who wait for it are told. What it does not: find who uses the number; they wait in `Machine.counts`.
"""

from __future__ import annotations

from jitlint.infer.values import Tup
from jitlint.link.engine.domain import Domain, Turn
from jitlint.link.engine.frame import Frame
from jitlint.link.values.questions import counting


class Counting(Domain[None]):
    """Tells how far numbers get."""

    def on_turn(self, inner: Frame, turn: Turn) -> None:
        """A loop of a library has run its body."""
        carry = turn.returned
        if turn.paired and type(carry) is Tup and carry.items:
            carry = carry.items[0]
        counting.end(self.m, turn.given, carry)
