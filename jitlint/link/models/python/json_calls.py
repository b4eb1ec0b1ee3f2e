"""Documents in JSON that the program itself holds (layer: ``link``, room ``models``).

What it does: reads a text that is known. What it does not: open files. Lists stay lists, whatever somebody is going to call them.
"""

from __future__ import annotations

import json
from typing import Final

from jitlint.infer.values import UNKNOWN, Value, py
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values.boxes import make_map, make_seq, only_constant

_LONGEST: Final = 100_000


def loads(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``json.loads(text)``."""
    text = only_constant(args)
    if type(text) is not str or len(text) > _LONGEST:
        return UNKNOWN
    try:
        return _value(f, json.loads(text))
    except (ValueError, RecursionError):
        return UNKNOWN


def _value(f: Frame, held: object) -> Value:
    if isinstance(held, dict):
        return make_map(f, {key: _value(f, part) for key, part in held.items()})
    if isinstance(held, list):
        return make_seq(f, "list", [_value(f, part) for part in held])
    return py(held)
