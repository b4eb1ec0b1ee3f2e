"""What is kept about PRNG keys: for a session, and with each frame (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.keys import Key, Use
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Class
from jitlint.link.engine.frame import Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found

RANDOM: Final = "jax.random."


@dataclass(slots=True)
class Ledger:
    """Of a session. makers: the places at which a scope makes a key of a constant. tests: of these, what tests make. defaults: keys that a parameter has
    when nobody hands one over. looked: functions that were seen to start streams where only shapes are asked for.
    stored: where modules draw from keys that they keep, as far as that is told there."""

    m: Machine
    makers: dict[tuple[Hashable, ...], set[int]] = field(default_factory=dict)
    tests: set[tuple[Hashable, ...]] = field(default_factory=set)
    defaults: set[Key] = field(default_factory=set)
    looked: set[int] = field(default_factory=set)
    stored: set[tuple[str, int]] = field(default_factory=set)

    def told_by_module(self, use: Use) -> Untold | None:
        """What has to hold for a use to be told of, if a method of a module draws, which may be told itself."""
        module, at, function = use.drawn
        if not at or (module, at) == (use.module, use.at):
            return None
        cls = self.m.modules[module].scope.vars.get(function.partition(".")[0])
        lasting = type(cls) is Class and cls.info.role in lexicon().keys.lasting_roles
        return Untold(self, (module, at)) if lasting else None


class Untold:
    """Of a call that draws from a key in the end: it holds unless that is told where the draw is."""

    __slots__ = ("ledger", "place")

    def __init__(self, ledger: Ledger, place: tuple[str, int]) -> None:
        self.ledger = ledger
        self.place = place

    def holds(self, found: Found) -> bool:
        """Whether it is told of the call."""
        return self.place not in self.ledger.stored


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
    is a device. seeds: nothing but keys is another in every run. lanes: the positions of what is another in every run of a
    batch. used: what one run consumes. back: keys that it has made, consumed and given back."""

    __slots__ = ("back", "batch", "devices", "lanes", "own", "seeds", "used")

    def __init__(
        self,
        own: frozenset[Key],
        batch: bool = False,
        devices: bool = False,
        seeds: bool = False,
        lanes: frozenset[int] = frozenset(),
    ) -> None:
        self.own = own
        self.batch = batch
        self.devices = devices
        self.seeds = seeds
        self.lanes = lanes
        self.used: dict[Key, Use] = {}
        self.back: dict[Key, Use] = {}


LOG: Final = Slot[list[Use]](inherited=True, by_guesses=False)
"""What an activation consumes; in frames without one consumption means nothing, nor in a guess."""

MANY: Final = Slot[Runs](inherited=True)
"""In calls from a loop or a batch, which run the function many times."""
