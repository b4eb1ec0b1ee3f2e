"""``"%d" % x``: what formatting asks of the values (layer: ``link``, room ``values``)."""

from __future__ import annotations

import re
from typing import Final

from jitlint.infer.values import STR, Map, Py, Tup, Value
from jitlint.link.engine.events import emit_format, text_of
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine

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
