"""The flagged statement, and what in it is meant (layer: ``confirm``). Plain data; answers where something happened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jitlint.confirm.watch.observe import Place, Raised
from jitlint.confirm.watch.spots import Columns, Spot


@dataclass(frozen=True, slots=True)
class Statement:
    """The flagged statement: the line of the finding, and the first and last line around it.

    owner: the function or class that a flagged decorator belongs to, or "". number: of the finding. tried: the lines
    that a flagged handler guards, handler: those of its body. columns: of the flagged expression, None for the whole
    statement; accepted: those at which it fails; alone: nothing else of its kind is there; always: it runs whenever its
    line does; calls: it calls something, so that it is another value each time; repeats: it
    names a variable more than once.
    """

    path: str
    line: int
    first: int
    last: int
    owner: str = ""
    number: int = -1
    tried: tuple[int, int] = (0, 0)
    handler: tuple[int, int] = (0, 0)
    columns: Columns | None = None
    accepted: frozenset[Columns] = frozenset()
    alone: bool = True
    always: bool = True
    calls: bool = False
    repeats: bool = False

    def covers(self, place: Place) -> bool:
        """Whether a place lies in the statement."""
        return place[0] == self.path and self.first <= place[1] <= self.last

    def on(self, stack: Iterable[Place]) -> bool:
        """Whether one of the places lies in the statement."""
        return any(self.covers(place) for place in stack)

    def is_at(self, spot: Spot) -> bool:
        """Whether it is the flagged expression that runs."""
        return spot.path == self.path and self._runs(spot.line, spot.columns, None)

    def is_itself(self, spot: Spot) -> bool:
        """Whether exactly the flagged expression runs, and nothing that it is an argument of."""
        return self.is_at(spot) and (self.columns is None or spot.columns in (None, self.columns))

    def is_at_or_in(self, spot: Spot) -> bool:
        """Whether the flagged expression, or a part of it, runs."""
        if self.columns is None or spot.columns is None:
            return self.is_at(spot)
        inside = self.columns[:2] <= spot.columns[:2] and spot.columns[2:] <= self.columns[2:]
        return spot.path == self.path and inside

    def fails(self, error: Raised) -> bool:
        """Whether it is the flagged expression that failed."""
        place = error.place
        return (
            place is not None and place[0] == self.path and self._runs(place[1], error.columns, error.operand)
        )

    def _runs(self, line: int, columns: Columns | None, operand: Columns | None) -> bool:
        if self.columns is None or columns is None:
            # Python before 3.11 tells lines only.
            return self.first <= line <= self.last and (self.columns is None or self.alone)
        return columns in self.accepted or (operand is not None and operand in self.accepted)

    @property
    def places(self) -> list[Place]:
        """Its places, the flagged line first."""
        others = [(self.path, line) for line in range(self.first, self.last + 1) if line != self.line]
        return [(self.path, self.line), *others]

    @property
    def tried_places(self) -> list[Place]:
        """The places that a flagged handler guards."""
        first, last = self.tried
        return [(self.path, line) for line in range(first, last + 1)] if first else []
