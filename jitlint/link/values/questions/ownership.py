"""Who outlives whom: the tracers inside a value, and the boxes that they are put into (layer: ``link``, room ``values``).

Ownership is by boundary, not by nesting: a box remembers how many transforms were around the place that
made it. A tracer made under more boundaries than its new home leaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.lattice import seq_element
from jitlint.infer.objects import is_cold
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

_CLOSURES: Final = 3
"""So many functions that close over one another are looked through."""


def deepest_tracer(value: Value, depth: int = 4, closures: int = _CLOSURES) -> Arr | Tree | None:
    """The tracer of the highest level inside a value, or None. closures: how many functions are looked through besides."""
    return _deepest([_tracer_in(alt, depth, closures) for alt in alternatives(value)])


def _tracer_in(value: Value, depth: int, closures: int) -> Arr | Tree | None:
    if type(value) is Arr or type(value) is Tree:
        return value if value.modes and not value.weak else None
    if isinstance(value, (Func, Partial)):
        held = _closed_over(value) if closures else []
        return _deepest([deepest_tracer(i, depth, closures - 1) for i in held])
    if not depth:
        return None
    if type(value) is Bound:
        return deepest_tracer(value.recv, depth, closures)
    inside = _HELD.get(type(value))
    parts = () if inside is None else inside(value)
    return _deepest([deepest_tracer(i, depth - 1, closures) for i in parts])


def _elements(sequence: Seq) -> list[Value]:
    inner = seq_element(sequence)
    return [] if inner is None else [inner]


def _attributes(inst: Inst) -> Iterable[Value]:
    return () if inst.cls.role in lexicon().captures.tracked_roles else inst.attrs.values()


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


# What a value keeps alive beside itself.
_HELD: Final[dict[type, Callable[[Any], Iterable[Value]]]] = {
    Tup: lambda value: value.items,
    Seq: _elements,
    Map: lambda value: value.entries.values(),
    Inst: _attributes,
}


def _closed_over(value: Func | Partial) -> list[Value]:
    """What a function holds that it was made with."""
    if type(value) is Partial:
        return [value.func, *value.args, *value.keywords.values()]
    return _captured(value) if type(value) is Func and value.scope.level else []


def _deepest(found: list[Arr | Tree | None]) -> Arr | Tree | None:
    best: Arr | Tree | None = None
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
    return type(receiver) is Inst and (is_cold(receiver) or receiver.token is None)
