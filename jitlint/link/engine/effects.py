"""What a call does to the boxes it is given, so that a remembered call can do it again (layer: ``link``, room ``engine``).

An activation runs once per context; a later call in the same context gets the remembered result, and its
arguments get the remembered changes: an instance the attributes that ``__init__`` sets, a list its elements.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from jitlint.infer.changes import put_rest, reached, reaching
from jitlint.infer.lattice import join, joined, seq_element
from jitlint.infer.values import NONE, UNKNOWN, Bound, Inst, Map, Partial, Seq, Value, alternatives
from jitlint.link.engine.domain import Rename, Watched
from jitlint.link.engine.frame import Frame

Contents = dict[Any, Value]


@dataclass(frozen=True, slots=True)
class Effects:
    """changed: contents after the call by parameter name. boxes: which box each parameter had.

    whole: these are all contents; otherwise only those that are others than before the call.
    """

    changed: dict[str, Any]
    boxes: tuple[tuple[str, Value], ...]
    whole: bool = True


def watch(bound: dict[str, Value]) -> Watched:
    """The boxes among the arguments with their contents before the call."""
    return [(n, v, _contents(v)) for n, v in bound.items() if isinstance(v, (Inst, Seq, Map))]


def changes(watched: Watched, whole: bool = True) -> Effects | None:
    """What has changed since; None when nothing has. whole: what the boxes held before was not only a part of it."""
    changed: dict[str, Any] = {}
    given = {id(box) for _, box, _ in watched}
    for name, box, before in watched:
        after = _contents(box)
        if after != before:
            held, rest = after if whole else _difference(before, after)
            changed[name] = _kept(held, given) if type(held) is dict else held, rest
    return Effects(changed, tuple((name, box) for name, box, _ in watched), whole) if changed else None


def _kept(contents: Contents, given: set[int]) -> Contents:
    """Contents as they are now: the boxes that the call made go on to change, each with the object that has it."""
    return {k: v if id(v) in given else _copy(v, None) for k, v in contents.items()}


def _difference(before: Any, after: Any) -> Any:
    if type(after[0]) is not dict:
        return after
    return {k: v for k, v in after[0].items() if before[0].get(k) is not v}, after[1]


def _contents(box: Any) -> tuple[object, ...]:
    if type(box) is Inst:
        return (dict(box.attrs), box.open)
    if type(box) is Map:
        return (dict(box.entries), (box.rest, box.key))
    return (None if box.items is None else list(box.items), box.rest)


def replay(f: Frame, effects: Effects, bound: dict[str, Value], rename: Rename | None = None) -> None:
    """Change the arguments of a call as the remembered one changed its own. rename: of the values inside."""
    same = {id(old): bound[name] for name, old in effects.boxes if name in bound}
    for name, (contents, rest) in effects.changed.items():
        given = bound.get(name)
        if isinstance(given, Seq):
            _change_sequence(given, contents, rest, given.token is f.token and effects.whole)
            for one in reached(given):
                _change_sequence(one, contents, rest, strong=False)
        elif isinstance(given, (Inst, Map)):
            held = _renamed(contents, rename)
            _change(f, given, held, rest, given.token is f.token, same, effects.whole)
            for box in reached(given):
                kept = {key: reaching(box, value) for key, value in held.items()}
                _change(f, box, kept, rest, False, same, effects.whole)


def _change(
    f: Frame, box: Inst | Map, held: Contents, rest: Any, strong: bool, same: dict[int, Value], whole: bool
) -> None:
    if isinstance(box, Inst):
        _put(f, box.attrs, held, strong, same, whole)
        box.open = box.open or rest
        return
    _put(f, box.entries, held, strong, same, whole)
    if strong or box.rest is None:
        box.rest, box.key = rest
    elif rest[0] is not None:
        put_rest(box, rest[1], rest[0])


def _change_sequence(box: Seq, contents: list[Value] | None, rest: Value | None, strong: bool) -> None:
    if strong:
        box.items, box.rest = None if contents is None else list(contents), rest
    else:
        parts = [seq_element(box), seq_element(Seq("list", contents, rest))]
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


def _renamed(contents: Contents, rename: Rename | None) -> Contents:
    return contents if rename is None else {k: rename(v) for k, v in contents.items()}


def _put(
    f: Frame, target: Contents, contents: Contents, strong: bool, same: dict[int, Value], whole: bool
) -> None:
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
