"""Functions that choose their body by the class of an argument: `functools.singledispatch` (layer: ``link``, room ``models``).

What it does: remembers what is registered, and calls what Python would call when the class is known. What it does not:
run any body when it is not. What ``@overload`` declares only takes away what the body cannot give for Python numbers. Other
libraries that dispatch are not known, and `is_one_of_many` says when a name has several bodies.
"""

from __future__ import annotations

from typing import Any, Final

from jitlint.infer.program import FuncInfo
from jitlint.infer.values import (
    UNKNOWN,
    Arr,
    Class,
    Ext,
    ExtInst,
    Func,
    Inst,
    Partial,
    Py,
    Seq,
    Tup,
    Union,
    Value,
    alternatives,
)
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import parameters
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir

DISPATCH: Final = "functools.singledispatch"
REGISTER: Final = "functools.singledispatch.register"
TRACER: Final = "jax.core.Tracer"
"""What the class of a tracer derives from. Since 0.8 it is no subclass of `jax.Array`, whatever `isinstance` says: measured."""

JAX_ARRAY: Final = "jax.Array"
HOST_ARRAY: Final = "numpy.ndarray"
_BODIES: Final = "registered"
_DEFAULT: Final = "default"


def make(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``@functools.singledispatch``."""
    default = args.pos[0] if args.pos else UNKNOWN
    return (
        ExtInst(DISPATCH, {_DEFAULT: default, _BODIES: Seq("list", [])}) if type(default) is Func else UNKNOWN
    )


def register(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``@act.register``, ``@act.register(C)``, ``act.register(C, body)``."""
    made, given = args.pos[0], args.pos[1:]
    body = given[-1] if given else UNKNOWN
    if type(body) is not Func:
        return Partial(Ext(REGISTER), [made, *given], {})
    cls: Value = given[0] if len(given) > 1 else UNKNOWN
    if len(given) == 1 and body.fn.node.params:
        cls = parameters.resolve(m, body.scope, body.fn.node.params[0].annotation)
    bodies = made.attrs[_BODIES] if type(made) is ExtInst else None
    if type(bodies) is Seq and bodies.items is not None:
        bodies.items.append(Tup((cls, body)))
    return body


def call(m: Machine, f: Frame, at: int, made: ExtInst, args: Args) -> Value:
    """Call the body for the class of the first argument; nothing when that is not certain."""
    bodies = made.attrs[_BODIES]
    found: Value = UNKNOWN
    if args.pos and type(bodies) is Seq:
        pairs = [(i.items[0], i.items[1]) for i in bodies.items or () if type(i) is Tup]
        chosen = {id(b): b for b in (_choose(m, made, a, pairs) for a in alternatives(args.pos[0]))}
        found = next(iter(chosen.values())) if len(chosen) == 1 else UNKNOWN
    return UNKNOWN if found is UNKNOWN else evaluator.call(m, f, at, found, args)


def _choose(m: Machine, made: ExtInst, value: Value, bodies: list[tuple[Value, Value]]) -> Value:
    """The body for a value, or unknown."""
    default = made.attrs[_DEFAULT]
    if type(value) is Inst:
        return _choose_by_class(value, bodies, default)
    if type(value) is not Arr or value.weak or any(not isinstance(cls, (Class, Ext)) for cls, _ in bodies):
        return UNKNOWN
    named = {cls.dotted: body for cls, body in bodies if type(cls) is Ext}
    wanted = _class_of(m, value)
    return next((named[name] for name in wanted if name in named), default)


def _class_of(m: Machine, value: Arr) -> tuple[str, ...]:
    """The class of an array, and what it derives from."""
    if not value.modes:
        return (HOST_ARRAY,) if value.host else (JAX_ARRAY,)
    return (TRACER,) if m.catalogue.view.behaves("tracer-is-no-array") else (TRACER, JAX_ARRAY)


def _choose_by_class(value: Inst, bodies: list[tuple[Value, Value]], default: Value) -> Value:
    known = {cls.info.id: body for cls, body in bodies if type(cls) is Class}
    for cls in mro(value.cls):
        if cls.id in known:
            return known[cls.id]
    opaque = value.open or any(c.extern for c in mro(value.cls)) or len(known) < len(bodies)
    return UNKNOWN if opaque else default


def is_one_of_many(fn: FuncInfo) -> bool:
    """Whether a function is one of several bodies of a name, of which a decorator that is not understood makes one."""
    own = _names(fn)
    return bool(own) and any(
        other is not fn and own & _names(other) and not other.is_stub
        for other in fn.module.namesakes(fn.qualname)
    )


def narrowed(fn: FuncInfo, bound: dict[str, Value], result: Value) -> Value:
    """What a call gives, if the function says by ``@overload`` that Python numbers give a Python number: no array then.

    It only takes away: of what the body was found to give, what the declaration rules out.
    """
    kept = tuple(a for a in alternatives(result) if type(a) is Py)
    if not kept or len(kept) == len(alternatives(result)):
        return result
    for other in fn.module.namesakes(fn.qualname):
        if other is not fn and "overload" in _names(other) and _takes(other, bound):
            plain = _named(other.node.returns) in _NUMBERS
            return (Union(kept) if len(kept) > 1 else kept[0]) if plain else result
    return result


def _takes(fn: FuncInfo, bound: dict[str, Value]) -> bool:
    """Whether a declaration is about these arguments: Python numbers where it says so, and nowhere else."""
    asked = [(bound.get(param.name, UNKNOWN), _named(param.annotation)) for param in fn.node.params]
    return all(
        type(a) is Py and a.kind in _NUMBERS.get(name, ())
        for value, name in asked
        for a in alternatives(value)
    )


def _named(node: ir.Node | None) -> str:
    return str(node.id) if type(node) is ir.Name else ""


_NUMBERS: Final = {"int": ("int", "bool"), "float": ("int", "bool", "float"), "bool": ("bool",)}
"""The kinds of values that an annotation stands for."""


def _names(fn: FuncInfo) -> set[str]:
    found: set[str] = set()
    node: Any
    for node in fn.node.decorators:
        while type(node) is ir.Call:
            node = node.func
        found.add(node.name if type(node) is ir.Attr else node.id if type(node) is ir.Name else "")
    return found - {""}
