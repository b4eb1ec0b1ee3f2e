"""Modules of Flax NNX that are put together from their states, and change (layer: ``link``, room ``domains``).

``model = nnx.merge(graph, params, rest)`` in a loss that returns ``rest`` as it came: what the model has made of its statistics,
and how often it has drawn from its streams, is lost. What it does: reads the function that is differentiated. What it does not:
speak where anything but the model's results leaves the function, or of programs without layers that change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import DroppedUpdate
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import L
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_by, bound_names, last_name
from jitlint.link.values import paths
from jitlint.syntax import ir

MERGE: Final = "flax.nnx.merge"
_NNX: Final = "flax.nnx."
_TRAINS: Final = "train"
_FIXED: Final = "use_running_average"


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A module is put together in a function that is differentiated."""
    node = surroundings.statement(f)
    if (
        f.fn is None
        or not f.world.modes & L
        or type(node) is not ir.Assign
        or type(node.value) is not ir.Call
    ):
        return
    names, call = bound_by(node), node.value
    alone = call.at == library.at and len(names) == 1 and _may_change(m)
    if not alone or _is_taken_apart(m, f, f.fn, names[0]):
        return
    for at, name in _handed_on(f.fn, call):
        m.emit(f, DroppedUpdate, at, None, Confidence.LIKELY, kept=name)


def _handed_on(fn: FuncInfo, call: ir.Call) -> Iterator[tuple[int, str]]:
    """Where a function returns a state as it came that a module was put together from, besides its parameters."""
    states = {arg.value.id for arg in call.args[2:] if type(arg.value) is ir.Name}
    states.difference_update(name for part in fn.parts for name in bound_by(part))
    for part in fn.parts:
        kept = _returned(part) & states if type(part) is ir.Return else None
        if kept:
            yield part.at, min(kept)


def _returned(node: ir.Return) -> set[str]:
    """The variables that a result is put together from."""
    parts = node.value.elts if type(node.value) is ir.Tuple else []
    inner = [one for part in parts for one in (part.elts if type(part) is ir.Tuple else [part])]
    return {part.id for part in inner if type(part) is ir.Name}


def _may_change(m: Machine) -> bool:
    """Whether any class of the program has a layer that changes when it is called."""
    names = {name.rpartition(".")[2] for name in lexicon().contracts.keeps_statistics}
    return any(
        last_name(part.func) in names and all(arg.name != _FIXED for arg in part.args)
        for info in m.classes
        if info.role in lexicon().captures.refusing_roles
        for fn in info.module.functions
        if fn.qualname.startswith(f"{info.qualname}.")
        for part in fn.parts
        if type(part) is ir.Call
    )


def _is_taken_apart(m: Machine, f: Frame, fn: FuncInfo, name: str) -> bool:
    """Whether a variable with a module is used for anything but to call it, or a method for training."""
    calls = [part for part in fn.parts if type(part) is ir.Call]
    known = {at for call in calls for at in _used_by(m, f, call)}
    known.update(one.at for part in fn.parts if type(part) is ir.Assign for one in bound_names(part.targets))
    return any(type(part) is ir.Name and part.id == name and part.at not in known for part in fn.parts)


def _used_by(m: Machine, f: Frame, call: ir.Call) -> Iterator[int]:
    """The places of what a call runs, or hands to another function than those that take modules apart."""
    func = call.func
    yield func.at
    if type(func) is ir.Attr and func.name == _TRAINS:
        yield func.obj.at
    if not paths.dotted(m, f, func).startswith(_NNX):
        yield from (arg.value.at for arg in call.args if type(arg.value) is ir.Name)
