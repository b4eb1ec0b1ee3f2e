"""Operators on containers: `+`, `*`, `|` (layer: ``link``, room ``values``)."""

from __future__ import annotations

from jitlint.infer.changes import put_anywhere
from jitlint.infer.lattice import join
from jitlint.infer.values import FRESH, NO_CONST, SETS, UNKNOWN, Map, Py, Seq, Tup, Value
from jitlint.link.engine import budgets


def combine_containers(op: str, left: Value, right: Value) -> Value:
    """A container put together with another, or repeated."""
    if op == "|" and type(left) is Map and type(right) is Map:
        merged = Map(dict(left.entries), left.rest, left.level, None, left.key)
        if right.rest is not None:
            put_anywhere(merged, right.key, right.rest)
        merged.entries.update(right.entries)
        return merged
    if op == "+" and isinstance(left, (Seq, Tup)) and isinstance(right, (Seq, Tup)):
        return _appended(left, right)
    if op == "*" and isinstance(left, (Seq, Tup)):
        return _repeated(left, right)
    if type(left) is Seq and left.kind in SETS:
        return Seq(left.kind, None, _elements(left, right) if type(right) is Seq else None, FRESH)
    return UNKNOWN


def _appended(left: Seq | Tup, right: Seq | Tup) -> Value:
    a, b = _items(left), _items(right)
    kind = "list" if type(left) is Seq and left.kind == "list" else "tuple"
    if a is not None and b is not None and len(a) + len(b) <= budgets.MAX_ITEMS:
        if type(left) is Tup and type(right) is Tup:
            return Tup(left.items + right.items)
        return Seq(kind, a + b, None, FRESH)
    return Seq(kind, None, _elements(left, right), FRESH)


def _repeated(container: Seq | Tup, times: Value) -> Value:
    count = times.const if type(times) is Py else NO_CONST
    items = _items(container)
    is_tuple = type(container) is Tup
    if isinstance(count, int) and items is not None and 0 <= count * len(items) <= 64:
        return Tup(tuple(items * count)) if is_tuple else Seq("list", items * count, None, FRESH)
    kind = container.kind if type(container) is Seq else "tuple"
    return Seq(kind, None, _elements(container, container), FRESH)


def _items(value: Value) -> list[Value] | None:
    if type(value) is Tup:
        return list(value.items)
    return None if type(value) is not Seq or value.items is None else list(value.items)


def _elements(left: Value, right: Value) -> Value | None:
    out: Value | None = None
    for value in (left, right):
        items = _items(value)
        if items is None:
            items = [value.rest] if type(value) is Seq and value.rest is not None else []
        for item in items:
            out = item if out is None else join(out, item)
    return out
