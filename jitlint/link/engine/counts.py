"""What is known of loops that count (layer: ``link``, room ``engine``).

What it does: keeps which loops have their numbers compared with something, which code does that knows where they end; and what
waits for the last number of a loop, that shows only when its body has run. What it does not: follow numbers; values carry them.
"""

from __future__ import annotations

from collections.abc import Callable

from jitlint.infer.counted import NEVER, Counted, Loop
from jitlint.link.engine.sink import Found


class Counts:
    """The loops of a session."""

    def __init__(self) -> None:
        self._compared: set[tuple[str, int]] = set()
        self._turns: dict[tuple[str, int], int] = {}
        self._waiting: dict[Loop, dict[tuple[int, int], Callable[[int], None]]] = {}

    def compare(self, counted: Counted | None) -> None:
        """A number that a loop counts is compared with another, or what is left of it is taken."""
        if counted is not None and counted.loop != NEVER:
            self._compared.add(counted.loop[:2])

    def is_plain(self, loop: Loop) -> bool:
        """Whether nobody compares anything that the loop counts with something: one number stands for the others."""
        return loop[:2] not in self._compared

    def tell(self, counted: Counted, at: int, told: Callable[[int], None]) -> None:
        """Somebody wants to know a number in the last turn, now or when it is known. at: where it is used."""
        if counted.most is not None:
            told(counted.most)
            return
        if counted.size_of is not None:
            return

        def later(last: int) -> None:
            told(counted.times * last + counted.plus)

        self._waiting.setdefault(counted.loop, {})[at, counted.plus] = later

    def begin(self, place: tuple[str, int], turns: int) -> None:
        """A loop of JAX's begins that has so many turns."""
        self._turns[place] = turns

    def end(self, counted: Counted, step: int) -> None:
        """The body of such a loop has run. step: what it adds to a number in each turn, 0 if that does not show."""
        turns = self._turns[counted.loop[:2]]
        for told in self._waiting.pop(counted.loop, {}).values():
            if step > 0:
                told(counted.first + (turns - 1) * step)


class Plain:
    """A condition: nobody compares what a loop counts with anything."""

    __slots__ = ("_counts", "_loop")

    def __init__(self, counts: Counts, counted: Counted) -> None:
        self._counts = counts
        self._loop = counted.loop

    def holds(self, found: Found) -> bool:
        """Whether it came to the end without."""
        return self._counts.is_plain(self._loop)
