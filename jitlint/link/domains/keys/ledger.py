"""What is kept about PRNG keys: for a session, and with each frame (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from jitlint.infer.keys import Key, Use
from jitlint.link.engine.frame import Slot
from jitlint.link.engine.machine import Machine


@dataclass(slots=True)
class Ledger:
    """Of a session. makers: the places at which a scope makes a key of a constant."""

    m: Machine
    makers: dict[tuple[Hashable, ...], set[int]] = field(default_factory=dict)


class Runs:
    """A function is about to run many times. own: keys that are others in every run. used: what one run consumes."""

    __slots__ = ("own", "used")

    def __init__(self, own: frozenset[Key]) -> None:
        self.own = own
        self.used: dict[Key, Use] = {}


LOG: Final = Slot[list[Use]](inherited=True, by_guesses=False)
"""What an activation consumes; in frames without one consumption means nothing, nor in a guess."""

MANY: Final = Slot[Runs](inherited=True)
"""In calls from a loop or a batch, which run the function many times."""
