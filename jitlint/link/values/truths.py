"""What Python's truth of a value is, where that is certain (layer: ``link``, room ``values``)."""

from __future__ import annotations

from typing import Any

from jitlint.infer.values import (
    NO_CONST,
    UNKNOWN,
    Arr,
    Ext,
    Inst,
    Map,
    Py,
    Seq,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    alternatives,
    py,
)
from jitlint.link.engine.events import emit_truth
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine


def truth(m: Machine, f: Frame, at: int, value: Value, form: str) -> bool | None:
    """Python's truth of a value where it is certain, else None; a tracer is recorded as an event."""
    if emit_truth(m, f, at, value, form):
        return None
    answers = {static_truth(a) for a in alternatives(value)}
    return answers.pop() if len(answers) == 1 else None


def static_truth(value: Value) -> bool | None:
    """Truth of a single alternative that is no tracer."""
    a: Any = value
    t = type(value)
    if t is Py:
        const = a.const
        return None if const is NO_CONST else bool(const)
    if t is Tup:
        return bool(a.items)
    if t is Seq:
        return bool(a.items) if a.items is not None and a.kind != "iter" else None
    if t is Map:
        return True if a.entries else (None if a.rest is not None else False)
    if t is Inst:
        methods = a.cls.namespace
        return None if "__bool__" in methods or "__len__" in methods or a.cls.extern else True
    if t in (Arr, Tree, Unknown, Ext) or t.__name__ == "ExtInst":
        return None
    return True


def _decided(value: Value, outcome: bool) -> Value:
    return py(outcome) if type(value) is Py and value.kind == "bool" else value


def filter_truth(value: Value, outcome: bool) -> Value | None:
    """The part of a value whose truth may be ``outcome``; None when nothing is left."""
    if value is UNKNOWN:
        return value
    kept = [_decided(a, outcome) for a in alternatives(value) if static_truth(a) is not (not outcome)]
    if not kept:
        return None
    return kept[0] if len(kept) == 1 else Union(tuple(kept))
