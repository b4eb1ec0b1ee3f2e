"""What storing makes of a list or a dict, and of the boxes of which it may be one (layer: ``infer``).

Two boxes that meet where ways of the program come together are one from there on. Who stores into that one stores into
one of the two: each of them then perhaps holds what was stored.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from jitlint.infer.lattice import join, parts, seq_element, traced_level
from jitlint.infer.sizes import fitting
from jitlint.infer.values import UNKNOWN, Inst, Map, Py, Seq, Tup, Value, alternatives, const_of

_DEEP: Final = 3
"""So deep one dict is looked for in another one."""

_MOST: Final = 128
"""So many boxes are reached from one, those first that met last."""

_KINDS: Final[dict[str, type]] = {"str": str, "int": int}
_NAMES: Final = (str, int, float, bool, type(None))


def reached(box: Seq | Map | Inst) -> list[Any]:
    """The boxes of which one is one: those that it was made of, those that these were made of, and so on."""
    if not box.one_of:
        return []
    found: dict[int, Any] = {id(box): box}
    waiting: deque[Any] = deque(box.one_of)
    while waiting and len(found) <= _MOST:
        one = waiting.popleft()
        if id(one) not in found:
            found[id(one)] = one
            waiting.extend(one.one_of)
    return list(found.values())[1:]


def put(target: Map, key: Value, value: Value, strong: bool) -> None:
    """Store under a key; unknown keys go to ``rest``. strong: whatever was there is gone."""
    for box in reached(target):
        _put_perhaps(box, key, reaching(box, value))
    value = fitting(target, value)
    if _is_name(key):
        name = const_of(key)
        old = target.entries.get(name)
        target.entries[name] = value if old is None or strong else join(old, value)
    else:
        put_anywhere(target, None if key is UNKNOWN else key, value)


def put_anywhere(target: Map, key: Value | None, value: Value) -> None:
    """Store under an unknown key, of which perhaps the kind is known, into a dict that there is: it may be that of a default."""
    give_way(target.entries, value, type_of_key(key))
    put_rest(target, key, value)


def type_of_key(key: Value | None) -> type | None:
    """The type of an unknown key, None if that is not known either."""
    if type(key) is Tup:
        return tuple
    return _KINDS.get(key.kind) if type(key) is Py else None


def give_way(held: dict[Any, Value], value: Value, kind: type | None = None) -> None:
    """The defaults among what is held may each be this now. kind: of those names that are meant."""
    for name, old in held.items():
        if old not in (value, UNKNOWN) and (kind is None or isinstance(name, kind)) and is_default(old):
            held[name] = join(old, value)


def is_default(value: Value, depth: int = _DEEP) -> bool:
    """Whether somebody who sets what has no known name may well set this: a constant, or a container without arrays and functions."""
    if type(value) is Py or value is UNKNOWN:
        return True
    return (
        isinstance(value, (Map, Seq, Tup))
        and depth > 0
        and all(is_default(one, depth - 1) for one in parts(value))
    )


def put_rest(target: Map, key: Value | None, value: Value) -> None:
    """Store under an unknown key that the dict does not have."""
    if target.rest is None:
        target.rest, target.key = value, key
    else:
        target.rest = join(target.rest, value)
        target.key = None if target.key is None or key is None else join(target.key, key)


def lose(target: Map, key: Value, strong: bool) -> None:
    """A dict loses a key that it has: for certain, or perhaps; then its value is one that is there under some key."""
    name = const_of(key)
    for box in (target, *reached(target)):
        if name in box.entries:
            value = box.entries.pop(name)
            if not strong or box is not target:
                put_rest(box, key, value)


def put_at(target: Seq, index: object, value: Value, strong: bool) -> None:
    """Store in a place of a sequence; anything but a number: somewhere. strong: what was there is gone."""
    for box in reached(target):
        _put_at(box, index, reaching(box, value), strong=False)
    _put_at(target, index, value, strong)


def widen(target: Seq, value: Value) -> None:
    """From now on the sequence holds this value somewhere."""
    for box in reached(target):
        _widen(box, reaching(box, value))
    _widen(target, value)


def forget_length(target: Seq) -> None:
    """From now on the sequence holds any number of what it may hold."""
    for box in (target, *reached(target)):
        box.rest, box.items = seq_element(box), None


def set_perhaps(box: Inst, name: str, value: Value, known: Value | None) -> None:
    """Set an attribute of an object that may be another one. known: what its class has under the name."""
    old = box.attrs.get(name) or known
    box.attrs[name] = UNKNOWN if old is None else join(old, reaching(box, value))


def reaching(box: Seq | Map | Inst, value: Value) -> Value:
    """What arrives in one of the boxes of which another is one: a tracer that outlives its trace is blamed at the store, and no
    tracer of who reads it later."""
    return UNKNOWN if traced_level(value) > box.level else value


def holds(outer: Map, inner: Map) -> bool:
    """Whether a dict is inside another one, or one that it may be."""
    meant = {id(box) for box in (inner, *reached(inner))}
    level = [outer]
    for _ in range(_DEEP):
        level = [
            alt for box in level for part in parts(box) for alt in alternatives(part) if type(alt) is Map
        ]
        if any(id(box) in meant for box in level):
            return True
    return False


def reaching_too(outer: Map, inner: Map) -> Map:
    """The inner dict, as far as its contents go; what is stored into it perhaps arrives in the outer one."""
    out = Map(dict(inner.entries), inner.rest, inner.level, None, inner.key)
    out.one_of = (inner, outer)
    return out


def _put_perhaps(box: Map, key: Value, value: Value) -> None:
    value = fitting(box, value)
    old = box.entries.get(const_of(key)) if _is_name(key) else None
    if not _is_name(key):
        put_anywhere(box, None if key is UNKNOWN else key, value)
    elif old is None:
        put_rest(box, key, value)
    else:
        box.entries[const_of(key)] = join(old, value)


def _is_name(key: Value) -> bool:
    return type(key) is Py and isinstance(key.const, _NAMES)


def _put_at(target: Seq, index: object, value: Value, strong: bool) -> None:
    items = target.items
    if items is not None and type(index) is int and -len(items) <= index < len(items):
        items[index] = value if strong else join(items[index], value)
    else:
        _widen(target, value)


def _widen(target: Seq, value: Value) -> None:
    value = fitting(target, value)
    old = seq_element(target)
    target.items = None
    target.rest = value if old is None else join(old, value)
