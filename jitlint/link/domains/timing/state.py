"""Which work may be running since which reading of a clock (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Union


@dataclass(frozen=True, slots=True)
class Work:
    """A call that returns before its work is done. direct: of a jitted function, in the same function."""

    module: str
    at: int
    name: str
    direct: bool


class Done:
    """Something waited, and nothing was started since."""

    __slots__ = ()


DONE: Final = Done()
Pending = Union[Work, Done, None]
"""What runs since some moment: a call, nothing any more, or nothing at all (None)."""

ENTRY: Final = "$entry"
"""The pseudo reading at the start of a function."""

PROFILE: Final = "$profile"
"""The pseudo reading at the start of a profile, of which a process has one."""


@dataclass(slots=True)
class Clocks:
    """readings: variables that hold a reading of a clock, with what was started since. ends: the same at the moment
    of the reading for the readings before it, and where it was made. device: variables that may hold results.
    waits: the readings since which something has waited. past: those since which an earlier turn of a loop has.
    lent: variables with buffers that work may still read.
    """

    readings: dict[str, Pending] = field(default_factory=dict)
    ends: dict[str, tuple[int, dict[str, Pending]]] = field(default_factory=dict)
    device: set[str] = field(default_factory=set)
    waits: set[str] = field(default_factory=set)
    past: set[str] = field(default_factory=set)
    lent: dict[str, Work] = field(default_factory=dict)

    def copy(self) -> Clocks:
        """An independent copy."""
        return Clocks(
            dict(self.readings),
            dict(self.ends),
            set(self.device),
            set(self.waits),
            set(self.past),
            dict(self.lent),
        )

    def started(self, work: Work) -> None:
        """Something begins to run."""
        for name in self.readings:
            if not isinstance(self.readings[name], Work):
                self.readings[name] = work

    def waited(self) -> None:
        """All that ran has finished: one device works in order."""
        for name in self.readings:
            self.readings[name] = DONE
        self.waits.update(self.readings)
        self.lent.clear()

    def forget(self, name: str) -> None:
        """A variable is bound to something else."""
        self.readings.pop(name, None)
        self.ends.pop(name, None)
        self.lent.pop(name, None)
        for names in (self.device, self.waits, self.past):
            names.discard(name)


def either(a: Pending, b: Pending) -> Pending:
    """What surely runs where two paths meet: nothing when one of them waited."""
    if a is DONE or b is DONE:
        return DONE
    return b if a is None else a


def join(a: Clocks, b: Clocks) -> Clocks:
    """Where two paths meet."""
    lent = {name: work for name, work in a.lent.items() if name in b.lent}
    out = Clocks(device=a.device | b.device, waits=a.waits | b.waits, past=a.past | b.past, lent=lent)
    for name in {**a.readings, **b.readings}:
        if name in a.readings and name in b.readings:
            out.readings[name] = either(a.readings[name], b.readings[name])
        else:
            out.readings[name] = a.readings[name] if name in a.readings else b.readings[name]
    out.ends = {name: end for name, end in a.ends.items() if b.ends.get(name, end)[0] == end[0]}
    out.ends |= {name: end for name, end in b.ends.items() if name not in a.ends}
    return out


def join_all(states: list[Clocks]) -> Clocks | None:
    """The join of several states; None when there are none."""
    out: Clocks | None = None
    for state in states:
        out = state if out is None else join(out, state)
    return out
