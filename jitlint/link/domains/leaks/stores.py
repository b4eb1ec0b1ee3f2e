"""Tracers that are stored where they outlive their trace (layer: ``link``, room ``domains``).

Ownership is by boundary, not by nesting: a box remembers how many transforms were around the place that
made it. A tracer made under more boundaries than its new home leaks.
"""

from __future__ import annotations

from typing import Any

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import Leak
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
from jitlint.link.domains.purity import mutations
from jitlint.link.engine import surroundings
from jitlint.link.engine.events import confidence_of
from jitlint.link.engine.machine import Frame, Machine
from jitlint.link.values import pytrees


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
        elif depth and t is Inst and a.cls.role not in mutations.LIBRARY_STATE:
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
    for name in surroundings.names_read(func.fn):
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


def stored(m: Machine, f: Frame, at: int, box: Any, value: Value, target: str, what: str) -> None:
    """A value goes into an attribute or element of ``box``: record a leak when it outlives its trace.

    ``box`` is an `Inst`, `Seq` or `Map`.
    """
    if type(box) is Inst and box.cls.role in mutations.LIBRARY_STATE:
        return
    level = box.level
    if level >= f.world.floor and target != "append" and id(box) in m.rebuilt:
        mutations.lost(m, f, at, box)
    if level >= f.world.level:
        return
    leaked = _leak(m, f, at, level, value, target, what, mutations.is_guess(f, box))
    if not leaked and level < f.world.floor and target != "append":
        mutations.stored(m, f, at, box, value, target, what)


def stored_in_scope(m: Machine, f: Frame, scope: Scope, name: str, value: Value, target: str) -> None:
    """A value is bound to a global or nonlocal name."""
    if scope.level < f.world.level:
        leaked = _leak(m, f, f.at, scope.level, value, target, name)
        if not leaked and scope.level < f.world.floor:
            mutations.rebound(m, f, f.at, name, target)


def _is_own(f: Frame) -> bool:
    """Whether the function is the very one that is traced: then its receiver certainly is older."""
    return len(f.steps) < 2


def _leak(
    m: Machine, f: Frame, at: int, level: int, value: Value, target: str, what: str, guess: bool = False
) -> bool:
    tracer = deepest_tracer(value)
    if tracer is None or tracer.level <= level:
        return False
    hidden = type(value) in (Inst, Func, Bound, Partial)
    confidence = Confidence.POSSIBLE if guess and (hidden or not _is_own(f)) else confidence_of(value)
    if not surroundings.undone(f, surroundings.changed_name(f)):
        m.emit(f, Leak, at, tracer, confidence, target=target, what=what)
    m.broken = (f.module.name, f.at)
    return True


def cached(m: Machine, f: Frame, func: Func, level: int, result: Value, target: str) -> None:
    """The result of a function is kept by a cache that was made under ``level`` boundaries: at its ``return``."""
    tracer = deepest_tracer(result)
    if level >= f.world.level or tracer is None or tracer.level <= level:
        return
    for at, value in func.fn.returned.items():
        if deepest_tracer(value) is not None:
            where = (func.fn.module.name, func.fn.qualname)
            m.emit(f, Leak, at, tracer, confidence_of(result), where, target=target, what=func.fn.name)
            return


def returned(m: Machine, f: Frame, target: Value, result: Value) -> None:
    """What a traced function returns: static fields are not replaced by results, so a tracer there gets out."""
    found = _in_static_field(result, f.world.level)
    func: Any = target
    while type(func) in (Bound, Partial):
        func = func.func
    if found is None or type(func) is not Func:
        return
    name, tracer = found
    for at, value in func.fn.returned.items():
        if _in_static_field(value, f.world.level) is not None:
            where = (func.fn.module.name, func.fn.qualname)
            m.emit(f, Leak, at, tracer, confidence_of(value), where, target="static", what=name)


def _in_static_field(value: Value, level: int) -> tuple[str, Value] | None:
    for inst in _instances(value, 2):
        for name in sorted(pytrees.meta_names(inst.cls) & inst.attrs.keys()):
            tracer = deepest_tracer(inst.attrs[name])
            if tracer is not None and tracer.level >= level:
                return name, tracer
    return None


def _instances(value: Value, depth: int) -> list[Inst]:
    """The registered objects in a value."""
    a: Any = value
    if type(value) is Inst:
        return [a] if pytrees.is_pytree(a.cls) else []
    parts = pytrees.children(value) if depth else None
    return [inst for part in parts or () for inst in _instances(part, depth - 1)]


def outlives(box: Inst, value: Value) -> bool:
    """Whether the value holds a tracer of a trace that the box is older than."""
    tracer = deepest_tracer(value)
    return tracer is not None and tracer.level > box.level
