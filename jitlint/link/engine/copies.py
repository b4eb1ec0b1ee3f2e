"""What a call makes, made anew for each later call that is remembered (layer: ``link``, room ``engine``).

Two calls of a factory give two objects, and what is stored into one is not in the other. What it does: copies boxes that a call has
made, where they stand in its result or in what it has stored. What it does not: copy the variables of functions, and more boxes
than a few.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Final

from jitlint.infer.lattice import parts
from jitlint.infer.values import Bound, Inst, Map, Partial, Seq, Tup, Union, Value
from jitlint.link.engine.domain import Watched

BOXES: Final = (Inst, Map, Seq)
_HOLDERS: Final = (*BOXES, Tup, Union, Bound, Partial)
_MOST: Final = 64
"""So many boxes are copied."""
_REACH: Final = 512
"""So many values are looked at to see what was there before."""


class Copier:
    """Copies boxes, each once. done: what takes the place of a box, by its identity. only: the boxes to copy, None for all.
    made: the copies, with what they are of. full: there were more boxes than it copies."""

    __slots__ = ("_only", "_token", "done", "full", "made")

    def __init__(
        self, token: object, done: Mapping[int, Value], only: Mapping[int, Value] | None = None
    ) -> None:
        self.done = dict(done)
        self.full = False
        self.made: list[tuple[Value, Value]] = []
        self._only = only
        self._token = token

    def value(self, value: Value) -> Value:
        """The value with its boxes made anew; the same object where nothing is to be copied."""
        if isinstance(value, BOXES):
            found = self.done.get(id(value))
            return self._box(value) if found is None else found
        if isinstance(value, Tup):
            items = self._all(value.items)
            return value if items is None else value.of(items)
        if isinstance(value, Union):
            alts = self._all(value.alts)
            return value if alts is None else Union(tuple(alts))
        if isinstance(value, Bound):
            recv = self.value(value.recv)
            return value if recv is value.recv else Bound(value.func, recv)
        if isinstance(value, Partial):
            held = self._all([*value.args, *value.keywords.values()])
            if held is not None:
                count = len(value.args)
                return Partial(value.func, held[:count], dict(zip(value.keywords, held[count:])), value.site)
        return value

    def _all(self, values: Iterable[Value]) -> list[Value] | None:
        """The values as they are then; None if they are all the same."""
        old = list(values)
        new = [self.value(one) for one in old]
        return None if all(a is b for a, b in zip(old, new)) else new

    def _box(self, box: Inst | Map | Seq) -> Value:
        if self._only is not None and id(box) not in self._only:
            return box
        if isinstance(box, Inst) and box.like is not None:
            return box
        if len(self.made) >= _MOST:
            self.full = True
            return box
        new: Inst | Map | Seq
        if isinstance(box, Inst):
            new = Inst(box.cls, {}, box.level, self._token, box.open)
            new.born, new.modes, new.why = box.born, box.modes, box.why
        elif isinstance(box, Map):
            new = Map({}, None, box.level, self._token, box.key)
            new.open, new.odd = box.open, box.odd
        else:
            new = Seq(box.kind, None, None, box.level, self._token)
        self.done[id(box)] = new
        self.made.append((box, new))
        self._fill(box, new)
        return new

    def _fill(self, box: Inst | Map | Seq, new: Inst | Map | Seq) -> None:
        if isinstance(box, Inst) and isinstance(new, Inst):
            new.attrs.update({name: self.value(held) for name, held in box.attrs.items()})
        elif isinstance(box, Map) and isinstance(new, Map):
            new.entries.update({key: self.value(held) for key, held in box.entries.items()})
            new.rest = None if box.rest is None else self.value(box.rest)
        elif isinstance(box, Seq) and isinstance(new, Seq):
            new.items = None if box.items is None else [self.value(held) for held in box.items]
            new.rest = None if box.rest is None else self.value(box.rest)


def older(watched: Watched, reads: Iterable[tuple[Value, list[Value]]]) -> dict[int, Value] | None:
    """The boxes that were there before a call: in its arguments, or in what it has read; None if these are too many."""
    found: dict[int, Value] = {id(box): box for _, _, box, _ in watched}
    waiting: deque[Value] = deque()
    for _, _, _, before in watched:
        held = before.parts
        waiting.extend(held.values() if isinstance(held, dict) else held or ())
        waiting.extend([] if before.rest is None else [before.rest])
    for box, contents in reads:
        found[id(box)] = box
        waiting.extend(contents)
    seen = 0
    while waiting:
        value = waiting.popleft()
        if not isinstance(value, _HOLDERS) or id(value) in found:
            continue
        seen += 1
        if seen > _REACH:
            return None
        if isinstance(value, BOXES):
            found[id(value)] = value
        waiting.extend(parts(value))
    return found


def holds_boxes(value: Value, known: Mapping[int, Value], depth: int = 4) -> bool:
    """Whether there are boxes in a value that are not among some."""
    if isinstance(value, BOXES):
        return id(value) not in known
    return (
        depth > 0
        and isinstance(value, _HOLDERS)
        and any(holds_boxes(p, known, depth - 1) for p in parts(value))
    )
