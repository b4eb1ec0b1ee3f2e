"""Attributes of registered pytrees that flattening leaves out (layer: ``link``, room ``domains``).

JAX takes a pytree apart and puts it together again wherever it crosses a transform: what ``tree_flatten``, or the function in its place,
does not give, the constructor makes anew, of its default. What it does: compares what a constructor stores of its parameters with what
is mentioned on the way, be it in a list of names that the class keeps. What it does not: speak of attributes that nobody reads, or of
classes that flatten all that they have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import TransformMisuse
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import Bound, Seq, Tup, Value, const_of
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import last_name, path_text, written_at
from jitlint.link.tables.storing import kept_as_given
from jitlint.link.values.iteration import known_items
from jitlint.link.values.questions.kinds import function_of, member
from jitlint.syntax import ir

_FLATTEN: Final = "tree_flatten"
_UNFLATTEN: Final = "tree_unflatten"
_WHOLE: Final = frozenset(
    {"__dict__", "vars", "asdict", "astuple", "getattr", "fields", "super", "copy", "replace"}
)
"""What stands for all that an object has, or for what somebody else knows."""
_ASKS: Final = frozenset({"getattr"})


def check(m: Machine) -> None:
    """Record attributes that a trip through a transform sets back to their defaults."""
    for info in m.classes:
        if not info.pytree or (info.extern and info.rebuilt is None) or info.module.is_test:
            continue
        flatten, unflatten = map(
            _function, info.rebuilt or (member(info, _FLATTEN), member(info, _UNFLATTEN))
        )
        init = function_of(member(info, "__init__"))
        if flatten is not None and unflatten is not None and init is not None:
            _compare(m, info, flatten, unflatten, init)


def _function(value: Value | None) -> FuncInfo | None:
    return function_of(value.func if type(value) is Bound else value)


def _compare(m: Machine, info: ClassInfo, flatten: FuncInfo, unflatten: FuncInfo, init: FuncInfo) -> None:
    said = {*_mentioned(flatten), *_mentioned(unflatten)}
    own = flatten.first
    listed = _listed(info, flatten, own)
    names = _texts(member(info, listed))
    whole = said & (_WHOLE - _ASKS if names else _WHOLE)
    if whole or _asks_itself(flatten, own) or not _is_constructed(info, unflatten):
        return
    frame = Frame(info.module, info.module.scope, HOST, ground="jit")
    at = written_at(info.module.tree.body, info.qualname, listed)
    where = (info.module.name, info.qualname) if at else (flatten.module.name, flatten.qualname)
    for name, given in _stored(init):
        if said.isdisjoint((name, given)) and name not in names and _is_read(info, name):
            m.emit(
                frame, TransformMisuse, at or _given_at(flatten), None, Confidence.LIKELY,
                where=where, problem="lost-field", parameter=name, detail=info.name,
            )  # fmt: skip


def _given_at(flatten: FuncInfo) -> int:
    """Where a function says what the parts of an object are."""
    result = next((node for node in reversed(flatten.body) if type(node) is ir.Return), None)
    return result.at if result is not None else flatten.node.name_at


def _listed(info: ClassInfo, flatten: FuncInfo, own: str) -> str:
    """The attribute of a class with the names of those that are given, ``tuple(getattr(self, name) for name in self.names)``, or ""."""
    for node in flatten.parts:
        asked = node.elt if type(node) is ir.Comp and len(node.fors) == 1 else None
        if type(node) is ir.Comp and type(asked) is ir.Call and last_name(asked.func) in _ASKS:
            names = node.fors[0].iter
            if type(names) is ir.Attr and own and path_text(names.obj) in (own, info.name):
                return names.name
    return ""


def _texts(value: Value | None) -> frozenset[str]:
    """The texts in a tuple or list of nothing else."""
    items = [const_of(item) for item in known_items(value) or ()] if isinstance(value, (Tup, Seq)) else []
    texts = frozenset(item for item in items if isinstance(item, str))
    return texts if len(texts) == len(items) else frozenset()


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
    calls = [node for node in fn.parts if type(node) is ir.Call and last_name(node.func) not in _ASKS]
    return any(
        (type(call.func) is ir.Attr and type(call.func.obj) is ir.Name and call.func.obj.id == own)
        or any(type(arg.value) is ir.Name and arg.value.id == own for arg in call.args)
        for call in calls
    )


def _is_constructed(info: ClassInfo, unflatten: FuncInfo) -> bool:
    """Whether an object is put together again by nothing but its constructor."""
    params = unflatten.node.params
    last = unflatten.body[-1] if unflatten.body else None
    call = last.value if type(last) is ir.Return else None
    return (
        bool(params)
        and type(call) is ir.Call
        and type(call.func) is ir.Name
        and call.func.id in (params[0].name, info.name)
    )


def _stored(init: FuncInfo) -> Iterator[tuple[str, str]]:
    """The attributes that get a parameter with a default as it is, with the parameter."""
    optional = {param.name for param in init.node.params if param.default is not None}
    kept = kept_as_given(init.node.params, init.parts)
    yield from ((place.name, given.id) for place, given in kept if given.id in optional)


def _is_read(info: ClassInfo, name: str) -> bool:
    """Whether code of the module of a class, other than its constructor, reads an attribute of such a name."""
    outside = (fn for fn in info.module.functions if fn.qualname != f"{info.qualname}.__init__")
    return any(type(part) is ir.Attr and part.name == name for fn in outside for part in fn.parts)
