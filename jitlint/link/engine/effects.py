"""What a call does to the boxes it is given, so that a remembered call can do it again (layer: ``link``, room ``engine``).

An activation runs once per context; a later call in the same context gets the remembered result, and its
arguments get the remembered changes: an instance the attributes that ``__init__`` sets, a list its elements.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from jitlint.infer.changes import put_rest, reached, reaching
from jitlint.infer.lattice import join, joined, seq_element
from jitlint.infer.values import NONE, Inst, Map, Seq, Value
from jitlint.link.engine import copies
from jitlint.link.engine.domain import Rename, Watched
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine

Named = dict[Any, Value]
Way = tuple[object, ...]
"""The attributes, keys and places that lead from an argument to a box inside of it."""
Box = Inst | Map | Seq

_DEEP: Final = 2
"""So many boxes around one it is looked for."""
_MANY: Final = 64
"""So many boxes are looked at; one with more parts is a table, which nobody changes."""


class State(NamedTuple):
    """What a box holds. parts: by attribute or key, or in order. rest, key, open: as in `Seq`, `Map` and `Inst`."""

    parts: Named | list[Value] | None
    rest: Value | None
    key: Value | None
    open: bool


@dataclass(frozen=True, slots=True)
class Effects:
    """changed: what boxes hold after the call, by parameter and way, those that are furthest in first. boxes: which box there was.
    made: boxes that the call has made, as they were then; with the objects of which they are copies. number: of its activation.

    whole: these are all contents; otherwise only those that are others than before the call.
    """

    changed: tuple[tuple[str, Way, State], ...]
    boxes: tuple[tuple[str, Way, Value], ...]
    made: dict[int, Value] = field(default_factory=dict)
    whole: bool = True
    number: int = copies.NEVER


def watch(bound: dict[str, Value]) -> Watched:
    """The boxes among the arguments and inside of them, with their contents before the call."""
    found: list[tuple[str, Way, Box, State]] = []
    seen: set[int] = set()
    for name, value in bound.items():
        if isinstance(value, copies.BOXES):
            _watch(found, seen, name, (), value)
    return found


def _watch(found: list[tuple[str, Way, Box, State]], seen: set[int], name: str, way: Way, box: Box) -> None:
    if id(box) in seen or len(found) >= _MANY:
        return
    seen.add(id(box))
    state = _state(box)
    found.append((name, way, box, state))
    if state.parts and len(way) < _DEEP and len(state.parts) <= _MANY:
        inner = state.parts.items() if isinstance(state.parts, dict) else enumerate(state.parts)
        for key, part in inner:
            if isinstance(part, copies.BOXES):
                _watch(found, seen, name, (*way, key), part)


def changes(watched: Watched, whole: bool = True) -> Effects | None:
    """What has changed since; None when nothing has. whole: what the boxes held before was not only a part of it."""
    return remembered(watched, NONE, None, whole)[1]


def remembered(
    watched: Watched,
    value: Value,
    reads: Iterable[tuple[Value, list[Value]]] | None,
    whole: bool = True,
    number: int = copies.NEVER,
) -> tuple[Value, Effects | None]:
    """The result of a call, and what has changed since, to be repeated: those who got it go on to change what the call has made.

    reads: what it has read elsewhere, with what that held; None if that is not known. number: of its activation.
    """
    changed = _changed(watched, whole)
    given = {id(box): box for _, _, box, _ in watched}
    held = [one for _, _, _, state in changed for one in _held(state)]
    fresh = copies.holds_made([value, *held], given, number)
    if not changed and not fresh:
        return value, None
    copier = _copier(watched, reads, held, number) if fresh else copies.Copier(None, given)
    told = [(name, way, _with(state, copier.value)) for name, way, _, state in changed]
    kept = copier.value(value) if reads is not None else value
    boxes = [(name, way, box) for name, way, box, _ in watched]
    if copier.full:
        as_it_is = tuple([(name, way, state) for name, way, _, state in changed])
        return value, Effects(as_it_is, tuple(boxes), {}, whole)
    used = copier.met.union(id(box) for _, _, box, _ in changed)
    made = {id(new): old for old, new in copier.made}
    return kept, Effects(tuple(told), _among(boxes, used), made, whole, number)


def _among(boxes: Iterable[tuple[str, Way, Value]], used: set[int]) -> tuple[tuple[str, Way, Value], ...]:
    return tuple([one for one in boxes if id(one[2]) in used])


def _changed(watched: Watched, whole: bool) -> list[tuple[str, Way, Box, State]]:
    changed = [
        (name, way, box, _state(box) if whole else _newer(before, _state(box)))
        for name, way, box, before in watched
        if not _is_as(box, before)
    ]
    return sorted(changed, key=lambda one: -len(one[1]))


def _copier(
    watched: Watched, reads: Iterable[tuple[Value, list[Value]]] | None, held: Iterable[Value], number: int
) -> copies.Copier:
    """Copies what was not there before; where that is not known, the lists and dicts that the call has stored."""
    known = copies.older(watched, reads) if reads is not None else None
    if known is not None:
        return copies.Copier(None, known, since=copies.Since(number))
    plain = {id(one): one for one in held if isinstance(one, (Seq, Map))}
    return copies.Copier(None, {id(box): box for _, _, box, _ in watched}, plain)


def _held(state: State) -> Iterable[Value]:
    return state.parts.values() if isinstance(state.parts, dict) else state.parts or ()


def _with(state: State, one: Rename) -> State:
    """Contents of which each value is another one."""
    parts = state.parts
    if isinstance(parts, dict):
        parts = {key: one(value) for key, value in parts.items()}
    elif parts is not None:
        parts = [one(value) for value in parts]
    return state._replace(parts=parts, rest=None if state.rest is None else one(state.rest))


def _newer(before: State, after: State) -> State:
    if not (isinstance(before.parts, dict) and isinstance(after.parts, dict)):
        return after
    old = before.parts
    return after._replace(parts={k: v for k, v in after.parts.items() if old.get(k) is not v})


def _is_as(box: Box, before: State) -> bool:
    """Whether a box holds what it held."""
    if isinstance(box, Inst):
        return box.attrs == before.parts and box.open == before.open
    held = box.entries if isinstance(box, Map) else box.items
    key = box.key if isinstance(box, Map) else None
    return held == before.parts and box.rest is before.rest and key is before.key


def _state(box: Box) -> State:
    if isinstance(box, Inst):
        return State(dict(box.attrs), None, None, box.open)
    if isinstance(box, Map):
        return State(dict(box.entries), box.rest, box.key, False)
    return State(None if box.items is None else list(box.items), box.rest, None, False)


class Again:
    """A remembered call happens once more: what it has made is made anew."""

    __slots__ = ("_bound", "_copier", "_effects", "_given", "_states")

    def __init__(self, m: Machine, f: Frame, effects: Effects, bound: dict[str, Value]) -> None:
        found = [(old, inside(bound.get(name), way)) for name, way, old in effects.boxes]
        given = {id(old): now for old, now in found if now is not None}
        self._given = {id(now) for now in given.values()}
        since = copies.Since(effects.number, m.new_activation)
        self._copier = copies.Copier(f.token, given, effects.made, since)
        self._states = [(name, way, _with(state, self._copier.value)) for name, way, state in effects.changed]
        self._effects = effects
        self._bound = bound

    def value(self, value: Value) -> Value:
        """What the call gives this time."""
        return self._copier.value(value)

    def made(self) -> dict[int, Value]:
        """What the call has made, by the identity of what it made when it ran."""
        return {id(self._effects.made[id(old)]): new for old, new in self._copier.made}

    def change(self, f: Frame, rename: Rename | None = None) -> None:
        """Change the arguments as the call changed its own. rename: of the values inside."""
        for name, way, state in self._states:
            box = inside(self._bound.get(name), way)
            if isinstance(box, copies.BOXES):
                told = state if rename is None else _with(state, self._but_given(rename))
                _change(f, box, told, box.token is f.token, self._effects.whole)
                for one in reached(box):
                    _change(f, one, _reaching(one, told), False, self._effects.whole)

    def _but_given(self, rename: Rename) -> Rename:
        """What was given has its names already."""
        return lambda value: value if id(value) in self._given else rename(value)


def replay(
    m: Machine, f: Frame, effects: Effects, bound: dict[str, Value], rename: Rename | None = None
) -> None:
    """Change the arguments of a call as the remembered one changed its own. rename: of the values inside."""
    Again(m, f, effects, bound).change(f, rename)


def inside(value: Value | None, way: Way) -> Value | None:
    """What a way leads to."""
    for key in way:
        if isinstance(value, Inst):
            value = value.attrs.get(str(key))
        elif isinstance(value, Map):
            value = value.entries.get(key)
        elif isinstance(value, Seq) and isinstance(key, int) and key < len(value.items or ()):
            value = value.items[key] if value.items else None
        else:
            return None
    return value


def _reaching(box: Box, state: State) -> State:
    if not isinstance(state.parts, dict):
        return state
    return state._replace(parts={key: reaching(box, value) for key, value in state.parts.items()})


def _change(f: Frame, box: Box, state: State, strong: bool, whole: bool) -> None:
    if isinstance(box, Seq):
        _change_sequence(box, state, strong and whole)
    elif isinstance(state.parts, dict):
        _put(box.attrs if isinstance(box, Inst) else box.entries, state.parts, strong, whole)
        if isinstance(box, Inst):
            box.open = box.open or state.open
        elif strong or box.rest is None:
            box.rest, box.key = state.rest, state.key
        elif state.rest is not None:
            put_rest(box, state.key, state.rest)


def _change_sequence(box: Seq, state: State, strong: bool) -> None:
    items = list(state.parts) if isinstance(state.parts, list) else None
    if strong:
        box.items, box.rest = items, state.rest
    else:
        parts = [seq_element(box), seq_element(Seq("list", items, state.rest))]
        box.items, box.rest = None, joined([part for part in parts if part is not None])


def _put(target: Named, contents: Named, strong: bool, whole: bool) -> None:
    if strong and whole:
        for key in [key for key in target if key not in contents]:
            del target[key]
    for key, value in contents.items():
        old = target.get(key)
        target[key] = value if strong or old is None else join(old, value)
