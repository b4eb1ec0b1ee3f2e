"""What is known of all numbers of an array at once (layer: ``infer``)."""

from __future__ import annotations

from typing import Final, NamedTuple, Optional

from jitlint.infer.counted import Counted, either


class About(NamedTuple):
    """around: a constant at or beyond which all numbers of a NumPy array lie, 0 when none is known. padding: the number that
    stands for *nothing* in an array of indices, None when there is none. counted: the greatest of its whole numbers, as a loop
    counts it, None when that is not known. rows: how many there are of them along the first axis, from turn to turn. ragged: an
    axis is as long as the longest of some sequences. made: the function that has made probabilities of them, or "". given: which argument
    of the compiled function around this is, as it was given, counted from 1. grown: which of them was put together with more.
    cells: they count cells from a border, on both sides of which something may lie."""

    around: float = 0
    padding: Optional[int] = None
    counted: Optional[Counted] = None
    rows: Optional[Counted] = None
    ragged: bool = False
    made: str = ""
    given: int = 0
    grown: int = 0
    cells: bool = False


NOTHING: Final = About()


def numbered(counted: Counted | None) -> About:
    """What is known of the array that a whole number becomes."""
    return NOTHING if counted is None else About(counted=counted)


def joined(left: About, right: About) -> About:
    """What is certain of an array that is one of two."""
    if left == right:
        return left
    around = left.around if left.around == right.around else 0
    return About(
        around,
        left.padding if left.padding == right.padding else None,
        either(left.counted, right.counted),
        left.rows if left.rows == right.rows else None,
        left.ragged and right.ragged,
        left.made if left.made == right.made else "",
        left.given if left.given == right.given else 0,
        left.grown if left.grown == right.grown else 0,
        left.cells and right.cells,
    )


def covers(left: About, right: About) -> bool:
    """Whether one says nothing that the other does not say as well."""
    return left is NOTHING or joined(left, right) == left
