"""Arrays that a class declares to be static (layer: ``link``, room ``domains``).

A static field is a part of the type of an object: JAX compares it from call to call, and arrays have no truth to give.
What it does: reads the fields of pytrees of a library. What it does not: look at values; an annotation that only allows
arrays says nothing.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import TransformMisuse
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import Arr, Ext
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import written_at
from jitlint.link.values import parameters, pytrees
from jitlint.syntax import ir


def check(m: Machine) -> None:
    """Record the static fields that are arrays by their annotation."""
    for info in m.classes:
        if info.module.is_test or not info.role:
            continue
        for name, (annotation, default) in info.fields.items():
            if pytrees.is_static_field(default) and _is_array(m, info, annotation):
                _report(m, info, name)


def _is_array(m: Machine, info: ClassInfo, annotation: ir.Expr | None) -> bool:
    named = parameters.resolve(m, info.scope, annotation)
    if type(named) is Ext and named.dotted in lexicon().types.holders:
        return True
    value = parameters.value_of(m, info.scope, annotation)
    return type(value) is Arr and not value.host and not parameters.may_be_python(m, info.scope, annotation)


def _report(m: Machine, info: ClassInfo, name: str) -> None:
    at = written_at(info.module.tree.body, info.qualname, name)
    if at:
        frame = Frame(info.module, info.module.scope, HOST, ground="jit")
        m.emit(
            frame, TransformMisuse, at, None, Confidence.LIKELY, (info.module.name, info.qualname),
            problem="static-array-field", parameter=name, detail=info.name,
        )  # fmt: skip
