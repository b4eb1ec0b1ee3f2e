"""Changes to one text: what a fix consists of, how several go together (layer: ``fix``).

Offsets count code points of the text as it is in the file, line ends included. Nothing here knows Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jitlint.base.diagnostic import Safety


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """The text from ``start`` to ``stop`` becomes ``text``."""

    start: int
    stop: int
    text: str


@dataclass(frozen=True, slots=True)
class Patch:
    """Changes that belong together: all are made or none. message: what they do, as an order."""

    safety: Safety
    message: str
    changes: tuple[Change, ...]


def joined(patches: Iterable[Patch]) -> list[Change]:
    """All changes in order, each once: two fixes may need the same import."""
    return sorted({change for patch in patches for change in patch.changes})


def fit(first: Iterable[Change], second: Iterable[Change]) -> bool:
    """Whether two sets of changes leave each other alone. An equal insertion is shared."""
    return not any(_clash(a, b) for a in first for b in second)


def _clash(a: Change, b: Change) -> bool:
    if a == b:
        return a.start != a.stop  # an insertion that both need; the same replacement twice is another matter
    if a.start == a.stop or b.start == b.stop:
        return a.start <= b.stop and b.start <= a.stop
    return a.start < b.stop and b.start < a.stop


def applied(text: str, changes: Sequence[Change]) -> str:
    """The text with sorted changes that leave each other alone."""
    parts: list[str] = []
    at = 0
    for change in changes:
        parts += [text[at : change.start], change.text]
        at = change.stop
    return "".join([*parts, text[at:]])


def moved(offset: int, changes: Sequence[Change]) -> int:
    """Where a place of the old text is in the new one; inside of what was replaced: where that begins."""
    shift = 0
    for change in changes:
        if change.stop <= offset and change.start < max(offset, change.start + 1):
            shift += len(change.text) - (change.stop - change.start)
        elif change.start < offset:
            return change.start + shift
    return offset + shift


def regions(changes: Sequence[Change], wanted: Iterable[Change]) -> list[tuple[int, int]]:
    """Where the texts of some of the changes are in the new text."""
    chosen = set(wanted)
    found: list[tuple[int, int]] = []
    shift = 0
    for change in changes:
        start = change.start + shift
        if change in chosen:
            found.append((start, start + len(change.text)))
        shift += len(change.text) - (change.stop - change.start)
    return found
