"""Methods of modules of `flax.linen` that are called on a module that holds no parameters (layer: ``link``, room ``domains``).

What it does: looks at calls in plain host code, outside of all that a module, or a run of one, has called, and asks whether the
method certainly needs what only a run brings. What it does not: speak of modules of which nobody is seen to make one, or of
methods that may get by without.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.objects import is_cold
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import Bound, Func, Inst, Value
from jitlint.link.engine.domain import Called, Library
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import ir_walk
from jitlint.link.values import paths
from jitlint.link.values.questions.kinds import find_method, mro
from jitlint.syntax import ir

_INSIDE: Final = Slot[bool](inherited=True)
"""A module, or a run of one, is around: modules may be bound there."""
_REACHED: Final = Slot[bool](inherited=True)
"""The body of a Python module leads here."""
_RUNS: Final = Slot[bool]()
"""A module is about to be run from here."""
_SETUP: Final = "setup"
_COMPACT: Final = "compact"


def heard(f: Frame, library: Library) -> None:
    """A module is applied, or initialised: what is entered next is inside of it."""
    if library.dotted in lexicon().contracts.running:
        _RUNS.put(f, True)


def began(f: Frame) -> None:
    """The body of a Python module begins."""
    _REACHED.put(f, True)


def is_reached(f: Frame) -> bool:
    """Whether host code runs that the program itself runs, outside of all modules of `flax.linen`."""
    return bool(_REACHED.of(f)) and not _is_inside(f) and not _is_module(f.recv)


def entered(f: Frame, inner: Frame) -> None:
    """A function is entered."""
    if _REACHED.of(f):
        _REACHED.put(inner, True)
    if _INSIDE.of(f) or _RUNS.of(f) or _is_module(f.recv):
        _INSIDE.put(inner, True)
        _RUNS.put(f, False)


def left(f: Frame) -> None:
    """A function is left, or need not be entered, as what it does is known: nothing is about to be run any more."""
    if _RUNS.of(f):
        _RUNS.put(f, False)


def called_method(m: Machine, f: Frame, called: Called) -> None:
    """A method of an object is called in host code."""
    bound, func = called.callee, called.node.func
    if type(bound) is not Bound or type(func) is not ir.Attr or f.world.level or _is_inside(f):
        return
    owner = bound.recv
    method = find_method(owner, func.name) if type(owner) is Inst and _is_module(owner) else None
    if type(owner) is not Inst or is_cold(owner) or _is_module(f.recv) or type(method) is not Func:
        return
    how = _needs_parameters(method.fn, owner.cls)
    if how:
        m.emit(
            f, ApiMisuse, called.node.at, api=f"{owner.cls.name}.{func.name}", problem="no-scope",
            parameter=func.name, detail=how,
        )  # fmt: skip


def called_layer(m: Machine, f: Frame, library: Library) -> None:
    """A layer of the library is called."""
    if library.dotted.endswith(".__call__") and not f.world.level:
        called_attribute(m, f, m.texts.table(f).calls.get(library.at))


def called_attribute(m: Machine, f: Frame, node: ir.Call | None) -> None:
    """Something is called in host code: is it a layer that only `setup` makes."""
    func = node.func if node is not None else None
    if node is None or type(func) is not ir.Attr or f.world.level or _is_inside(f) or _is_module(f.recv):
        return
    owner = paths.peek(m, f, func.obj)
    if type(owner) is not Inst or not _is_module(owner) or is_cold(owner):
        return
    if func.name in _set_up(owner.cls):
        m.emit(
            f, ApiMisuse, node.at, api=f"{owner.cls.name}.{func.name}", problem="no-scope",
            parameter=func.name, detail="made",
        )  # fmt: skip


def _is_inside(f: Frame) -> bool:
    """Whether a module, or a run of one, is around, or was when the function was made that runs here."""
    if _INSIDE.of(f):
        return True
    scope = f.scope.parent
    while scope is not None and scope.fn is not None:
        if any(value.owner is not None and value.owner.role == "linen" for value in scope.fn.values):
            return True
        scope = scope.parent
    return False


def _is_module(value: Value | None) -> bool:
    return type(value) is Inst and value.cls.role == "linen"


def _needs_parameters(fn: FuncInfo, cls: ClassInfo) -> str:
    """Where a method certainly raises without parameters: here, as a compact one, or inside, as it reads what `setup` makes;
    "" if it may not."""
    names = [ir_walk.last_name(node) for node in fn.node.decorators]
    if names:
        return "here" if names == [_COMPACT] else ""
    own = fn.first
    parts = list(ir_walk.nodes(_first_statement(fn)))
    read = {
        node.name
        for node in parts
        if type(node) is ir.Attr and type(node.obj) is ir.Name and node.obj.id == own
    }
    by_chance = any(isinstance(node, (ir.IfExp, ir.BoolOp, ir.Comp)) for node in parts)
    return "inside" if not by_chance and read & _set_up(cls) else ""


def _first_statement(fn: FuncInfo) -> list[ir.Node]:
    """The first statement of a function, which certainly runs, if it only computes."""
    for node in fn.body:
        if type(node) is not ir.ExprStmt or type(node.value) is not ir.Const:
            return [node] if isinstance(node, (ir.Assign, ir.ExprStmt, ir.Return)) else []
    return []


def _set_up(cls: ClassInfo) -> set[str]:
    """The attributes that only `setup` gives to the objects of a class."""
    chain = mro(cls)
    known = {name for c in chain for name in (*c.fields, *c.namespace)}
    setups = [c.namespace[_SETUP] for c in chain if _SETUP in c.namespace]
    found: set[str] = set()
    for setup in setups:
        assigned = ir_walk.nodes(list(setup.fn.body)) if type(setup) is Func else []
        targets = [target for node in assigned if type(node) is ir.Assign for target in node.targets]
        found |= {t.name for t in targets if type(t) is ir.Attr and type(t.obj) is ir.Name}
    return found - known
