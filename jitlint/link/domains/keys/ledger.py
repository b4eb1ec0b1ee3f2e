"""What is kept about PRNG keys: for a session, and with each frame (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from jitlint.infer.keys import Key, Use
from jitlint.infer.program import FuncInfo
from jitlint.link.engine.frame import Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found

RANDOM: Final = "jax.random."


@dataclass(slots=True)
class Ledger:
    """Of a session. makers: the places at which a scope makes a key of a constant. defaults: keys that a parameter has
    when nobody hands one over. looked: functions that were seen to start streams where only shapes are asked for."""

    m: Machine
    makers: dict[tuple[Hashable, ...], set[int]] = field(default_factory=dict)
    defaults: set[Key] = field(default_factory=set)
    looked: set[int] = field(default_factory=set)


class Draws:
    """Of a function that nobody is seen to call on the host: it holds unless it is there for its shapes."""

    __slots__ = ("fn", "ledger")

    def __init__(self, ledger: Ledger, fn: FuncInfo) -> None:
        self.ledger = ledger
        self.fn = fn

    def holds(self, found: Found) -> bool:
        """Whether numbers are drawn."""
        return self.fn.hosted or self.fn.id not in self.ledger.looked


class Runs:
    """A function is about to run many times. own: keys that are others in every run. batch: all runs are one. devices: each
    is a device. used: what one run consumes. back: keys that it has made, consumed and given back."""

    __slots__ = ("back", "batch", "devices", "own", "used")

    def __init__(self, own: frozenset[Key], batch: bool = False, devices: bool = False) -> None:
        self.own = own
        self.batch = batch
        self.devices = devices
        self.used: dict[Key, Use] = {}
        self.back: dict[Key, Use] = {}


LOG: Final = Slot[list[Use]](inherited=True, by_guesses=False)
"""What an activation consumes; in frames without one consumption means nothing, nor in a guess."""

MANY: Final = Slot[Runs](inherited=True)
"""In calls from a loop or a batch, which run the function many times."""
