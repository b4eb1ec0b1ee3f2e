"""Which fields of a new object get the size of something, as its call is written (layer: ``link``, room ``domains``).

A value that is an integer only by its annotation may be an array; ``len(x)`` and ``x.shape[0]`` are Python's own, and
weakly typed. What it does not: follow a size through a name that is bound twice, or through calls.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitlint.infer.program import ClassInfo
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import call_at, code_of, last_name
from jitlint.syntax import ir


def sized(m: Machine, f: Frame, at: int, cls: ClassInfo) -> Iterator[str]:
    """The fields that the call at a place fills with a size."""
    call = call_at(code_of(f.module, f.fn), at)
    if type(call) is not ir.Call or any(arg.star for arg in call.args) or "__init__" in cls.namespace:
        return
    bound = m.texts.table(f).bound
    for arg, field in zip(call.args, [*cls.fields, *[""] * len(call.args)]):
        value: ir.Node | None = arg.value
        if type(value) is ir.Name:
            found = bound.get(value.id, [])
            value = found[0] if len(found) == 1 else None
        if _is_size(value):
            yield arg.name or field


def _is_size(node: ir.Node | None) -> bool:
    if type(node) is ir.Call:
        return type(node.func) is ir.Name and node.func.id == "len"
    return type(node) is ir.Sub and last_name(node.obj) == "shape" and type(node.index) is ir.Const
