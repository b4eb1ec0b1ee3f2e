"""Keeps which functions and parameters are traced, and on what grounds (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from typing import Any, Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.lattice import parts, traced_modes
from jitlint.infer.places import Step
from jitlint.infer.traced_functions import TracedFunction
from jitlint.infer.values import (
    UNKNOWN,
    Arr,
    B,
    ExtInst,
    Inst,
    L,
    S,
    Tree,
    Tup,
    Value,
    alternatives,
    mode_letters,
)
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine

GROUND_RANK = {"jit": 4, "declared": 3, "test": 2, "catalogue": 1, "possible": 0}


_PERHAPS: Final = "perhaps "
"""Before what a parameter is where it is only guessed what the function is given."""


def record(m: Machine, frame: Frame, bound: dict[str, Value], because: tuple[Step, ...]) -> None:
    """Note that a function is entered under some transform."""
    fn = frame.fn
    if fn is None:
        return
    sure = frame.confidence is not Confidence.POSSIBLE
    known = sure and frame.ground in ("jit", "test", "declared")
    if m.keep_statuses:
        _note_statuses(m.statuses.setdefault(fn.id, {}), bound, sure)
    if known:
        _note_values(m, fn.id, bound)
    if sure:
        m.surely_traced[fn.id] = known or m.surely_traced.get(fn.id, False)
    modes = mode_letters(frame.world.modes | frame.world.here)
    old = m.traced.get(fn.id)
    if old is not None and old.modes != modes:
        modes = old.modes = "".join(c for c in "SBL" if c in old.modes or c in modes)
    if old is None or _rank(frame.entry, frame.ground) > _rank(old.confidence, old.ground):
        first, name = fn.node.first_at, fn.node.name_at
        m.traced[fn.id] = TracedFunction(
            frame.module.name, fn.qualname, first, name, modes, frame.ground, frame.entry, because=because
        )


def _rank(entry: Confidence, ground: str) -> tuple[int, int]:
    """The surest entry of a function is its witness; of equally sure ones the one that is written down."""
    return entry.rank, GROUND_RANK[ground]


def _note_statuses(statuses: dict[str, set[str]], bound: dict[str, Value], sure: bool) -> None:
    for name, value in bound.items():
        found = leaf_statuses(value, 2)
        statuses.setdefault(name, set()).update(found if sure else [_PERHAPS + word for word in found])


def _note_values(m: Machine, fn: int, bound: dict[str, Value]) -> None:
    for name, value in bound.items():
        _note_class(m, value)
        if type(value) is Arr and value.modes & S:
            m.array_parameters.add((fn, name))


def _note_class(m: Machine, value: Value) -> None:
    """Remember the class of an argument that is traced: its other users probably are as well."""
    if type(value) is Inst:
        if value.modes & S:
            m.traced_classes.add(value.cls.id)
    elif type(value) is Tup and value.cls is not None and traced_modes(value, 2) & S:
        m.traced_classes.add(value.cls.id)


def record_inner(m: Machine, frame: Frame, what: str, at: int, name: str) -> None:
    """A generator expression, or the body of a class: a function of its own to Python, run by the one around it."""
    outer = m.traced.get(frame.fn.id) if frame.fn is not None else None
    key = -(m.intern((what, frame.module.name, at)))
    old = m.traced.get(key)
    if outer is not None and (old is None or old.confidence.rank < frame.entry.rank):
        m.traced[key] = TracedFunction(
            outer.module,
            f"{outer.qualname}.<locals>.{name}",
            at,
            at,
            outer.modes,
            outer.ground,
            frame.entry,
            because=outer.because,
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
    if inner and depth:
        more = {"unknown"} if _holds_arrays(value) else set[str]()
        return more.union(*[leaf_statuses(part, depth - 1) for part in inner])
    return {"unknown"} if inner or _may_hold_leaves(value) else {"static"}


def _may_hold_leaves(value: Value) -> bool:
    """Whether an object of which no attribute is known may have some."""
    return value.open or value.cls.pytree if type(value) is Inst else _holds_arrays(value)


def _holds_arrays(value: Value) -> bool:
    """Whether an object of a library has arrays in it, of which nothing is kept."""
    if type(value) is not ExtInst:
        return False
    contracts = lexicon().contracts
    return value.dotted in contracts.makes_with or value.dotted in contracts.holds_arrays


def of_parameter(found: set[str]) -> str:
    """One word for what a parameter is over all entries: the sure ones decide, the guessed ones may raise a doubt."""
    guessed = {word[len(_PERHAPS) :] for word in found if word.startswith(_PERHAPS)}
    sure = {word for word in found if not word.startswith(_PERHAPS)}
    if not sure:
        return "unknown"
    return "unknown" if sure == {"static"} != guessed and guessed else summary(sure)


def summary(found: set[str]) -> str:
    """One word for all leaves over all entries."""
    if found == {"traced"}:
        return "traced"
    if "traced" in found:
        return "mixed"
    return "unknown" if "unknown" in found or not found else "static"
