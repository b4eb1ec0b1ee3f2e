"""Keeps which functions and parameters are traced, and on what grounds (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from typing import Any

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import Step, TracedFunction
from jitlint.infer.lattice import parts, traced_modes
from jitlint.infer.values import UNKNOWN, Arr, B, Inst, L, S, Tree, Tup, Value, alternatives, mode_letters
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine

GROUND_RANK = {"jit": 4, "declared": 3, "test": 2, "catalogue": 1, "possible": 0}


def record(m: Machine, frame: Frame, bound: dict[str, Value], because: tuple[Step, ...]) -> None:
    """Note that a function is entered under some transform."""
    fn = frame.fn
    if fn is None:
        return
    statuses = m.statuses.setdefault(fn.id, {}) if m.keep_statuses else None
    known = frame.confidence is not Confidence.POSSIBLE and frame.ground in ("jit", "test", "declared")
    for name, value in bound.items():
        if statuses is not None:
            statuses.setdefault(name, set()).update(leaf_statuses(value, 2))
        if known:
            _note_class(m, value)
            if type(value) is Arr and value.modes & S:
                m.array_parameters.add((fn.id, name))
    modes = frame.world.modes | frame.world.here
    old = m.traced.get(fn.id)
    if old is None or GROUND_RANK[frame.ground] > GROUND_RANK[old.ground]:
        new = TracedFunction(
            frame.module.name,
            fn.qualname,
            fn.node.first_at,
            fn.node.name_at,
            mode_letters(modes),
            frame.ground,
            frame.confidence,
            because=because,
        )
        if old is not None:
            new.modes = "".join(c for c in "SBL" if c in old.modes or c in new.modes)
        m.traced[fn.id] = new
    elif len(old.modes) < 3:
        letters = old.modes + mode_letters(modes)
        old.modes = "".join(c for c in "SBL" if c in letters)


def _note_class(m: Machine, value: Value) -> None:
    """Remember the class of an argument that is traced: its other users probably are as well."""
    if type(value) is Inst:
        if value.modes & S:
            m.traced_classes.add(value.cls.id)
    elif type(value) is Tup and value.cls is not None and traced_modes(value, 2) & S:
        m.traced_classes.add(value.cls.id)


def record_generator(m: Machine, frame: Frame, at: int) -> None:
    """A generator expression is a function of its own to Python."""
    outer = m.traced.get(frame.fn.id) if frame.fn is not None else None
    key = -(m.intern(("generator", frame.module.name, at)))
    if outer is not None and key not in m.traced:
        name = f"{outer.qualname}.<locals>.<genexpr>"
        m.traced[key] = TracedFunction(
            outer.module, name, at, at, outer.modes, outer.ground, outer.confidence, because=outer.because
        )


def leaf_statuses(value: Value, depth: int) -> set[str]:
    """traced, static, unknown: what the leaves of a value are."""
    a: Any = value
    t = type(value)
    if value is UNKNOWN:
        return {"unknown"}
    if t is Arr or t is Tree:
        if a.modes & (S | B | L):
            return {"unknown" if a.weak else "traced"}
        return {"static"}
    if t is Inst and a.modes:
        return {"traced"}
    inner = alternatives(value) if len(alternatives(value)) > 1 else parts(value)
    if not inner or depth == 0:
        return {"static"}
    out: set[str] = set()
    for part in inner:
        out |= leaf_statuses(part, depth - 1)
    return out


def summary(found: set[str]) -> str:
    """One word for all leaves over all entries."""
    if found == {"traced"}:
        return "traced"
    if "traced" in found:
        return "mixed"
    return "unknown" if "unknown" in found or not found else "static"
