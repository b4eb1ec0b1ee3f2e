"""What classes declare of their fields: arrays that are static, and what is no array beside static fields (layer: ``link``, room ``domains``).

A static field is a part of the type of an object: JAX compares it from call to call, and arrays have no truth to give.
A field that is not static is an argument, and what is neither an array nor a pytree is refused there. The transforms of
Equinox let it pass, so that a class without static fields may be meant for them alone; one that keeps some of its fields
static has forgotten this one. What it does: reads the fields of dataclasses that are pytrees. What it does not: look at values;
an annotation that only allows arrays says nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import TransformMisuse
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import NONE, Arr, Class, Ext, Inst, Value, alternatives
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import class_at, written_at
from jitlint.link.values import flattening, parameters
from jitlint.link.values.questions import no_arrays
from jitlint.link.values.questions.kinds import converts, mro
from jitlint.syntax import ir

_SETS: Final = {
    "builtins.set": "set",
    "builtins.frozenset": "frozenset",
    "typing.Set": "set",
    "typing.FrozenSet": "frozenset",
    "typing.AbstractSet": "set",
}
"""Annotations of what has no order, so that it is never a pytree."""


def check(m: Machine, told: Container[tuple[int, str]]) -> None:
    """Record what fields are by their annotation, and should not be. told: classes and fields that were seen to hold an array."""
    for info in m.classes:
        if info.module.is_test or not (info.role or flattening.is_pytree(info)):
            continue
        static = flattening.meta_names(info)
        for name, (annotation, default) in info.fields.items():
            if _is_declared(info, name, default):
                known = info.role or (info.constructed and (info.id, name) not in told)
                if known and _is_array(m, info, annotation):
                    _report(m, info, name, "static-array-field", info.name)
            elif name in _leaves(info, static) and not converts(default):
                held = _no_array(m, info, annotation)
                if held:
                    _report(m, info, name, "non-array-field", f"{info.name} {held} {min(static)}")


def _is_declared(info: ClassInfo, name: str, default: Value | None) -> bool:
    return flattening.is_static_field(default) or (info.constructed and name in info.meta_fields)


def _leaves(info: ClassInfo, static: frozenset[str]) -> Collection[str]:
    """The fields that transforms look into, of a class that keeps others from them."""
    data = flattening.data_names(info)
    if not static or any(cls.opaque_flatten for cls in mro(info)):
        return ()
    return info.fields.keys() - static if data is None else data - static


def _is_array(m: Machine, info: ClassInfo, annotation: ir.Expr | None) -> bool:
    named = parameters.resolve(m, info.scope, annotation)
    if type(named) is Ext and named.dotted in lexicon().types.holders:
        return True
    value = parameters.value_of(m, info.scope, annotation)
    return type(value) is Arr and not value.host and not parameters.may_be_python(m, info.scope, annotation)


def _no_array(m: Machine, info: ClassInfo, annotation: ir.Expr | None) -> str:
    """What a field holds that no transform of JAX takes, or ""."""
    base = parameters.resolve(m, info.scope, annotation.obj if type(annotation) is ir.Sub else annotation)
    if type(base) is Ext and base.dotted in _SETS:
        return _SETS[base.dotted]
    value = parameters.value_of(m, info.scope, annotation)
    parts = () if value is None else alternatives(value)
    held = [alt for alt in parts if type(alt) is Inst and alt.cls.shape == "dataclass"]
    if not held or not all(alt in held or alt is NONE for alt in parts):
        return ""
    return held[0].cls.name if all(_is_plain(m, alt) for alt in held) else ""


def _is_plain(m: Machine, value: Inst) -> bool:
    """Whether an object is no pytree, and no library that is not known may have made it one."""
    if not value.cls.extern:
        return bool(no_arrays.not_an_array(m, value))
    words = lexicon().types
    plain = words.harmless_bases | words.plain_bases
    return not flattening.is_pytree(value.cls) and all(
        all(type(base) is Class or (type(base) is Ext and base.dotted in plain) for base in cls.bases)
        and _is_dataclass_only(m, cls)
        for cls in mro(value.cls)
    )


def _is_dataclass_only(m: Machine, info: ClassInfo) -> bool:
    """Whether nothing else decorates a class."""
    node = class_at(info.module.tree.body, info.qualname)
    named = (
        [part.func if type(part) is ir.Call else part for part in node.decorators] if node is not None else []
    )
    made = [parameters.resolve(m, info.scope, part) for part in named]
    return node is not None and all(
        type(one) is Ext and one.dotted == "dataclasses.dataclass" for one in made
    )


def _report(m: Machine, info: ClassInfo, name: str, problem: str, detail: str) -> None:
    at = written_at(info.module.tree.body, info.qualname, name)
    if at:
        frame = Frame(info.module, info.module.scope, HOST, ground="jit")
        m.emit(
            frame, TransformMisuse, at, None, Confidence.LIKELY, (info.module.name, info.qualname),
            problem=problem, parameter=name, detail=detail,
        )  # fmt: skip
