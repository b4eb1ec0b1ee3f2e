"""One budget for the size of values, for whoever builds one or walks through one (layer: ``infer``).

Parts may be shared, and a container may hold itself: what counts is how much there is to walk through. What is too large
is a pytree of which only the tracers count.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, Final

from jitlint.infer.lattice import parts
from jitlint.infer.values import UNKNOWN, Arr, Inst, Map, Partial, Seq, Tree, Tup, Union, Value

MAX_SIZE: Final = 4000
DEPTH: Final = 8
"""What lies deeper is not looked at by those who walk through values."""

_COMPOUND: Final = frozenset({Tup, Seq, Map, Inst, Union, Partial})


def is_large(value: Value) -> bool:
    """Whether a walk through a value takes too long."""
    return type(value) in _COMPOUND and not _fits(value, None)


def fitting(box: Value, value: Value) -> Value:
    """The value, as far as it may be put into a container: what would make that hold itself is cut."""
    if type(value) not in _COMPOUND or _fits(value, box):
        return value
    return flat(value)


def _fits(value: Value, box: Value | None) -> bool:
    left = MAX_SIZE
    level = [value]
    for _ in range(DEPTH):
        below: list[Value] = []
        for part in level:
            if part is box:
                return False
            if type(part) in _COMPOUND:
                below += parts(part)
        left -= len(below)
        if left < 0:
            return False
        if not below:
            return True
        level = below
    return True


def flat(value: Value) -> Value:
    """A container of which only the tracers inside count."""
    arrays = [part for part in _arrays(value) if part.modes]
    if not arrays:
        return UNKNOWN
    modes = functools.reduce(operator.or_, [part.modes for part in arrays])
    ground = max([part.traced for part in arrays])
    level = max([part.level for part in arrays])
    return Tree(modes, arrays[0].why, level, ground)


def _arrays(value: Value) -> list[Any]:
    out: list[Any] = []
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < MAX_SIZE:
        part = waiting.pop()
        if id(part) not in seen:
            seen.add(id(part))
            if type(part) is Arr or type(part) is Tree:
                out.append(part)
            waiting.extend(parts(part))
    return out
