"""Attributes of objects of the project that neither they nor their classes hold (layer: ``link``, room ``values``).

What it does: knows the names that every object has, and hands on what ``__getattr__`` hands on to the object that it wraps. What it does
not: follow any other way to answer.
"""

from __future__ import annotations

from jitlint.infer.values import STR, UNKNOWN, Class, Func, Inst, Map, Value
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import fields
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir


def of_every_object(obj: Inst, name: str) -> Value | None:
    """What an attribute is that Python gives to all objects, or to all of a dataclass."""
    if name == "__class__":
        return Class(obj.cls)
    if name == "__dataclass_fields__":
        return fields.descriptions(obj.cls)
    return Map(dict(obj.attrs), UNKNOWN, obj.level, None, STR) if name == "__dict__" else None


def wrapped(obj: Inst, name: str) -> Value | None:
    """The object that is asked instead: ``__getattr__`` does nothing but that, for all names but private ones perhaps."""
    method = find_method(obj, "__getattr__")
    if type(method) is not Func or name.startswith("_") or len(method.fn.node.params) != 2:
        return None
    returned = [part.value for part in method.fn.parts if type(part) is ir.Return]
    field = _asked_of(method, returned[0]) if len(returned) == 1 else ""
    return obj.attrs.get(field) if field else None


def _asked_of(method: Func, node: ir.Node | None) -> str:
    """The field of ``self`` that ``getattr(self.field, name)`` asks, "" for another expression."""
    if type(node) is not ir.Call or last_name(node.func) != "getattr" or len(node.args) != 2:
        return ""
    owner, asked = (arg.value for arg in node.args)
    this, key = (param.name for param in method.fn.node.params)
    if type(asked) is not ir.Name or asked.id != key or type(owner) is not ir.Attr:
        return ""
    return owner.name if type(owner.obj) is ir.Name and owner.obj.id == this else ""
