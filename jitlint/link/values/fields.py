"""What a class tells about its own fields, and which of them its own flatten function makes children (layer: ``link``, room ``values``).

Projects write their own pytree dataclasses: a decorator that goes over ``cls.__dataclass_fields__``, sorts the names by their
metadata and registers a flatten function. Here the descriptions are made that such a decorator reads, and a flatten
function is asked for the children of an object whose fields are marked. What it does not: decide what is lifted.
"""

from __future__ import annotations

from typing import Any, Final

from jitlint.infer.program import ClassInfo
from jitlint.infer.values import (
    NONE,
    UNKNOWN,
    Descr,
    Ext,
    ExtInst,
    Func,
    Inst,
    Map,
    Py,
    Seq,
    Tup,
    Value,
    py,
)
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.values import pytrees
from jitlint.link.values.kinds import mro

FIELD: Final = "dataclasses.Field"
_MARK: Final = "dataclasses.Field.value"
_FLAGS: Final = ("static", "pytree_node")
_DEPTH: Final = 3


def ordered_fields(info: ClassInfo) -> dict[str, tuple[Any, Value | None]]:
    """The annotated fields of a class and its project bases in constructor order."""
    out: dict[str, tuple[Any, Value | None]] = {}
    for cls in reversed(mro(info)):
        out.update(cls.fields)
    return out


def descriptions(info: ClassInfo) -> Map:
    """``cls.__dataclass_fields__``."""
    found: dict[Any, Value] = {
        name: _description(name, default) for name, (_, default) in ordered_fields(info).items()
    }
    return Map(found)


def _description(name: str, default: Value | None) -> ExtInst:
    metadata: Value = Map({})
    shown = default if default is not None else Ext("dataclasses.MISSING")
    if type(default) is ExtInst and default.dotted.endswith("field"):
        flags: dict[Any, Value] = {key: default.attrs[key] for key in _FLAGS if key in default.attrs}
        metadata = default.attrs.get("metadata", Map(flags))
        shown = default.attrs.get("default", UNKNOWN)
    return ExtInst(
        FIELD,
        {"name": py(name), "metadata": metadata, "default": shown, "type": UNKNOWN, "init": UNKNOWN},
    )


def describe_fields(items: list[Value]) -> bool:
    """Whether a loop over these goes over the fields of a class."""
    return bool(items) and all(
        (type(i) is ExtInst and i.dotted == FIELD) or (type(i) is Tup and describe_fields(list(i.items[-1:])))
        for i in items
    )


def registered(m: Machine, f: Frame, at: int, info: ClassInfo, flatten: Value | None) -> None:
    """A class is registered with a flatten function of its own."""
    info.pytree = True
    info.data_fields = None
    func: Any = flatten.func if type(flatten) is Descr else flatten
    names = ordered_fields(info)
    if type(func) is Func:
        if names:
            info.data_fields = _children(m, f, at, info, func, list(names))
        if info.data_fields is None:
            info.data_fields = pytrees.flattened_names(func)
    info.opaque_flatten = info.data_fields is None


def _children(
    m: Machine, f: Frame, at: int, info: ClassInfo, flatten: Func, names: list[str]
) -> frozenset[str] | None:
    """The fields that the function puts among the children, None when that cannot be told."""
    probe = Inst(info, {name: ExtInst(_MARK, {"name": py(name)}) for name in names})
    frame = Frame(f.module, f.scope, HOST, ground=f.ground)
    m.timeless += 1
    result = evaluator.call(m, frame, at, flatten, Args([probe]))
    m.timeless -= 1
    if type(result) is not Tup or len(result.items) != 2:
        return None
    found = _marked(result.items[0], _DEPTH)
    return None if found is None else frozenset(found)


def _marked(value: Value, depth: int) -> set[str] | None:
    """The names of the fields inside, None when something else may be in there."""
    if type(value) is ExtInst and value.dotted == _MARK:
        name = value.attrs["name"]
        return {str(name.const)} if type(name) is Py else None
    if type(value) is Ext or value is NONE or (type(value) is Py and value.kind == "str"):
        return set()
    parts: list[Value] | None = None
    if type(value) is Tup:
        parts = list(value.items)
    elif type(value) is Seq:
        parts = value.items
    elif type(value) is Map and value.rest is None:
        parts = list(value.entries.values())
    if parts is None or not depth:
        return None
    out: set[str] = set()
    for part in parts:
        inside = _marked(part, depth - 1)
        if inside is None:
            return None
        out |= inside
    return out
