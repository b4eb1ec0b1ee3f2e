"""Modules of `flax.linen` made or called where nothing holds their parameters (layer: ``link``, room ``domains``).

What it does: notes a module that a plain method makes, which only ``setup`` and compact methods may, hands that on from
callee to caller until one of these is met, or the call that runs it; and says which modules are called that are bound to no
parameters. What it does not: speak of methods that nobody is seen to run, or of modules made by a function that the program is
not seen to run outside of all modules: one around may hold these.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import Class, ExtInst, Func, Inst, Value
from jitlint.link.domains.contracts import unbound
from jitlint.link.domains.contracts.needs import Need
from jitlint.link.engine import scopes
from jitlint.link.engine.domain import Activation, Called, Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once, ir_walk
from jitlint.link.tables.ir_walk import path_text
from jitlint.link.values import paths
from jitlint.link.values.questions.kinds import find_method, mro
from jitlint.syntax import ir

SCOPE: Final = "scope"
_PREPARING: Final = ("setup", "__post_init__")
_PARENT: Final = "parent"


def made(f: Frame, at: int, name: str, given: frozenset[str]) -> Need | None:
    """A module is made: a plain method of another one needs a compact one around. given: what it gets by name."""
    if f.fn is None or not _is_module(f.recv) or not _is_plain(f.fn, f.recv) or _PARENT in given:
        return None
    return Need(SCOPE, f.qualname, name, f.module.name, at, f.qualname, f.confidence, _class_of(f.recv))


def _is_plain(fn: FuncInfo, owner: Value | None) -> bool:
    """Whether nothing can have made a method compact: no decorator, and no other name that the class has for it."""
    cls = _class_of(owner)
    held = [(name, value) for one in (mro(cls) if cls else ()) for name, value in one.namespace.items()]
    names = [name for name, value in held if type(value) is Func and value.fn is fn]
    return not fn.node.decorators and names == [fn.node.name] and names[0] not in _PREPARING


def meets(need: Need, activation: Activation) -> bool:
    """Whether a function that is left is what a module needs that was made inside."""
    func = activation.func
    if func.owner is None:
        return bool(func.fn.node.decorators)
    same = _class_of(next(iter(activation.bound.values()), None)) is need.owner
    return same and (bool(func.fn.node.decorators) or func.fn.node.name in _PREPARING)


def _is_module(value: Value | None) -> bool:
    return type(value) is Inst and value.cls.role == "linen"


def _class_of(value: Value | None) -> ClassInfo | None:
    return value.cls if type(value) is Inst else None


def called_layer(m: Machine, f: Frame, library: Library) -> None:
    """A layer of the library is called."""
    owner = library.owner
    known = type(owner) is ExtInst and owner.dotted in lexicon().contracts.compact_layers
    if known and library.dotted.endswith(".__call__"):
        _called(m, f, library.at, owner)


def called_module(m: Machine, f: Frame, called: Called) -> None:
    """An object is called: is it a module of the project with a compact ``__call__``."""
    method = find_method(called.callee, "__call__") if type(called.callee) is Inst else None
    if _is_module(called.callee) and type(method) is Func and is_compact(method.fn):
        _called(m, f, called.node.at, called.callee)


def is_compact(fn: FuncInfo) -> bool:
    """Whether a method may make modules where it calls them."""
    return any(ir_walk.last_name(node) == "compact" for node in fn.node.decorators)


def _called(m: Machine, f: Frame, at: int, owner: Value | None) -> None:
    """A module is called by a name of its Python module, or of the function that makes it: those are bound that somebody else made."""
    call = m.texts.table(f).calls.get(at)
    func = call.func if call is not None else None
    if type(func) is ir.Call and _is_alone(m, f, func) and unbound.is_reached(f):
        m.emit(f, ApiMisuse, at, api=path_text(func.func), problem="no-scope", parameter="called")
    if type(func) is not ir.Name or scopes.lookup(f, func.id) is not owner:
        return
    local = f.fn is not None and func.id in f.scope.vars
    if _is_made_here(m, f, func.id) if local else f.module.scope.vars.get(func.id) is owner:
        m.emit(f, ApiMisuse, at, api=func.id, problem="no-scope", parameter="called")


def _is_made_here(m: Machine, f: Frame, name: str) -> bool:
    """Whether a variable holds a module that the function itself makes, with no other around that could hold it."""
    binding = bound_once.only_binding(f.fn, name)
    return binding is not None and _is_alone(m, f, binding.value) and unbound.is_reached(f)


def _is_alone(m: Machine, f: Frame, made: ir.Node) -> bool:
    """Whether an expression makes a module, and says of no other one that it holds it."""
    if type(made) is not ir.Call or any(arg.star or arg.name == _PARENT for arg in made.args):
        return False
    layer = paths.dotted(m, f, made.func) in lexicon().contracts.compact_layers
    return layer or type(paths.peek(m, f, made.func)) is Class
