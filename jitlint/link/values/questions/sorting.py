"""Dicts that JAX cannot take apart, since it sorts their keys (layer: ``link``, room ``values``).

What it does: knows which keys have no order, as measured, and looks for dicts that are written with such ones. What it does not:
speak of dicts that are put together piece by piece, perhaps on different ways.
"""

from __future__ import annotations

from typing import Final, Optional

from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import Map, Seq, Tup, Value
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import pytrees

_NUMBERS: Final = (bool, int, float)
_PLAIN: Final = (str, bytes, type(None), *_NUMBERS)
_DEPTH: Final = 4


def clash(value: Map) -> tuple[object, object] | None:
    """Two keys of a dict of which neither comes before the other, if all of them are plain."""
    keys = list(value.entries)
    if len(keys) < 2 or not all(type(key) in _PLAIN for key in keys):
        return None
    other = next((key for key in keys if _kind(key) is not _kind(keys[0])), keys[0])
    if other is not keys[0]:
        return keys[0], other
    return None


def _kind(key: object) -> type:
    return float if type(key) in _NUMBERS else type(key)


def refuses(m: Machine, f: Frame, at: int, api: str, args: Args) -> bool:
    """Record a dict among the arguments of what takes them apart. Answers whether there is one."""
    if m.guards or "is_leaf" in args.kw:
        return False
    values = (*args.pos, *args.kw.values())
    found = next((pair for value in values if (pair := _inside(value, _DEPTH))), None)
    if found is None:
        return False
    m.emit(
        f, ApiMisuse, at, api=api, problem="wrong-call", parameter=" and ".join(f"`{key!r}`" for key in found),
        detail="keys", exception="ValueError",
    )  # fmt: skip
    return True


def _inside(value: Value, depth: int) -> Optional[tuple[object, object]]:
    found = clash(value) if type(value) is Map and value.odd and value.rest is None else None
    if found is not None or not depth or type(value) not in (Map, Seq, Tup):
        return found
    parts = pytrees.children(value) or ()
    return next((pair for part in parts if (pair := _inside(part, depth - 1))), None)
