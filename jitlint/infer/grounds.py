"""What a claim about a value rests on, and how sure a chain of such claims is (layer: ``infer``).

Two questions decide every finding, and each carries its own ground: is the value traced, and what is it? A finding is
as sure as its chain: two soft grounds make a guess, one is likely, none is certain. No rule sets a confidence by hand.
"""

from __future__ import annotations

import enum
from typing import Final

from jitlint.base.diagnostic import Confidence


class Ground(enum.IntEnum):
    """seen: it flows from what the program itself passes or makes. ruled: JAX's contract says so, as for a parameter
    that is not static. used: uses that only an array has. said: an annotation, a comment, a library's convention.
    guessed: it looks so."""

    SEEN = 0
    RULED = 1
    USED = 2
    SAID = 3
    GUESSED = 4

    @property
    def word(self) -> str:
        """The word for people and for JSON."""
        return self.name.lower()


SEEN: Final = Ground.SEEN
RULED: Final = Ground.RULED
USED: Final = Ground.USED
SAID: Final = Ground.SAID
GUESSED: Final = Ground.GUESSED

SOFTNESS: Final = (0, 0, 1, 1, 2)
"""By ground: how many soft links it counts for; two are too many to show by default."""

_BY_SOFTNESS: Final = (Confidence.CERTAIN, Confidence.LIKELY, Confidence.POSSIBLE)


def at_most(confidence: Confidence, most: Confidence) -> Confidence:
    """A confidence, but no more than another."""
    return confidence if confidence.rank < most.rank else most


def weaken(confidence: Confidence, softness: int) -> Confidence:
    """The confidence of a chain after some more soft links."""
    return _BY_SOFTNESS[min(2, 2 - confidence.rank + softness)]
