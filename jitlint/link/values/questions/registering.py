"""Classes that say how they are flattened: what is in their type, and which nobody registers (layer: ``link``, room ``values``).

What it does: reads their methods, and the modules they stand in. What it does not: say that nobody registers a class with bases or
decorators, or, where anybody in the program registers one, one in a module that neither imports what does nor registers another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import Func, Inst
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import ir_walk
from jitlint.link.tables.results import only_returned
from jitlint.link.values import classes, flattening
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir
from jitlint.syntax.children import below

_REGISTERS: Final = "register_"
_METHODS: Final = frozenset({"tree_flatten", "tree_unflatten"})


def is_registered(info: ClassInfo) -> bool:
    """Whether a class crosses a boundary itself: JAX looks up the very class, and knows nothing of those that inherit from it.

    Bases and metaclasses that hear of new classes may register them.
    """
    if info.pytree or info.shape == "namedtuple" or info.metaclass is not None:
        return True
    return flattening.is_pytree(info) and any("__init_subclass__" in cls.namespace for cls in mro(info))


def is_forgotten(m: Machine, info: ClassInfo) -> bool:
    """Whether a class is not registered although its module knows what does that, and nothing there mentions it for it; or
    although nobody in the program knows that."""
    if _inherits_only(info):
        if _is_left_to_functions(m):
            return False
        bodies = [module.tree.body for module in m.modules.values()]
        return not any(
            _may_register(node, info.name) for body in bodies for node in ir_walk.nodes(list(body))
        )
    plain = (
        not info.bases and info.metaclass is None and not info.extern and info.namespace.keys() >= _METHODS
    )
    if not plain or info.scope.fn is not None:
        return False
    body = info.module.tree.body
    known = _knows_how(body) or not _registers_anything(m)
    return known and not any(_may_register(node, info.name) for node in ir_walk.nodes(list(body)))


def _inherits_only(info: ClassInfo) -> bool:
    """Whether a decorator has registered a class of the project from which this one inherits, and this one has none: JAX looks
    up the very class of an object."""
    if info.extern or info.scope.fn is not None or is_registered(info):
        return False
    bases = [cls for cls in mro(info) if cls is not info]
    return flattening.is_pytree(info) and all(not cls.pytree or _is_decorated(cls) for cls in bases)


def _is_decorated(info: ClassInfo) -> bool:
    body = info.module.tree.body
    return any(type(node) is ir.ClassDef and node.at == info.at and node.decorators for node in body)


def _knows_how(body: Sequence[ir.Stmt]) -> bool:
    """Whether a module imports what registers a class, or registers one."""
    used = {name.name for node in body if type(node) is ir.ImportFrom for name in node.names}
    used |= {
        ir_walk.last_name(mark) for node in body if type(node) is ir.ClassDef for mark in node.decorators
    }
    return not used.isdisjoint(lexicon().types.registering)


def _registers_anything(m: Machine) -> bool:
    """Whether any code of the program mentions what registers a class, be it a function of its own."""
    if m.registers is None:
        code = (node for module in m.modules.values() for part in module.code() for node in part)
        m.registers = any(map(_mentions_registering, code))
    return m.registers


def _is_left_to_functions(m: Machine) -> bool:
    """Whether a function of the program registers classes: it may be given any."""
    if m.registering_functions is None:
        m.registering_functions = any(
            map(_mentions_registering, (part for fn in m.functions for part in fn.parts))
        )
    return m.registering_functions


def _mentions_registering(node: ir.Node) -> bool:
    if type(node) is ir.ImportFrom:
        return any(name.name.startswith(_REGISTERS) for name in node.names)
    return isinstance(node, (ir.Name, ir.Attr)) and ir_walk.last_name(node).startswith(_REGISTERS)


def _may_register(node: ir.Node, name: str) -> bool:
    """Whether a class of this name is decorated here, handed to a function, or one of those that a loop goes over."""
    if type(node) is ir.ClassDef:
        return node.name == name and bool(node.decorators)
    if type(node) is ir.Call:
        return any(_mentions(arg.value, name) for arg in node.args)
    return type(node) is ir.For and _mentions(node.iter, name)


def _mentions(node: ir.Node, name: str) -> bool:
    return any(type(part) is ir.Name and part.id == name for part in below(node))


def is_in_type(value: Inst, name: str) -> bool:
    """Whether an attribute is certainly a part of the type of an object, and not left out where it is flattened."""
    flatten = classes.flatten_method(value.cls)
    if type(flatten) is not Func:
        return name in flattening.meta_names(value.cls)
    pair = only_returned(flatten.fn.parts)
    rest = pair.elts[1] if type(pair) is ir.Tuple and len(pair.elts) == 2 else None
    return any(type(part) is ir.Attr and part.name == name for part in below(rest))
