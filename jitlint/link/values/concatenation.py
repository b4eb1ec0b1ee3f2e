"""Operators on containers: `+`, `*`, `|` (layer: ``link``, room ``values``)."""

from __future__ import annotations

from typing import Any

from jitlint.infer.lattice import join, put_rest
from jitlint.infer.values import FRESH, NO_CONST, SETS, UNKNOWN, Map, Py, Seq, Tup, Value
from jitlint.link.engine import budgets


def combine_containers(op: str, left: Any, right: Any) -> Value:
    """A container put together with another, or repeated."""
    tl, tr = type(left), type(right)
    if tl is Map and op == "|" and tr is Map:
        merged = Map({**left.entries, **right.entries}, left.rest, left.level, None, left.key)
        if right.rest is not None:
            put_rest(merged, right.key, right.rest)
        return merged
    if op == "+" and tl in (Seq, Tup) and tr in (Seq, Tup):
        a, b = _items(left), _items(right)
        kind = "list" if tl is Seq and left.kind == "list" else "tuple"
        if a is not None and b is not None and len(a) + len(b) <= budgets.MAX_ITEMS:
            if tl is Tup and tr is Tup:
                return Tup(left.items + right.items)
            return Seq(kind, a + b, None, FRESH)
        return Seq(kind, None, _elements(left, right), FRESH)
    if op == "*" and tl in (Seq, Tup):
        count = right.const if tr is Py else NO_CONST
        items = _items(left)
        if isinstance(count, int) and items is not None and 0 <= count * len(items) <= 64:
            return Tup(tuple(items * count)) if tl is Tup else Seq("list", items * count, None, FRESH)
        return Seq("tuple" if tl is Tup else left.kind, None, _elements(left, left), FRESH)
    if tl is Seq and left.kind in SETS:
        return Seq(left.kind, None, _elements(left, right) if tr is Seq else None, FRESH)
    return UNKNOWN


def _items(value: Any) -> list[Value] | None:
    if type(value) is Tup:
        return list(value.items)
    return None if value.items is None else list(value.items)


def _elements(left: Any, right: Any) -> Value | None:
    out: Value | None = None
    for value in (left, right):
        items = _items(value)
        if items is None:
            items = [value.rest] if value.rest is not None else []
        for item in items:
            out = item if out is None else join(out, item)
    return out
