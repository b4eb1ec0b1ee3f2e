"""Which expressions make an object that is equal only to itself (layer: ``link``, room ``domains``).

What it does: knows functions, partial applications, objects of plain classes, and what libraries make of closures, made where
the expression stands or by the function that it calls. What it does not: follow functions that hand out what others have made.
"""

from __future__ import annotations

from collections.abc import Callable

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import Class, Descr, Ext, Func, Inst, Value, alternatives
from jitlint.link.domains.compilation.log import CompilationLog, births
from jitlint.link.domains.compilation.variation import Variation
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.code_tables import CodeTable
from jitlint.link.values import parameters, paths
from jitlint.link.values.questions.kinds import find_method, member, mro
from jitlint.syntax import ir


def new_object(log: CompilationLog, f: Frame, node: ir.Node | None, variation: Variation) -> str:
    """What an expression makes that is equal only to itself: a function, a partial, a plain object."""
    if type(node) is ir.Lambda:
        return "a new lambda"
    if type(node) is ir.FuncDef:
        return "a new inner function"
    if type(node) is ir.Attr and type(node.obj) is ir.Call:
        return _of_closures(variation.static(node.obj.func))
    if type(node) is not ir.Call:
        return ""
    if variation.dotted(node.func) in ("functools.partial", "jax.tree_util.Partial"):
        return "a new partial application"
    birth = births(f).get(node.at)
    made = birth.value if birth is not None else None
    if type(made) is Inst and equal_to_itself_only(made.cls):
        return f"a new `{made.cls.name}`"
    value = variation.static(node.func)
    if type(value) is Func:
        return "" if value.fn.node.decorators else _handed_out(log.m, value)
    maker = _class_method(variation, node.func) or _own_method(log.m, f, node.func)
    return _handed_out(log.m, *maker) if maker else _of_call(variation.static, node, value)


def _class_method(variation: Variation, node: ir.Expr) -> tuple[Func, Class] | None:
    """The method that makes objects of its class, and the class: ``Config.from_args``."""
    owner = variation.static(node.obj) if type(node) is ir.Attr else None
    if type(owner) is not Class or type(node) is not ir.Attr:
        return None
    found = member(owner.info, node.name)
    if type(found) is not Descr or found.kind != "classmethod" or type(found.func) is not Func:
        return None
    return found.func, owner


def _own_method(m: Machine, f: Frame, node: ir.Expr) -> tuple[Func] | None:
    """The method of an object that is called, if whatever the object may be has the same one."""
    owner = paths.peek(m, f, node.obj) if type(node) is ir.Attr else None
    if owner is None or type(node) is not ir.Attr:
        return None
    found = {find_method(one, node.name) if type(one) is Inst else None for one in alternatives(owner)}
    method = found.pop()
    plain = not found and type(method) is Func and not method.fn.node.decorators
    return (method,) if plain and type(method) is Func else None


def _of_closures(func: Value | None) -> str:
    """What a library makes of closures when this is called, which are others each time, or ""."""
    made = type(func) is Ext and func.dotted in lexicon().compilation.of_closures
    return f"a new `{func.dotted}`" if type(func) is Ext and made else ""


def _handed_out(m: Machine, func: Func, cls: Class | None = None) -> str:
    """What a function makes anew for everybody who calls it, whichever way it returns, or "". cls: of which it is a method."""
    fn = func.fn
    if fn.node.is_generator or fn.node.is_async:
        return ""
    table = CodeTable(fn.module, fn.body)
    made = [_made(m, func, table, node.value, cls) for node in fn.parts if type(node) is ir.Return]
    return made[0] if made and all(made) else ""


def _made(m: Machine, func: Func, table: CodeTable, node: ir.Node | None, cls: Class | None) -> str:
    """What a ``return`` gives that the function has made itself and that is equal only to itself."""
    inner = False
    if type(node) is ir.Name and node.id in func.fn.node.local_names:
        values = table.bound.get(node.id, ())
        node = values[0] if len(values) == 1 else None
        inner = type(node) is ir.FuncDef and not func.fn.module.tree.functions[node.function].decorators
    if inner or type(node) is ir.Lambda:
        return "a new inner function" if inner else "a new lambda"
    if type(node) is not ir.Call:
        return ""
    itself = cls is not None and type(node.func) is ir.Name and node.func.id == func.fn.first
    called = cls if itself else parameters.resolve(m, func.scope, node.func)
    return _of_call(lambda inner: parameters.resolve(m, func.scope, inner), node, called)


def _of_call(known: Callable[[ir.Expr], Value | None], node: ir.Call, called: Value | None) -> str:
    """What a call makes that is equal only to itself, or is compared by its fields and holds such a thing."""
    made = _of_class(called) or _of_closures(called)
    if made or type(called) is not Class or not _is_compared_by_fields(called.info):
        return made
    parts = [arg.value for arg in node.args if type(arg.value) is ir.Call]
    inside = next((how for part in parts if (how := _of_call(known, part, known(part.func)))), "")
    return f"a `{called.info.name}` with {inside}" if inside else ""


def _is_compared_by_fields(info: ClassInfo) -> bool:
    own = any("__eq__" in cls.namespace or "__hash__" in cls.namespace for cls in mro(info))
    return bool(info.shape) and not own


def _of_class(called: Value | None) -> str:
    """What a class makes whose objects are equal only to themselves, or ""."""
    if type(called) is not Class or not equal_to_itself_only(called.info):
        return ""
    return f"a new `{called.info.name}`"


def equal_to_itself_only(info: ClassInfo) -> bool:
    """Whether instances of a class are compared and hashed by identity."""
    for cls in mro(info):
        if cls.extern or cls.shape or cls.role or cls.pytree or cls.metaclass is not None:
            return False
        if any(
            type(base) is not Class and getattr(base, "dotted", "") != "builtins.object" for base in cls.bases
        ):
            return False
        if "__eq__" in cls.namespace or "__hash__" in cls.namespace:
            return False
    return True
