"""Where events go: they are added and never taken back (layer: ``link``, room ``engine``).

What it does: keeps of all witnesses of one thing the strongest, the first of equals. What is only known when
everything has run, such as who calls a function with how many rows, is a *condition* on the event; `judge` decides all
of them, once, at the end. What it does not: decide how sure an event is; `Machine.emit` does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from jitlint.infer.events import AnyEvent

Key = tuple[Hashable, ...]
"""What makes two events witnesses of one thing: the class, the place and the fields."""

Found = Mapping[Key, AnyEvent]
"""What holds unconditionally, by the time conditions are decided."""


class Condition(Protocol):
    """What an event depends on."""

    def holds(self, found: Found) -> bool:
        """Whether the event is to be reported."""
        ...


class Trial(Protocol):
    """What all events of one run depend on together."""

    def keeps(self, found: Found) -> Iterator[tuple[Key, AnyEvent]]:
        """Those that are to be reported. found: the strongest of each, of this run alone."""
        ...


_Waiting = tuple[Key, AnyEvent, tuple[Condition, ...]]


class Sink:
    """The events of a session. A number tells in which order they came."""

    def __init__(self) -> None:
        self._count = 0
        self._plain: dict[Key, tuple[AnyEvent, int]] = {}
        self._waiting: list[_Waiting] = []
        self._trials: list[tuple[Trial, dict[Key, tuple[AnyEvent, int]], list[_Waiting], int]] = []
        self._current = self._plain
        self.heard: Callable[[AnyEvent], None] | None = None
        """Gets what holds whatever comes, at once; the same thing perhaps several times."""
        self.trial_number = 0
        """Which trial is on, 0 for none: what one has found counts for no other."""
        self.record: list[tuple[Key, AnyEvent]] = []
        """What the trial that is on has found, as often as it did: what it finds again, another may find as well."""
        self.missing = 0
        """How often something belongs into the record that is not known."""

    def add(self, key: Key, event: AnyEvent, when: tuple[Condition, ...] = ()) -> None:
        """Something was found. when: what must hold in the end for it to be reported."""
        self._count += 1
        if when:
            self._waiting.append((key, event, when))
        else:
            _merge(self._current, key, event, self._count)
            if self.trial_number:
                self.record.append((key, event))
            if self.heard is not None and self._current is self._plain:
                self.heard(event)

    @contextmanager
    def trial(self, trial: Trial) -> Iterator[None]:
        """What is found in the block depends on what the whole block turns out to be."""
        outer, found = self._current, dict[Key, tuple[AnyEvent, int]]()
        number, record, waiting = self.trial_number, self.record, self._waiting
        self.record, self._waiting = [], []
        self._current, self.trial_number = found, len(self._trials) + 1
        try:
            yield
        finally:
            self._count += 1
            self._trials.append((trial, found, self._waiting, self._count))
            self._current, self.trial_number, self.record, self._waiting = outer, number, record, waiting

    def judge(self) -> list[AnyEvent]:
        """Decide all conditions: what is to be reported."""
        out = dict(self._plain)
        for trial, found, waiting, number in self._trials:
            _decide(found, waiting, number)
            for key, event in trial.keeps({key: event for key, (event, _) in found.items()}):
                _merge(out, key, event, number)
        _decide(out, self._waiting, self._count)
        return [event for event, _ in out.values()]


def _decide(found: dict[Key, tuple[AnyEvent, int]], waiting: list[_Waiting], number: int) -> None:
    """Add what waits for no more than holds."""
    sure = {key: event for key, (event, _) in found.items()} if waiting else {}
    for key, event, when in waiting:
        if all(condition.holds(sure) for condition in when):
            _merge(found, key, event, number)


def _merge(into: dict[Key, tuple[AnyEvent, int]], key: Key, event: AnyEvent, number: int) -> None:
    old = into.get(key)
    if old is not None:
        before, now = _strength(old[0]), _strength(event)
        if before > now or (before == now and old[1] <= number):
            return
    into[key] = (event, number)


def _strength(event: AnyEvent) -> tuple[int, bool]:
    return event.place.confidence.rank, not event.place.expected
