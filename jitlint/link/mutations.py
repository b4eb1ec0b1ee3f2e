"""Traced code that changes an object older than its trace: the change happens once per trace (layer: ``link``).

What is made inside the trace may be changed freely. A tracer that is stored is the business of `leaks`.
"""

from __future__ import annotations

from typing import Any, Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import Mutation
from jitlint.infer.values import SETS, UNKNOWN, Inst, Map, Py, Seq, Value, alternatives
from jitlint.link import surroundings
from jitlint.link.machine import Frame, Machine

LIBRARY_STATE: Final = ("nnx", "linen", "haiku")
"""Roles of classes whose attributes a library keeps track of."""

_SEQ_METHODS: Final = frozenset(
    {
        "append",
        "appendleft",
        "clear",
        "extend",
        "extendleft",
        "insert",
        "pop",
        "popleft",
        "remove",
        "reverse",
        "sort",
    }
)
_SET_METHODS: Final = frozenset(
    {
        "add", "clear", "difference_update", "discard", "intersection_update", "pop", "remove",
        "symmetric_difference_update", "update",
    }
)  # fmt: skip
_MAP_METHODS: Final = frozenset({"clear", "pop", "popitem", "update"})
_COUNTERS: Final = ("trac", "compil", "jit")


def called(m: Machine, f: Frame, at: int, box: Any, name: str) -> None:
    """A method of a container was called inside a trace."""
    if box.level >= f.world.floor:
        return
    if type(box) is Map:
        names = _MAP_METHODS
    elif box.kind == "iter" or type(box) is not Seq:
        return
    else:
        names = _SET_METHODS if box.kind in SETS else _SEQ_METHODS
    if name in names:
        _record(m, f, at, "method", name, "")


def stored(m: Machine, f: Frame, at: int, box: Any, value: Value, target: str, what: str) -> None:
    """An attribute or element of an older object was replaced by something that is no tracer."""
    name = f"{box.cls.name}.{what}" if type(box) is Inst else ""
    _record(m, f, at, target, "", name, value)


def rebound(m: Machine, f: Frame, at: int, name: str, value: Value, target: str) -> None:
    """A global or nonlocal name, or an attribute of a module or class, was bound anew."""
    _record(m, f, at, target, "", name, value)


def deleted(m: Machine, f: Frame, at: int, box: Value) -> None:
    """An element or attribute was deleted."""
    for alt in alternatives(box):
        a: Any = alt
        known = type(alt) in (Map, Seq) or (type(alt) is Inst and a.cls.role not in LIBRARY_STATE)
        if known and a.level < f.world.floor:
            _record(m, f, at, "delete", "", "")


def _record(
    m: Machine, f: Frame, at: int, target: str, what: str, name: str, value: Value | None = None
) -> None:
    if m.broken == (f.module.name, f.at) or _deliberate(f, name):
        return
    level = Confidence.CERTAIN if value is None or _depends_on_calls(value) else Confidence.LIKELY
    m.emit(f, Mutation, at, None, level, target=target, what=what, name=name)


def _deliberate(f: Frame, name: str) -> bool:
    """Whether it is meant to happen once per trace: it counts traces, or fills what is empty yet."""
    if any(word in name.lower() for word in _COUNTERS):
        return True
    return surroundings.asks_for_tracers(f) or surroundings.asks_absence(f) or surroundings.leads_to_raise(f)


def _depends_on_calls(value: Value) -> bool:
    return value is UNKNOWN or type(value) is not Py
