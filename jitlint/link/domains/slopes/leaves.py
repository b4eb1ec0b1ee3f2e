"""The leaves of an argument, one at a time (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from typing import Final, NamedTuple

from jitlint.infer.followed import REACH
from jitlint.infer.lattice import parts
from jitlint.infer.values import SMOOTH, Inst, L, Map, Seq, Tup, Value
from jitlint.link.values import pytrees

_DEPTH: Final = 6
Path = tuple[int, ...]
"""Positions of parts, from the argument on."""


class Leaf(NamedTuple):
    """A part of an argument. text: as a program would write it. value: as it arrived."""

    path: Path
    text: str
    value: Value


def below(leaf: Leaf) -> list[Leaf]:
    """The parts of a part; none if it is a leaf, or may be several things."""
    texts = _texts(leaf.value) if len(leaf.path) < _DEPTH else []
    return [
        Leaf((*leaf.path, i), f"{leaf.text}{text}", part)
        for i, (text, part) in enumerate(zip(texts, parts(leaf.value)))
    ]


_OTHERS: Final = "[...]"
"""All elements of which it is not known how many there are, or what their keys are."""


def _texts(value: Value) -> list[str]:
    """How a program asks for the parts of a container, in their order."""
    if type(value) is Map:
        return [*(f"[{key!r}]" for key in value.entries), _OTHERS]
    if type(value) is Inst:
        return [f".{name}" for name in value.attrs]
    if type(value) is Seq:
        return [_OTHERS] if value.items is None else [f"[{i}]" for i in range(len(value.items))]
    if type(value) is not Tup:
        return []
    if value.cls is not None and len(value.cls.fields) == len(value.items):
        return [f".{name}" for name in value.cls.fields]
    return [f"[{i}]" for i in range(len(value.items))]


def without_slope(value: Value) -> Value:
    """A value by which no derivative is taken."""
    return pytrees.remode(value, lambda modes: modes & ~SMOOTH)


def only(value: Value, path: Path) -> Value:
    """A value of which a derivative is taken by one part."""
    if not path:
        return pytrees.remode(value, lambda modes: modes | L | REACH)
    return pytrees.with_parts(
        value, [only(v, path[1:]) if i == path[0] else v for i, v in enumerate(parts(value))]
    )
