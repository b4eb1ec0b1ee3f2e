"""What calls mean for a clock: reading it, starting work, waiting for it (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.host_calls import HostCall
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Func, Xform
from jitlint.link.domains.timing import blocks as timing_blocks
from jitlint.link.domains.timing import buffers
from jitlint.link.domains.timing import walk as timing_walk
from jitlint.link.domains.timing.state import DONE, PROFILE, Pending, Work
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.link.domains.timing.walk import Walker


def call(w: Walker, node: ir.Call) -> str:
    """A call: what it gives, after what it does to the clocks."""
    name = w.dotted(node.func)
    if name in lexicon().timing.clocks:
        w.clock = (node.at, dict(w.state.readings))
        return timing_walk.CLOCK
    if name in lexicon().timing.stopwatches:
        return _stopwatch(w, node)
    if name in lexicon().timing.profile_starts:
        w.state.readings[PROFILE] = None
        return ""
    if name in lexicon().timing.profile_stops:
        profiled(w, node.at, w.state.readings.pop(PROFILE, None))
        return ""
    receiver = ""
    if name is None and type(node.func) is ir.Attr:
        receiver = timing_walk.evaluate(w, node.func.obj)
    elif name is None and type(node.func) is not ir.Name:
        timing_walk.evaluate(w, node.func)
    kinds = [timing_walk.evaluate(w, arg.value) for arg in node.args]
    held = timing_walk.DEVICE if timing_walk.DEVICE in kinds or receiver else ""
    noted: HostCall | None = w.m.host_calls.calls.get((w.module.name, node.at))
    if noted is not None and not noted.others:
        return _known(w, node, noted, held)
    if name is not None:
        return _library(w, node, name, held)
    if type(node.func) is ir.Attr:
        return _method(w, node.at, node.func, receiver, held)
    if held or _says_so(node.func):
        w.state.waited()
    return held


def profiled(w: Walker, at: int, running: Pending) -> None:
    """A profile ends. running: what was started since it began."""
    if isinstance(running, Work):
        w.found.setdefault((at, PROFILE), running)


def _says_so(node: ir.Node | None) -> bool:
    """Whether the callee's name says that it waits."""
    name = node.name if type(node) is ir.Attr else node.id if type(node) is ir.Name else ""
    return any(word in name.lower() for word in lexicon().timing.waiting_words)


def _known(w: Walker, node: ir.Call, noted: HostCall, held: str) -> str:
    if noted.jitted:
        if not noted.works or (noted.functions and not _is_handed(w, node)):
            return held
        if noted.target.startswith(lexicon().timing.work) and _is_cheap(noted.target):
            return timing_walk.DEVICE
        work = Work(w.module.name, node.at, noted.target, True)
        w.state.started(work)
        buffers.lend(w.state, node, work)
        if noted.fills:
            w.state.device.update(filter(None, [buffers.path_of(arg.value) for arg in node.args]))
        return timing_walk.DEVICE
    if timing_blocks.method(w, node, noted):
        return held
    return _reached(w, node, [w.summary_of(fn) for fn in noted.functions], held)


def _is_handed(w: Walker, node: ir.Call) -> bool:
    """Whether a helper calls what it is given, which it times for whoever calls it."""
    params = w.fn.node.params if w.fn is not None else []
    return type(node.func) is ir.Name and any(param.name == node.func.id for param in params)


def _reached(w: Walker, node: ir.Call, found: list[Pending], held: str) -> str:
    works = [one for one in found if isinstance(one, Work)]
    if DONE in found:
        w.state.waited()
    elif works and len(works) == len(found):
        w.state.started(Work(w.module.name, node.at, works[0].name, False))
        return timing_walk.DEVICE
    return held


def _library(w: Walker, node: ir.Call, name: str, held: str) -> str:
    if name in lexicon().timing.waiting:
        w.state.waited()
        return held
    if name in lexicon().timing.placing:
        buffers.lend(w.state, node, Work(w.module.name, node.at, name, False))
        return timing_walk.DEVICE
    if name.startswith(lexicon().timing.work):
        work = Work(w.module.name, node.at, name, False)
        if not _is_cheap(name):
            w.state.started(work)
            buffers.lend(w.state, node, work)
        return timing_walk.DEVICE
    for arg in node.args:
        buffers.write(w.state, w.written, arg.value, node.at)
    if name in lexicon().timing.plain:
        return ""
    if name not in lexicon().timing.passive and held and not name.startswith("jax."):
        w.state.waited()
    if held and name in lexicon().timing.tree_maps:
        return _mapped(w, node, held)
    if held and name.startswith(lexicon().timing.trees) and name not in lexicon().timing.tree_parts:
        w.state.waited()  # whatever is called for each leaf may wait for it
    return held


def _is_cheap(name: str) -> bool:
    return name.rpartition(".")[2] in lexicon().timing.cheap


def _mapped(w: Walker, node: ir.Call, held: str) -> str:
    """A function is called for each leaf of a tree that may hold results."""
    given = next((arg.value for arg in node.args if arg.name in (None, "f") and not arg.star), None)
    name = w.dotted(given)
    if name is not None and name.startswith(lexicon().timing.work):
        if not _is_cheap(name):
            w.state.started(Work(w.module.name, node.at, name, False))
        return timing_walk.DEVICE
    fn = _function(w, given)
    if fn is not None:
        return _reached(w, node, [w.summary_of(fn)], held)
    w.state.waited()
    return held


def _function(w: Walker, node: ir.Node | None) -> FuncInfo | None:
    """The function of the project that an expression names or writes out."""
    if type(node) is ir.Lambda:
        return w.module.functions[node.function]
    if type(node) is not ir.Name:
        return None
    index = w.defined.get(node.id)
    if index is not None:
        return w.module.functions[index]
    if w.fn is not None and node.id in w.fn.node.local_names:
        return None
    value = w.module.scope.vars.get(node.id)
    return value.fn if type(value) is Func else None


def _method(w: Walker, at: int, func: ir.Attr, receiver: str, held: str) -> str:
    if func.name in lexicon().timing.waiting_methods or _says_so(func):
        w.state.waited()
        return held
    buffers.write(w.state, w.written, func.obj, at)
    if func.name in lexicon().containers.common:
        if held and not receiver:
            w.state.device.add(buffers.path_of(func.obj))
        return held
    if receiver and w.m.catalogue.array_method(func.name) is not None:
        return held
    if held:
        w.state.waited()
    return held


def _stopwatch(w: Walker, node: ir.Call) -> str:
    """``timeit.timeit(f)`` and the like call what they are given between two readings."""
    timed = next((a.value for a in node.args if a.name in (None, "stmt") and not a.star), None)
    fn = _function(w, timed)
    if fn is None and type(timed) is ir.Name:
        value = w.module.scope.vars.get(timed.id)
        if type(value) is Xform and value.spec.name == "jax.jit":
            w.found.setdefault((node.at, ""), Work(w.module.name, node.at, timed.id, True))
    work = w.summary_of(fn) if fn is not None else None
    if isinstance(work, Work):
        w.found.setdefault((node.at, ""), work)
    return ""
