"""Questions whether something is traced (layer: ``link``, room ``core``).

What it does: says of a test that it asks for tracers: itself, by a function that does, or by a variable that holds the
answer. Who asks is prepared for both answers. Where the answer is not known, what stands behind the question is said of
neither: no error may rest on the wrong one. What it does not: answer; `jitlint.link.values.kinds` does.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.program import FuncInfo
from jitlint.infer.values import UNKNOWN, Bound, Descr, Ext, Func, Mod, Value, alternatives
from jitlint.link.engine import scopes, surroundings
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import ir_walk
from jitlint.link.values import attributes, paths
from jitlint.link.values.kinds import mro
from jitlint.syntax import ir

_DEEP: Final = 3
"""So many functions that call each other are looked through for the question."""


def called_by_name(m: Machine, f: Frame, func: ir.Node | None) -> Value | None:
    """What a test calls: a name or ``module.name``."""
    if type(func) is ir.Name:
        return scopes.lookup(f, func.id)
    if type(func) is not ir.Attr:
        return None
    owner = called_by_name(m, f, func.obj) if isinstance(func.obj, (ir.Name, ir.Attr)) else None
    return (
        attributes.get(m, f, func.at, owner, func.name) if type(owner) is Ext or type(owner) is Mod else None
    )


def asks_for_tracers(m: Machine, f: Frame, test: ir.Node | None, depth: int = _DEEP) -> bool:
    """Whether an expression asks if something is traced."""
    if surroundings.mentions_tracing(test):
        return True
    for node in ir_walk.nodes(test):
        if type(node) is ir.Call and depth and _does(m, f, _called(m, f, node.func), depth):
            return True
        if type(node) is ir.Compare and _asks_for_module(m, f, node):
            return True
        if type(node) is ir.Name and f.fn is not None and depth and _holds_answer(m, f, f.fn, node.id, depth):
            return True
    return False


def _asks_for_module(m: Machine, f: Frame, node: ir.Compare) -> bool:
    """Whether a comparison asks which of NumPy and its twin was chosen: that hangs on what is traced."""
    chosen = {alt.dotted for alt in alternatives(paths.peek(m, f, node.left) or UNKNOWN) if type(alt) is Ext}
    return {"numpy", "jax.numpy"} <= chosen


def _called(m: Machine, f: Frame, func: ir.Node | None) -> FuncInfo | None:
    """The function of the project that is called, a method of the object at hand included."""
    value = called_by_name(m, f, func)
    if type(func) is ir.Attr and type(func.obj) is ir.Name and f.owner is not None and value is None:
        value = next((c.namespace[func.name] for c in mro(f.owner) if func.name in c.namespace), None)
    while type(value) is Bound or type(value) is Descr:
        value = value.func
    return value.fn if type(value) is Func else None


def _does(m: Machine, f: Frame, fn: FuncInfo | None, depth: int) -> bool:
    """Whether a function asks, or one that it calls."""
    if fn is None or fn is f.fn:
        return False
    if fn.asks is None:
        fn.asks = False  # until it is known: a function that calls itself
        inside = fn.values[0].scope if fn.values else fn.module.scope
        frame = Frame(fn.module, inside, HOST, fn)
        fn.asks = asks_for_tracers(m, frame, fn.body, depth - 1)  # type: ignore[arg-type]
    return fn.asks


def _holds_answer(m: Machine, f: Frame, fn: FuncInfo, name: str, depth: int) -> bool:
    """Whether a variable of a function is set to the answer."""
    return any(
        type(node) is ir.Assign
        and any(target.id == name for target in ir_walk.bound_names(node.targets))
        and type(node.value) in _ANSWERS
        and asks_for_tracers(m, f, node.value, depth - 1)
        for node in fn.parts
    )


_ANSWERS: Final = (ir.Call, ir.BoolOp, ir.UnaryOp, ir.Compare)
