"""Observations about buffers of arrays: given away, or sent (layer: ``infer``)."""

from __future__ import annotations

from dataclasses import dataclass

from jitlint.infer.places import Event


@dataclass(frozen=True, slots=True)
class DonatedRead(Event):
    """A buffer is read after a call took it over. name: what was given away, or "". callee: the donating function.

    form: read, again (the donating call itself gets it a second time), twice (it gets it at two places), inside (what it gets holds it twice), method (another method reads the attribute), kept (an
    earlier turn of a loop has kept it), counted (nothing is read: ``given`` is donated instead of what was meant, as ``self`` was counted).
    """

    name: str = ""
    callee: str = ""
    form: str = "read"
    given: str = ""


@dataclass(frozen=True, slots=True)
class LostDonation(Event):
    """A compiled function is told to take over buffers, and only runs inside of another, ``outer``, which gives none away. name: the
    argument whose buffers stay, of both."""

    name: str = ""
    callee: str = ""
    outer: str = ""


@dataclass(frozen=True, slots=True)
class RepeatedTransfer(Event):
    """An array of NumPy, or several in one argument, is copied to the device at every call. name: of the argument; count: of elements."""

    name: str = ""
    count: int = 0
