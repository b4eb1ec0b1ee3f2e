"""``"%d" % x`` and ``f"{x}"``: what formatting asks of the values (layer: ``link``, room ``values``)."""

from __future__ import annotations

import re
from typing import Final

from jitlint.infer.values import STR, Map, Py, Tup, Value
from jitlint.link.engine import evaluator
from jitlint.link.engine.events import emit_format, text_of
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import callbacks
from jitlint.syntax import ir

_CONVERSION: Final = re.compile(r"%(?:\((\w*)\))?[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?(.)")


_ANY_OBJECT: Final = "rsa%"


def percent(m: Machine, f: Frame, at: int, text: Py, value: Value) -> Value:
    """``"%d" % x``: %s and %r accept tracers, numeric conversions do not."""
    if not isinstance(text.const, str):
        return STR
    found = [match for match in _CONVERSION.findall(text.const) if match[1] != "%"]
    for i, (name, letter) in enumerate(found):
        if letter in _ANY_OBJECT:
            continue
        part: Value | None = value
        if type(value) is Map:
            part = value.entries.get(name)
        elif type(value) is Tup:
            part = value.items[i] if i < len(value.items) else None
        if part is not None and emit_format(m, f, at, part, "%"):
            return STR
    return text_of([value])


def interpolated(m: Machine, f: Frame, node: ir.Fstr) -> Value:
    """``f"{x:.2f}"``: a specification is the business of the value."""
    shown: list[Value] = []
    refused = False
    for part in node.parts:
        value = evaluator.evaluate(m, f, part.value)
        shown.append(value)
        asked = ("__repr__",) if part.conv == "r" else ("__format__", "__str__", "__repr__")
        callbacks.run_implied(m, f, part.value.at, value, asked)
        if part.spec and part.conv is None:
            refused |= emit_format(m, f, part.value.at, value, "f-string")
        for inner in part.spec_parts:
            evaluator.evaluate(m, f, inner.value)
    return text_of(shown) if f.world.floor and not refused else STR
