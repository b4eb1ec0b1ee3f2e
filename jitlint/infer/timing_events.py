"""What the interpreter tells the rules of clocks, and of buffers that are still being read (layer: ``infer``)."""

from __future__ import annotations

from dataclasses import dataclass

from jitlint.infer.places import Event


@dataclass(frozen=True, slots=True)
class UnsyncedClock(Event):
    """A clock is read while the work it should measure may be running. callee: what was started. profile: it is no clock
    but a profile that ends."""

    callee: str = ""
    profile: bool = False


@dataclass(frozen=True, slots=True)
class ColdClock(Event):
    """A benchmark counts the first call of a jitted function, which compiles. callee: that function."""

    callee: str = ""


@dataclass(frozen=True, slots=True)
class EarlyWrite(Event):
    """A NumPy array is written that work may still read. callee: what was started. buffer: the variable that holds it."""

    callee: str = ""
    buffer: str = ""
