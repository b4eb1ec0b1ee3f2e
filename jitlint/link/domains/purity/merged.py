"""Modules of Flax NNX that are put together from their states, and change (layer: ``link``, room ``domains``).

``model = nnx.merge(graph, params, rest)`` in a trace: what the model makes of its statistics has to be taken out of it again. What it
does: remembers which modules are put together where, whether a layer of one has learnt, and whether anything takes such a module
apart, keeps it or hands it out; of a module that nobody knows, it reads the function that is differentiated. What it does not:
speak where models may be told to learn nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import DroppedUpdate
from jitlint.infer.objects import TRAINS
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import TRUE, Ext, ExtInst, Inst, L, Tup, Value
from jitlint.link.domains.purity.held import library_parts
from jitlint.link.domains.purity.reused import site_of
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import bound_by, bound_names, call_at, code_of, last_name, path_text
from jitlint.link.values import paths
from jitlint.link.values.questions import measuring
from jitlint.syntax import ir

NNX: Final = "flax.nnx."
_MERGE: Final = "flax.nnx.merge"
_SPLIT: Final = "flax.nnx.split"
_TRAINS: Final = "train"
_EVALUATES: Final = "eval"
_FIXED: Final = "use_running_average"
_DEPTH: Final = 4


@dataclass(slots=True)
class _Site:
    """A call that puts a module together. layer: of it, that has learnt. taken: what it has learnt may get out."""

    fn: FuncInfo
    at: int
    trains: bool
    layer: str = ""
    taken: bool = False


class Merged:
    """Of a session: the calls that put modules together in functions that are differentiated, by what their layers remember."""

    __slots__ = ("_modes", "_sites")

    def __init__(self, modes: measuring.Modes) -> None:
        self._modes = modes
        self._sites: dict[object, _Site] = {}

    def heard(self, m: Machine, f: Frame, library: Library) -> Value | None:
        """A function of the library, or a layer, is called."""
        layer, dotted = library.owner, library.dotted
        if type(layer) is ExtInst:
            site = self._sites.get(site_of(layer))
            if site is not None and measuring.measures(library, layer):
                site.layer = layer.dotted
        elif dotted == _MERGE:
            self._put_together(m, f, library)
        elif not _leaves_statistics(library):
            self.lost(library.args.pos)
        return _told(f, library) if dotted == _SPLIT else None

    def lost(self, values: Iterable[Value]) -> None:
        """Something gets values, and may look into modules among them."""
        for value in values if self._sites else ():
            for layer in library_parts(value, _DEPTH):
                site = self._sites.get(site_of(layer))
                if site is not None:
                    site.taken = True

    def finish(self, m: Machine) -> None:
        """Whether what a layer has learnt ever gets out is known when everything has run."""
        for site in self._sites.values():
            if site.layer and not site.taken and (site.trains or not self._modes.are_set(m)):
                fn = site.fn
                frame = Frame(fn.module, fn.module.scope, HOST, ground="grad")
                place = (fn.module.name, fn.qualname)
                m.emit(
                    frame, DroppedUpdate, site.at, None, Confidence.LIKELY, place, what=_MERGE, averages=site.layer
                )  # fmt: skip

    def _put_together(self, m: Machine, f: Frame, library: Library) -> None:
        """A module is put together in a function that is differentiated."""
        if f.fn is None or not f.world.floor or not f.world.modes & L or _returns_old(m, f, f.fn, library):
            return
        whole, graph, node = library.result, library.args.get(0, "graphdef"), surroundings.statement(f)
        if type(whole) is not Inst or type(graph) is not ExtInst or f.fn.module.is_test:
            return
        names = bound_by(node) if type(node) is ir.Assign else [""]
        if any(_is_told(f.fn.parts, name, _EVALUATES) for name in names):
            return
        trains = TRAINS in graph.attrs or any(_is_told(f.fn.parts, name, _TRAINS) for name in names)
        for layer in library_parts(whole, _DEPTH):
            if site_of(layer) is not None:
                self._sites.setdefault(site_of(layer), _Site(f.fn, library.at, trains))


def _leaves_statistics(library: Library) -> bool:
    """Whether a function takes only such variables out of a module as are no statistics."""
    filters = [*library.args.pos[1:], *library.args.kw.values()]
    names = {one.dotted for one in filters if type(one) is Ext}
    partial = filters and len(names) == len(filters) and library.args.more is None
    return bool(partial) and not names & lexicon().contracts.takes_statistics


def _told(f: Frame, library: Library) -> Value | None:
    """The graph, and the states, of a module that the same code has told to learn."""
    parts, code = library.result, code_of(f.module, f.fn)
    call = call_at(code, library.at)
    graph = parts.items[0] if type(parts) is Tup else None
    if type(parts) is not Tup or type(graph) is not ExtInst or call is None or not call.args:
        return None
    if not _is_told(code, path_text(call.args[0].value), _TRAINS):
        return None
    return parts.of([ExtInst(graph.dotted, {**graph.attrs, TRAINS: TRUE}), *parts.items[1:]])


def _is_told(code: Iterable[ir.Node], path: str, mode: str) -> bool:
    """Whether code calls this method of a module."""
    funcs = [part.func for part in code if type(part) is ir.Call]
    return path != "" and any(
        type(func) is ir.Attr and func.name == mode and path_text(func.obj) == path for func in funcs
    )


def _returns_old(m: Machine, f: Frame, fn: FuncInfo, library: Library) -> bool:
    """Whether a function returns a state as it came that it puts a module together from: then that is said."""
    node = surroundings.statement(f)
    if type(node) is not ir.Assign or type(node.value) is not ir.Call:
        return False
    names, call = bound_by(node), node.value
    alone = call.at == library.at and len(names) == 1 and _may_change(m)
    if not alone or _is_taken_apart(m, f, fn, names[0]):
        return False
    found = list(_handed_on(fn, call))
    for at, name in found:
        m.emit(f, DroppedUpdate, at, None, Confidence.LIKELY, kept=name)
    return bool(found)


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
    if not paths.dotted(m, f, func).startswith(NNX):
        yield from (arg.value.at for arg in call.args if type(arg.value) is ir.Name)
