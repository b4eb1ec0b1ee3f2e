"""Updates at indices of which some stand for *nothing* (layer: ``link``, room ``values``).

JAX counts negative indices from the end, in every mode, so that what is padded with -1 goes to the last element. What it does: finds
updates by a number, which nobody has masked, at such indices, and any that ask JAX to leave out what is out of bounds, at cells that
may lie on the other side of a border too. What it does
not: speak of other readings, which somebody may mask later.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import PaddingIndex
from jitlint.infer.values import Arr, Tup, Value, const_of
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine

_CHANGES = ("add", "set", "subtract", "multiply", "mul", "max", "min")
_LEAVING_OUT = ("drop", "fill")
"""Modes that nobody asks for but to have what is out of bounds left out."""
_AS_IT_IS = "wrap_negative_indices"


def check(m: Machine, f: Frame, at: int, index: Value, name: str, args: Args) -> None:
    """Record ``x.at[i].add(1)`` where ``i`` is padded with -1."""
    parts = index.items if type(index) is Tup else (index,)
    padding = index.about.padding if type(index) is Arr else None
    cells = any(type(part) is Arr and part.about.cells for part in parts)
    if (padding is None and not cells) or _AS_IT_IS in args.kw:
        return
    value = args.pos[0] if args.pos else None
    plain = name in _CHANGES and value is not None and isinstance(const_of(value), (int, float))
    mode = args.kw.get("mode")
    leaves_out = mode is not None and const_of(mode) in _LEAVING_OUT
    if padding is not None and (plain or leaves_out):
        m.emit(f, PaddingIndex, at, None, Confidence.LIKELY, padding=padding, update=name)
    elif cells and leaves_out:
        m.emit(f, PaddingIndex, at, None, Confidence.LIKELY, padding=0, update=name)
