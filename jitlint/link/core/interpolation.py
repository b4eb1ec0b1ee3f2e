"""``f"{x:.2f}"``: what an f-string asks of the values in it (layer: ``link``, room ``core``)."""

from __future__ import annotations

from jitlint.infer.values import STR, Value
from jitlint.link.engine import evaluator
from jitlint.link.engine.events import emit_format, text_of
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import callbacks
from jitlint.syntax import ir


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
