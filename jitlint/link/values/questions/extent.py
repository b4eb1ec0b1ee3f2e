"""The arrays in a value, and how many elements they have (layer: ``link``, room ``values``)."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from jitlint.infer.lattice import parts
from jitlint.infer.values import Arr, Value, alternatives

LARGE: Final = 1_000_000
"""Elements from which on an array is worth a word: 4 MB of 32-bit numbers."""
_DEPTH: Final = 6


def arrays(value: Value, depth: int = _DEPTH) -> Iterator[Arr]:
    """The arrays in a value, those in lists of any length among them."""
    for alt in alternatives(value):
        if type(alt) is Arr:
            yield alt
        elif depth:
            for part in parts(alt):
                yield from arrays(part, depth - 1)


def elements(array: Arr) -> int:
    """The number of elements of an array; 0 when it is not known."""
    sizes = [size for size in array.dims or () if size is not None]
    return prod(sizes) if array.dims and len(sizes) == len(array.dims) else 0
