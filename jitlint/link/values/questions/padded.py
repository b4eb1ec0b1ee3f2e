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
    padding, cells = index.about.padding if type(index) is Arr else None, _counts_cells(index)
    if (padding is None and not cells) or _AS_IT_IS in args.kw:
        return
    mode = args.kw.get("mode")
    leaves_out = mode is not None and const_of(mode) in _LEAVING_OUT
    if (padding is not None and _is_plain(name, args)) or leaves_out:
        m.emit(f, PaddingIndex, at, None, Confidence.LIKELY, padding=padding or 0, update=name)


def _counts_cells(index: Value) -> bool:
    """Whether an index, or one of several, counts cells from a border."""
    parts = index.items if type(index) is Tup else (index,)
    return any(type(part) is Arr and part.about.cells for part in parts)


def _is_plain(name: str, args: Args) -> bool:
    """Whether an update is one by a mere number."""
    value = args.pos[0] if args.pos else None
    return name in _CHANGES and value is not None and isinstance(const_of(value), (int, float))
