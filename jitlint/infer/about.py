"""What is known of all numbers of an array at once (layer: ``infer``)."""

from __future__ import annotations

from typing import Final, NamedTuple, Optional


class About(NamedTuple):
    """around: a constant at or beyond which all numbers of a NumPy array lie, 0 when none is known. padding: the number that
    stands for *nothing* in an array of indices, None when there is none."""

    around: float = 0
    padding: Optional[int] = None


NOTHING: Final = About()


def joined(left: About, right: About) -> About:
    """What is certain of an array that is one of two."""
    if left == right:
        return left
    around = left.around if left.around == right.around else 0
    return About(around, left.padding if left.padding == right.padding else None)


def covers(left: About, right: About) -> bool:
    """Whether one says nothing that the other does not say as well."""
    return left is NOTHING or joined(left, right) == left
