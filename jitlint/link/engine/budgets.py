"""How much is looked at: limits that keep the analysis of any program small (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

MAX_DEPTH: Final = 40
"""Activations on the abstract stack; deeper calls forget numbers, those twice as deep the structure of containers."""

MAX_STACK: Final = 5 * MAX_DEPTH
"""Calls deeper than that give unknown."""

MAX_CONTEXTS: Final = 4
"""Distinct argument contexts per function outside of any trace; later ones are coarse.

Measured: more of them reach no more traced code, and take longer.
"""

MAX_COUNTING_LOOPS: Final = 3
"""So many loops' numbers does a function get with how far they go; these contexts come on top of the others."""

SMALL: Final = 30
MAX_SMALL_CONTEXTS: Final = 10
"""The same for functions of at most so many nodes, factories often, where a context costs little."""

TINY: Final = 8
MAX_TINY_CONTEXTS: Final = 400
"""The same for functions that only return so much, inside and outside of traces: accessors, which everybody calls."""

MAX_TRACED_CONTEXTS: Final = 40
"""The same inside traces. Counted apart: what the host calls often must not hide what a trace calls."""

MAX_TRACED_NODES: Final = 4000
FEW_CONTEXTS: Final = 16
"""Large functions have fewer: as many as stand for so many nodes, but not less than these."""

MAX_GUESSED_CONTEXTS: Final = 4
"""The same for calls that are only guessed to happen in a trace: what is found in them is hardly ever shown.

Measured: a quarter of the time went there, and in some 100 public trees nothing that is shown is lost.
"""

MANY_CONTEXTS: Final = 2
"""A function that is handed functions stands for as many as it is handed: it may have so many times more."""

MAX_ITEMS: Final = 256
"""Longer lists are kept as the join of their elements."""


UNROLLED: Final = 8
"""Calls per element are evaluated one by one up to this many elements, then once on their join."""

MAX_TURNS: Final = 16
"""Turns of loops inside one another that are run one by one in one activation."""

MAX_COARSE: Final = (2, 2)
MAX_TRACED_COARSE: Final = (6, 4)
MAX_GUESSED_COARSE: Final = (2, 2)
"""Coarse contexts per function, outside of and inside traces, and where that is only guessed, by how coarse they are; what
is left gives unknown."""


ROOMY: Final = 2000
MOST_ROOM: Final = 8


def room(functions: int) -> int:
    """How many times as many contexts each function of a program with so many may have: small programs have time for more."""
    return max(1, min(MOST_ROOM, ROOMY // (functions + 1)))


@dataclass(slots=True)
class Limits:
    """The limits that were met: what was limited, with module, origin and function of the place, to how often.

    cuts: how often an answer was left out for that. room: see there.
    """

    met: dict[tuple[str, str, int, str], int] = field(default_factory=dict)
    cuts: int = 0
    room: int = 1

    def meet(self, kind: str, module: str, at: int, function: str) -> None:
        """Note that a limit was met."""
        place = (kind, module, at, function)
        self.met[place] = self.met.get(place, 0) + 1
        if kind == "depth":
            self.cuts += 1
