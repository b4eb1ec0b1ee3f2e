"""Whole numbers that follow the turns of a loop (layer: ``infer``)."""

from __future__ import annotations

import math
from typing import Final, NamedTuple, Optional

Loop = tuple[str, int, int]
"""Module and origin of a loop, and which of the numbers that it counts."""


Axis = tuple[str, int, str, int]
"""The axis of an array that a variable holds: module, function (-1: none) and name of the variable, and which axis."""


class Counted(NamedTuple):
    """``times * n + plus``, where n goes from ``first`` to ``last`` while the loop turns; last: None while that is not known.

    size_of: an axis whose size is that ``last``, and not known as a number; ``times`` is 1 then.
    """

    loop: Loop
    first: int
    last: Optional[int]
    times: int = 1
    plus: int = 0
    size_of: Optional[Axis] = None

    @property
    def least(self) -> int:
        """The number in the first turn."""
        return self.times * self.first + self.plus

    @property
    def most(self) -> int | None:
        """The number in the last turn."""
        return None if self.last is None else self.times * self.last + self.plus

    def holds(self, number: int) -> bool:
        """Whether a number is one of those that are gone through."""
        turn, rest = divmod(number - self.plus, self.times) if self.times else (0, 1)
        return not rest and self.last is not None and self.first <= turn <= self.last


RING: Final = -1
"""Instead of the number in a loop: what goes round in a ring, at each remainder that is taken."""
NEVER: Final[Loop] = ("", -1, 0)
"""The loop of a number that is always the same."""


LARGEST_INDEX: Final = Counted(NEVER, 0, None, size_of=("", -1, "", 0))
"""The largest number of some array, which is no axis of anything: there is one index more."""


LONGEST: Final = Counted(NEVER, 0, None, size_of=("", -2, "", 0))
"""The length of the longest of some sequences, which is no axis of anything: of others it is another one."""


def always(number: int) -> Counted:
    """A number that is the same in every turn."""
    return Counted(NEVER, 0, 0, 0, number)


def ranging(module: str, at: int, numbers: range) -> Counted | None:
    """What a loop over some numbers counts, if it counts upwards: n is the number of its turns before."""
    if len(numbers) < 2 or numbers.step < 0:
        return None
    return Counted((module, at, 0), 0, len(numbers) - 1, numbers.step, numbers[0])


def in_a_ring(module: str, at: int, step: int, size: int) -> Counted:
    """The places of a ring of some size to which steps of the same length lead from its beginning."""
    apart = math.gcd(step, size)
    return Counted((module, at, RING), 0, size // apart - 1, apart)


def either(one: Counted | None, other: Counted | None) -> Counted | None:
    """What is known of one of two numbers: one that is always the same may be among those that the other goes through."""
    if one is None or other is None or one == other:
        return one if one == other else None
    for fixed, counted in ((one, other), (other, one)):
        if fixed.loop == NEVER and fixed.most is not None and counted.holds(fixed.most):
            return counted
    return None


def with_number(op: str, counted: Counted, number: int, first: bool) -> Counted | None:
    """What an operator makes of a counted number and a constant. first: the constant comes first."""
    if op == "+" or (op == "-" and not first):
        return counted._replace(plus=counted.plus + (number if op == "+" else -number))
    if op == "*" and number > 0 and counted.size_of is None:
        return counted._replace(times=counted.times * number, plus=counted.plus * number)
    return None
