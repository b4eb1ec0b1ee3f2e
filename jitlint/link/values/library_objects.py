"""Objects that libraries make: how many transforms were around the place that made one (layer: ``link``, room ``values``)."""

from __future__ import annotations

from typing import Final

from jitlint.infer.values import ExtInst, Py, py
from jitlint.link.engine.machine import Frame

LEVEL: Final = "$level"
"""The attribute in which a library object remembers it."""


def made(f: Frame, dotted: str) -> ExtInst:
    """An object that a library made here."""
    return ExtInst(dotted, {LEVEL: py(f.world.level)} if f.world.level else None)


def level_of(obj: ExtInst) -> int:
    """How many transforms were around the place that made the object."""
    level = obj.attrs.get(LEVEL)
    return level.const if type(level) is Py and type(level.const) is int else 0
