"""What a class hands on when an instance is flattened: its children, and what stays static (layer: ``link``, room ``values``)."""

from __future__ import annotations

import itertools
from typing import Any

from jitlint.infer.program import ClassInfo
from jitlint.infer.values import Descr, ExtInst, Func, Inst, Map, Py, Tup, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.values.arithmetic import NUMBER_KINDS
from jitlint.link.values.questions.kinds import member, mro
from jitlint.syntax import ir


def static_items(value: Tup) -> frozenset[int]:
    """The fields of a NamedTuple that its own registration keeps out of the children."""
    data = value.cls.data_fields if value.cls is not None else None
    if value.cls is None or data is None:
        return frozenset()
    return frozenset([i for i, name in enumerate(value.cls.fields) if name not in data])


def is_pytree(info: ClassInfo) -> bool:
    """Whether instances may cross a boundary: registered, or of a library class that registers its subclasses."""
    return any(cls.pytree for cls in mro(info)) or info.shape == "namedtuple"


def meta_names(info: ClassInfo) -> frozenset[str]:
    """Attributes that stay static when an instance is flattened."""
    out: frozenset[str] = frozenset()
    for cls in mro(info):
        out |= cls.meta_fields
        for name, (_, default) in cls.fields.items():
            if is_static_field(default):
                out |= {name}
    return out


def is_kept(info: ClassInfo, name: str) -> bool:
    """Whether an attribute is what a cached property keeps: no field, so no transform hands it on."""
    found = member(info, name)
    return type(found) is Descr and found.kind == "cached_property"


def is_filled(f: Frame, found: Descr, recv: Value) -> bool:
    """Whether a constructor has asked for a property before the trace began, however much is known of the object."""
    if type(recv) is not Inst or type(found.func) is not Func or recv.level >= f.world.level:
        return False
    for cls in mro(recv.cls):
        init: Any = cls.namespace.get("__init__")
        for node in init.fn.parts if type(init) is Func and init.fn.node.params else ():
            if type(node) is ir.Attr and node.name == found.func.fn.name and type(node.obj) is ir.Name:
                return bool(node.obj.id == init.fn.first) and not is_pytree(recv.cls)
    return False


def static_names(value: Inst) -> frozenset[str]:
    """Attributes of this instance that are handed on as they are: what the registration does not call data."""
    known = data_names(value.cls)
    static = meta_names(value.cls)
    return static if known is None else static | (value.attrs.keys() - known)


def kept_names(value: Inst) -> frozenset[str]:
    """The same, with those that are no leaves though nothing says so: no numbers, or of a class that nobody understands."""
    opaque = is_opaque(value.cls)
    odd = {k for k, v in value.attrs.items() if type(v) is Py and (opaque or v.kind not in NUMBER_KINDS)}
    return static_names(value) | odd


def data_names(info: ClassInfo) -> frozenset[str] | None:
    """The children, where the registration of the class itself, or of the next base that has one, says which they are.

    Each class is registered for itself: what a base says is nothing about a class with more fields.
    """
    found = _registration(info)
    return None if found is None or _has_more(info, found) else found.data_fields


def _has_more(info: ClassInfo, base: ClassInfo) -> bool:
    own = itertools.takewhile(lambda cls: cls is not base, mro(info))
    return any(cls.fields or "__init__" in cls.namespace for cls in own)


def _registration(info: ClassInfo) -> ClassInfo | None:
    return next((c for c in mro(info) if c.data_fields is not None or c.opaque_flatten), None)


def is_opaque(info: ClassInfo) -> bool:
    """Whether a flatten function that is not understood looks at the values to say which are children."""
    return data_names(info) is None and _registration(info) is not None


_WITH_LEAVES = ("", "eqx", "struct")
"""The roles of classes all of whose fields are children, but for those that say otherwise."""


def child_names(value: Inst) -> list[str] | None:
    """The attributes of an instance that are its children, if it is known which these are."""
    plain = value.cls.role in _WITH_LEAVES and is_pytree(value.cls)
    if not plain or value.open or is_opaque(value.cls):
        return None
    static = static_names(value)
    return [name for name in value.attrs if name not in static]


def says_children(info: ClassInfo) -> bool:
    """Whether it is known which attributes are children: by the class's registration, or as its library makes fields of them."""
    if data_names(info) is not None:
        return True
    made = info.role in _WITH_LEAVES[1:] or any(cls.constructed for cls in mro(info))
    return made and not info.extern and not is_opaque(info)


def is_static_field(default: Value | None) -> bool:
    """``field(static=True)``, ``field(pytree_node=False)``, ``metadata=dict(static=True)``."""
    if type(default) is not ExtInst:
        return False
    static, node = default.attrs.get("static"), default.attrs.get("pytree_node")
    if (type(static) is Py and static.const is True) or (type(node) is Py and node.const is False):
        return True
    metadata = default.attrs.get("metadata")
    if type(metadata) is Map:
        flag, node = metadata.entries.get("static"), metadata.entries.get("pytree_node")
        return (type(flag) is Py and flag.const is True) or (type(node) is Py and node.const is False)
    return False
