"""What a call does to the boxes it is given, so that a remembered call can do it again (layer: ``link``, room ``engine``).

An activation runs once per context; a later call in the same context gets the remembered result, and its
arguments get the remembered changes: an instance the attributes that ``__init__`` sets, a list its elements.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from jitlint.infer.changes import put_rest, reached, reaching
from jitlint.infer.lattice import join, joined, seq_element
from jitlint.infer.values import NONE, UNKNOWN, Bound, Inst, Map, Partial, Seq, Value, alternatives
from jitlint.link.engine.domain import Rename, Watched
from jitlint.link.engine.frame import Frame

Named = dict[Any, Value]
Way = tuple[object, ...]
"""The attributes, keys and places that lead from an argument to a box inside of it."""
Box = Inst | Map | Seq
_BOXES: Final = (Inst, Map, Seq)

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

    whole: these are all contents; otherwise only those that are others than before the call.
    """

    changed: tuple[tuple[str, Way, State], ...]
    boxes: tuple[tuple[str, Way, Value], ...]
    whole: bool = True


def watch(bound: dict[str, Value]) -> Watched:
    """The boxes among the arguments and inside of them, with their contents before the call."""
    found: list[tuple[str, Way, Box, State]] = []
    seen: set[int] = set()
    for name, value in bound.items():
        if isinstance(value, _BOXES):
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
            if isinstance(part, _BOXES):
                _watch(found, seen, name, (*way, key), part)


def changes(watched: Watched, whole: bool = True) -> Effects | None:
    """What has changed since; None when nothing has. whole: what the boxes held before was not only a part of it."""
    changed = [
        (name, way, before, after) for name, way, box, before in watched if (after := _state(box)) != before
    ]
    if not changed:
        return None
    given = {id(box) for _, _, box, _ in watched}
    changed.sort(key=lambda one: -len(one[1]))
    return Effects(
        tuple(
            [
                (name, way, _kept(after if whole else _newer(before, after), given))
                for name, way, before, after in changed
            ]
        ),
        tuple([(name, way, box) for name, way, box, _ in watched]),
        whole,
    )


def _kept(state: State, given: set[int]) -> State:
    """Contents as they are now: the boxes that the call made go on to change, each with the object that has it."""
    if not isinstance(state.parts, dict):
        return state
    return state._replace(parts={k: v if id(v) in given else _copy(v, None) for k, v in state.parts.items()})


def _newer(before: State, after: State) -> State:
    if not (isinstance(before.parts, dict) and isinstance(after.parts, dict)):
        return after
    old = before.parts
    return after._replace(parts={k: v for k, v in after.parts.items() if old.get(k) is not v})


def _state(box: Box) -> State:
    if isinstance(box, Inst):
        return State(dict(box.attrs), None, None, box.open)
    if isinstance(box, Map):
        return State(dict(box.entries), box.rest, box.key, False)
    return State(None if box.items is None else list(box.items), box.rest, None, False)


def replay(f: Frame, effects: Effects, bound: dict[str, Value], rename: Rename | None = None) -> None:
    """Change the arguments of a call as the remembered one changed its own. rename: of the values inside."""
    same = {
        id(old): now for name, way, old in effects.boxes if (now := inside(bound.get(name), way)) is not None
    }
    for name, way, state in effects.changed:
        box = inside(bound.get(name), way)
        if isinstance(box, _BOXES):
            told = state if rename is None else _renamed(state, rename)
            _change(f, box, told, box.token is f.token, same, effects.whole)
            for one in reached(box):
                _change(f, one, _reaching(one, told), False, same, effects.whole)


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


def _renamed(state: State, rename: Rename) -> State:
    parts = state.parts
    if isinstance(parts, dict):
        parts = {key: rename(value) for key, value in parts.items()}
    elif parts is not None:
        parts = [rename(value) for value in parts]
    return state._replace(parts=parts, rest=None if state.rest is None else rename(state.rest))


def _reaching(box: Box, state: State) -> State:
    if not isinstance(state.parts, dict):
        return state
    return state._replace(parts={key: reaching(box, value) for key, value in state.parts.items()})


def _change(f: Frame, box: Box, state: State, strong: bool, same: dict[int, Value], whole: bool) -> None:
    if isinstance(box, Seq):
        _change_sequence(box, state, strong and whole)
    elif isinstance(state.parts, dict):
        _put(f, box.attrs if isinstance(box, Inst) else box.entries, state.parts, strong, same, whole)
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


_REACH: Final = 3
"""So many objects deep a call that was left out may have filled something."""


def forget_missing(values: Iterable[Value], depth: int = _REACH) -> None:
    """A call of the project that was left out may have filled what its arguments lacked: what was None is not known."""
    for value in values:
        for alt in alternatives(value):
            if type(alt) is Inst and depth:
                alt.attrs.update({name: UNKNOWN for name, held in alt.attrs.items() if held is NONE})
                forget_missing(alt.attrs.values(), depth - 1)
            elif type(alt) is Bound:
                forget_missing([alt.recv], depth)
            elif type(alt) is Partial:
                forget_missing(alt.args, depth)


def _put(f: Frame, target: Named, contents: Named, strong: bool, same: dict[int, Value], whole: bool) -> None:
    if strong and whole:
        for key in [key for key in target if key not in contents]:
            del target[key]
    for key, value in contents.items():
        old = target.get(key)
        value = same.get(id(value)) or _fresh(f, value)
        target[key] = value if strong or old is None else join(old, value)


def _fresh(f: Frame, value: Value) -> Value:
    """A box that the call made is made anew; what it holds is shared."""
    return _copy(value, f.token)


def _copy(value: Value, token: object) -> Value:
    """A box with the same contents; anything else as it is."""
    if type(value) is Seq:
        items = None if value.items is None else list(value.items)
        return Seq(value.kind, items, value.rest, value.level, token)
    if type(value) is Map:
        return Map(dict(value.entries), value.rest, value.level, token, value.key)
    return value
