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
    Bound,
    Descr,
    Ext,
    ExtInst,
    Func,
    Inst,
    Map,
    Method,
    Partial,
    Py,
    Seq,
    Tup,
    Value,
    Xform,
    py,
)
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.results import only_returned
from jitlint.link.values.flattening import is_static_field
from jitlint.link.values.questions.kinds import constant_strings, member, mro
from jitlint.syntax import ir

_FUNCTIONS: Final = (Bound, Ext, Func, Method, Partial, Xform)
FIELD: Final = "dataclasses.Field"
_MARK: Final = "dataclasses.Field.value"
CHILD_NAME: Final = "jax.tree_util.KeyEntry"
"""What stands beside a child to say which one it is, and is none itself."""
_FLAGS: Final = ("static", "pytree_node")
_DEPTH: Final = 3


def ordered_fields(info: ClassInfo) -> dict[str, tuple[ir.Expr | None, Value | None]]:
    """The annotated fields of a class and its project bases in constructor order: what a plain base annotates is no field."""
    out: dict[str, tuple[ir.Expr | None, Value | None]] = {}
    for cls in reversed(mro(info)):
        if cls is info or cls.shape or cls.role or cls.pytree or (cls.extern and not cls.handed):
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
    func = flatten.func if type(flatten) is Descr else flatten
    names = ordered_fields(info)
    if type(func) is Func:
        if names and "__init__" not in info.namespace:  # a constructor of its own may add any
            info.data_fields = _children(m, f, at, info, func, list(names))
        if info.data_fields is None:
            info.data_fields = _through_properties(info, flattened_names(func))
    info.opaque_flatten = info.data_fields is None


def _through_properties(info: ClassInfo, names: frozenset[str] | None) -> frozenset[str] | None:
    """The attributes that are children, where some are given by properties; None when a property is not understood."""
    out: set[str] = set()
    for name in names or ():
        found = member(info, name)
        if type(found) is not Descr or type(found.func) is not Func:
            out.add(name)
            continue
        given = only_returned(found.func.fn.parts)
        own = found.func.fn.first
        read = _self_attributes(given, {own: {""}}) if given is not None else set[str]()
        if not read or "" in read:
            return None
        out |= read
    return None if names is None else frozenset(out)


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
    if type(value) is ExtInst and value.dotted == CHILD_NAME:
        return set()
    parts = _all_parts(value)
    if parts is None or not depth:
        return None
    out: set[str] = set()
    for part in parts:
        inside = _marked(part, depth - 1)
        if inside is None:
            return None
        out |= inside
    return out


def _all_parts(value: Value) -> list[Value] | None:
    """What is in a container, if all of it is known."""
    if type(value) is Tup:
        return list(value.items)
    if type(value) is Seq:
        return value.items
    return list(value.entries.values()) if type(value) is Map and value.rest is None else None


def mark_fields(info: ClassInfo, kind: str, options: dict[str, Value]) -> None:
    """Find out which attributes of a registered class are data and which are static."""
    if kind == "register_dataclass":
        data, meta = options.get("data_fields"), options.get("meta_fields")
        if data is not None:
            info.data_fields = frozenset(constant_strings(data))
            info.opaque_flatten = not _is_known(data)
        if meta is not None:
            info.meta_fields = frozenset(constant_strings(meta))
        if data is None and meta is None and not options.keys() - {"nodetype"} and _says_all(info):
            own = {name for name, (_, default) in info.fields.items() if not is_static_field(default)}
            info.data_fields = frozenset(own)


def _says_all(info: ClassInfo) -> bool:
    """Whether a dataclass has no fields but its own."""
    return info.shape == "dataclass" and bool(info.fields) and not any(cls.fields for cls in mro(info)[1:])


def _is_known(names: Value) -> bool:
    items = _all_parts(names)
    return items is not None and len(constant_strings(names)) == len(items)


def flattened_names(flatten: Func) -> frozenset[str] | None:
    """The attributes that a ``tree_flatten`` method puts among the children, read from its syntax."""
    first = flatten.fn.first
    local: dict[str, set[str]] = {first: {""}}
    pairs: dict[str, ir.Expr] = {}
    for stmt in flatten.fn.body:
        if type(stmt) is ir.Assign and type(stmt.targets[0]) is ir.Name:
            name = stmt.targets[0].id
            local[name], pairs[name] = _self_attributes(stmt.value, local), stmt.value
        elif type(stmt) is ir.Return:
            pair = pairs.get(stmt.value.id) if type(stmt.value) is ir.Name else stmt.value
            if type(pair) is not ir.Tuple or not pair.elts:
                continue
            children = pair.elts[0]
            names = _self_attributes(children, local)
            empty = isinstance(children, (ir.Tuple, ir.List)) and not children.elts
            return frozenset(names) if (names or empty) and "" not in names else None
    return None


def _self_attributes(node: ir.Expr, local: dict[str, set[str]]) -> set[str]:
    if type(node) is ir.Attr and type(node.obj) is ir.Name and local.get(node.obj.id) == {""}:
        return {node.name}
    if type(node) is ir.Name:
        return local.get(node.id, set())
    out: set[str] = set()
    if isinstance(node, (ir.Tuple, ir.List)):
        for part in node.elts:
            out |= _self_attributes(part, local)
    elif type(node) is ir.Call:
        for arg in node.args:
            out |= _self_attributes(arg.value, local)
    elif type(node) is ir.BinOp:
        out = _self_attributes(node.left, local) | _self_attributes(node.right, local)
    return out


def keeps_function(obj: Value, name: str) -> bool:
    """Whether a field of a state holds a function, which the states that are made of this one go on with."""
    if type(obj) is not Inst or not (obj.cls.pytree or obj.cls.role):
        return False
    return isinstance(obj.attrs.get(name), _FUNCTIONS)
