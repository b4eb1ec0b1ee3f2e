"""Attributes of registered pytrees that flattening leaves out (layer: ``link``, room ``domains``).

JAX takes a pytree apart and puts it together again wherever it crosses a transform: what ``tree_flatten`` does not give, the
constructor makes anew, of its default. What it does: compares what a constructor stores of its parameters with what is
mentioned on the way. What it does not: speak of attributes that nobody reads, or of classes that flatten all that they have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import TransformMisuse
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.tables.storing import kept_as_given
from jitlint.link.values.questions.kinds import function_of, member
from jitlint.syntax import ir

_FLATTEN: Final = "tree_flatten"
_UNFLATTEN: Final = "tree_unflatten"
_WHOLE: Final = frozenset(
    {"__dict__", "vars", "asdict", "astuple", "getattr", "fields", "super", "copy", "replace"}
)
"""What stands for all that an object has, or for what somebody else knows."""


def check(m: Machine) -> None:
    """Record attributes that a trip through a transform sets back to their defaults."""
    for info in m.classes:
        if not info.pytree or info.extern or info.module.is_test:
            continue
        flatten, unflatten, init = (
            function_of(member(info, name)) for name in (_FLATTEN, _UNFLATTEN, "__init__")
        )
        if flatten is not None and unflatten is not None and init is not None:
            _compare(m, info, flatten, unflatten, init)


def _compare(m: Machine, info: ClassInfo, flatten: FuncInfo, unflatten: FuncInfo, init: FuncInfo) -> None:
    said = {*_mentioned(flatten), *_mentioned(unflatten)}
    own = flatten.node.params[0].name if flatten.node.params else ""
    if said & _WHOLE or _asks_itself(flatten, own) or not _is_constructed(unflatten):
        return
    for name in _stored(init):
        if name not in said and _is_read(info, name):
            frame = Frame(info.module, info.module.scope, HOST, ground="jit")
            result = next((n for n in reversed(flatten.body) if type(n) is ir.Return), None)
            m.emit(
                frame, TransformMisuse, result.at if result is not None else flatten.node.name_at, None, Confidence.LIKELY,
                where=(flatten.module.name, flatten.qualname), problem="lost-field", parameter=name, detail=info.name,
            )  # fmt: skip


def _mentioned(fn: FuncInfo) -> Iterator[str]:
    """The names, attributes, keywords and texts in a method."""
    for node in fn.parts:
        if type(node) is ir.Call:
            yield from (arg.name for arg in node.args if arg.name)
        if type(node) is ir.Const and isinstance(node.value, str):
            yield node.value
        yield last_name(node)
        if type(node) is ir.Assign:
            yield from (last_name(target) for target in node.targets)


def _asks_itself(fn: FuncInfo, own: str) -> bool:
    """Whether a method hands its object on, or calls another of its methods."""
    calls = [node for node in fn.parts if type(node) is ir.Call]
    return any(
        (type(call.func) is ir.Attr and type(call.func.obj) is ir.Name and call.func.obj.id == own)
        or any(type(arg.value) is ir.Name and arg.value.id == own for arg in call.args)
        for call in calls
    )


def _is_constructed(unflatten: FuncInfo) -> bool:
    """Whether an object is put together again by nothing but its constructor."""
    params = unflatten.node.params
    last = unflatten.body[-1] if unflatten.body else None
    call = last.value if type(last) is ir.Return else None
    return (
        bool(params)
        and type(call) is ir.Call
        and type(call.func) is ir.Name
        and call.func.id == params[0].name
    )


def _stored(init: FuncInfo) -> Iterator[str]:
    """The attributes that get a parameter with a default as it is."""
    optional = {param.name for param in init.node.params if param.default is not None}
    yield from (
        kept.name for kept, given in kept_as_given(init.node.params, init.parts) if given.id in optional
    )


def _is_read(info: ClassInfo, name: str) -> bool:
    """Whether code of the module of a class, other than its constructor, reads an attribute of such a name."""
    outside = (fn for fn in info.module.functions if fn.qualname != f"{info.qualname}.__init__")
    return any(type(part) is ir.Attr and part.name == name for fn in outside for part in fn.parts)
