"""Calls that give the next version of a value, and change nothing, as statements (layer: ``link``, room ``domains``).

What it does: finds methods that only make another object of their class, ``state.apply_ema(decay)``, or another version of an array
that they are given, and functions that put what was stored into a frozen object, ``restore(path, state)``. What it does not: look
into methods that change something, or ask somebody unknown.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import Class, Func, Inst, Tup, Value
from jitlint.link.domains.misuse import helpers
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import by_parameter
from jitlint.link.tables.results import only_returned
from jitlint.link.values import paths
from jitlint.link.values.questions.kinds import find_method, mro
from jitlint.syntax import ir

_FROZEN_ROLES: Final = frozenset({"eqx", "struct"})
_ALSO: Final = frozenset({"evolve", "__class__"})


def method(m: Machine, base: Value | None, name: str) -> str:
    """How a method is called that does nothing but give the next version of its object, or of an array that it is given; else ""."""
    if not isinstance(base, (Inst, Tup)) or base.cls is None:
        return ""
    func = find_method(base, name)
    if type(func) is not Func or not func.fn.node.params:
        return ""
    result = only_returned(func.fn.parts)
    own = func.fn.first
    if type(result) is not ir.Call:
        return ""
    array = helpers.updated_at(m, result.func) if type(result.func) is ir.Attr else None
    given = [param.name for param in func.fn.node.params[1:]]
    is_next = type(array) is ir.Name and array.id in given
    is_next = is_next or _is_next(m, helpers.inside(func), result, own, base.cls)
    return f".{name}" if is_next and helpers.computes(m, func) else ""


def restored(m: Machine, f: Frame, node: ir.Call) -> str:
    """How a function is called that gives its argument with other fields, from what was stored; else ""."""
    func = paths.peek(m, f, node.func)
    if type(func) is not Func or func.owner is not None or func.fn.node.decorators:
        return ""
    fn, result = func.fn, only_returned(func.fn.parts)
    if type(result) is not ir.Call or not naming.has_word(fn.name, lexicon().keys.restoring):
        return ""
    inside = helpers.inside(func)
    for name, value in by_parameter(node, fn.node.params):
        held = paths.peek(m, f, value) if isinstance(value, (ir.Name, ir.Attr)) else None
        frozen = isinstance(held, (Inst, Tup)) and held.cls is not None and _is_frozen(held)
        if frozen and isinstance(held, (Inst, Tup)) and _is_next(m, inside, result, name, held.cls):
            return fn.name
    return ""


def _is_frozen(value: Inst | Tup) -> bool:
    """Whether an object refuses to be changed, and so does whatever inherits from its class."""
    if type(value) is Tup:
        return True
    line = mro(value.cls) if value.cls is not None else []
    own = any("__setattr__" in cls.namespace for cls in line)
    return not own and any(cls.frozen or cls.role in _FROZEN_ROLES for cls in line)


def _is_next(m: Machine, inside: Frame, result: ir.Call, own: str, cls: ClassInfo | None) -> bool:
    """Whether an expression is an object like the one that a variable holds."""
    func = result.func
    if type(func) is ir.Attr and type(func.obj) is ir.Name and func.obj.id == own:
        return func.name in lexicon().contracts.renewing | _ALSO
    if paths.dotted(m, inside, func) in lexicon().arrays.pure_functions:
        return any(type(arg.value) is ir.Name and arg.value.id == own for arg in result.args)
    made = paths.peek(m, inside, func)
    return type(made) is Class and made.info is cls
