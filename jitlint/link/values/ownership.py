"""Who outlives whom: the tracers inside a value, and the boxes that they are put into (layer: ``link``, room ``values``).

Ownership is by boundary, not by nesting: a box remembers how many transforms were around the place that
made it. A tracer made under more boundaries than its new home leaks.
"""

from __future__ import annotations

from typing import Any

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.lattice import seq_element
from jitlint.infer.values import (
    Arr,
    Bound,
    Func,
    Inst,
    Map,
    Partial,
    Scope,
    Seq,
    Tree,
    Tup,
    Value,
    alternatives,
)
from jitlint.link.engine import surroundings
from jitlint.link.engine.frame import Frame


def deepest_tracer(value: Value, depth: int = 2) -> Any:
    """The tracer of the highest level inside a value, or None."""
    best: Any = None
    for alt in alternatives(value):
        a: Any = alt
        found: Any = None
        t = type(alt)
        if t is Arr or t is Tree:
            found = a if a.modes and not a.weak else None
        elif depth and t is Tup:
            found = _deepest([deepest_tracer(i, depth - 1) for i in a.items])
        elif depth and t is Seq:
            inner = seq_element(a)
            found = deepest_tracer(inner, depth - 1) if inner is not None else None
        elif depth and t is Map:
            found = _deepest([deepest_tracer(i, depth - 1) for i in a.entries.values()])
        elif depth and t is Inst and a.cls.role not in lexicon().captures.tracked_roles:
            found = _deepest([deepest_tracer(i, depth - 1) for i in a.attrs.values()])
        elif depth and t is Func and a.scope.level:
            found = _deepest([deepest_tracer(i, depth - 1) for i in _captured(a)])
        elif depth and t is Bound:
            found = deepest_tracer(a.recv, depth)
        elif depth and t is Partial:
            found = _deepest([deepest_tracer(i, depth - 1) for i in (*a.args, *a.keywords.values())])
        if found is not None and (best is None or found.level > best.level):
            best = found
    return best


def _captured(func: Func) -> list[Value]:
    """The values of enclosing traced functions that a function reads."""
    out: list[Value] = []
    own = set(func.fn.node.local_names)
    for name in sorted(surroundings.names_read(func.fn)):
        scope: Scope | None = func.scope
        while scope is not None and scope.level and name not in own:
            value = scope.vars.get(name)
            if value is not None:
                out.append(value)
                break
            scope = scope.parent
    return out


def _deepest(found: list[Any]) -> Any:
    best: Any = None
    for one in found:
        if one is not None and (best is None or one.level > best.level):
            best = one
    return best


def outlives(box: Inst, value: Value) -> bool:
    """Whether the value holds a tracer of a trace that the box is older than."""
    tracer = deepest_tracer(value)
    return tracer is not None and tracer.level > box.level


def is_guess(f: Frame, box: Value) -> bool:
    """Whether an object only stands for those that somebody may make: where they are made is not known."""
    receiver = f.recv if type(box) is not Inst and surroundings.changes_receiver(f) else box
    return type(receiver) is Inst and (receiver.cls.cold is receiver or receiver.token is None)
