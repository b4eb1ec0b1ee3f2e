"""Over which axes of a mesh a value differs from device to device, as bits beside its modes (layer: ``infer``).

What it is: for each of the first few axes one bit that says "certainly", and one that says "perhaps". Of two values, what
is joined differs certainly only if both do. What it is not: the names of the axes, which the world keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.infer.values import B

MOST: Final = 4
"""As many axes are followed."""

_FIRST: Final = 10
VARIES: Final = ((1 << MOST) - 1) << _FIRST
MAY_VARY: Final = VARIES << MOST


def over(places: frozenset[int]) -> int:
    """The bits of a value that certainly differs over these axes."""
    varies = 0
    for place in places:
        varies |= 1 << (_FIRST + place)
    return varies | varies << MOST


def certain(modes: int) -> frozenset[int]:
    """The axes over which a value certainly differs."""
    return frozenset(i for i in range(MOST) if modes >> (_FIRST + i) & 1)


def possible(modes: int) -> frozenset[int]:
    """The axes over which it perhaps does."""
    return certain(modes >> MOST)


def named(places: frozenset[int], axes: Sequence[str]) -> list[str]:
    """Those of a mesh's axes that places name, in order; a value from under another mesh may have more of them."""
    return [axes[place] for place in sorted(places) if place < len(axes)]


def of_a_map(modes: int) -> int:
    """Modes of a value; one that perhaps differs is of a map over a mesh, which is around it still."""
    return modes | B if modes & MAY_VARY else modes
