"""The leaves of an argument, one at a time (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from typing import Final, NamedTuple

from jitlint.infer.values import REACH, SMOOTH, Inst, L, Map, Seq, Tup, Value
from jitlint.link.values import pytrees

_DEPTH: Final = 6
Path = tuple[object, ...]
"""Keys, positions and names of attributes, from the argument on."""


class Leaf(NamedTuple):
    """A part of an argument. text: as a program would write it. value: as it arrived."""

    path: Path
    text: str
    value: Value


_REST: Final = object()
"""In a path: all elements of which it is not known how many there are."""


def below(leaf: Leaf) -> list[Leaf]:
    """The parts of a part; none if it is a leaf, or may be several things."""
    value = leaf.value
    if len(leaf.path) >= _DEPTH:
        return []
    if type(value) is Map:
        found = [(key, f"[{key!r}]", part) for key, part in value.entries.items()]
    elif type(value) is Tup:
        names = value.cls.fields if value.cls is not None else ()
        fields = {i: f".{name}" for i, name in enumerate(names)}
        found = [(i, fields.get(i, f"[{i}]"), part) for i, part in enumerate(value.items)]
    elif type(value) is Inst:
        found = [(name, f".{name}", part) for name, part in value.attrs.items()]
    elif type(value) is Seq:
        items = value.items
        found = [(i, f"[{i}]", part) for i, part in enumerate(items or ())]
        if items is None and value.rest is not None:
            found = [(_REST, "[...]", value.rest)]
    else:
        found = []
    return [Leaf((*leaf.path, key), leaf.text + text, part) for key, text, part in found]


def without_slope(value: Value) -> Value:
    """A value by which no derivative is taken."""
    return pytrees.remode(value, lambda modes: modes & ~SMOOTH)


def only(value: Value, path: Path) -> Value:
    """A value of which a derivative is taken by one part."""
    if not path:
        return pytrees.remode(value, lambda modes: modes | L | REACH)
    key, rest = path[0], path[1:]
    if type(value) is Map:
        entries = {k: only(v, rest) if k == key else v for k, v in value.entries.items()}
        return Map(entries, value.rest, value.level, None, value.key)
    if type(value) is Tup:
        return value.of([only(v, rest) if i == key else v for i, v in enumerate(value.items)])
    if type(value) is Seq:
        items = value.items
        if items is not None:
            return Seq(
                value.kind, [only(v, rest) if i == key else v for i, v in enumerate(items)], None, value.level
            )
        return Seq(value.kind, None, None if value.rest is None else only(value.rest, rest), value.level)
    if type(value) is Inst:
        attrs = {name: only(v, rest) if name == key else v for name, v in value.attrs.items()}
        return pytrees.instance_with(value, attrs, value.level)
    return value
