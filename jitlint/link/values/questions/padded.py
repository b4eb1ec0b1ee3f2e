"""Updates at indices of which some stand for *nothing* (layer: ``link``, room ``values``).

JAX counts negative indices from the end, in every mode, so that what is padded with -1 goes to the last element. What it does: finds
updates by a number, which nobody has masked, at such indices. What it does not: speak of readings, which somebody may mask later.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import PaddingIndex
from jitlint.infer.values import Arr, Value, const_of
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine

_CHANGES = ("add", "set", "subtract", "multiply", "mul", "max", "min")
_AS_IT_IS = "wrap_negative_indices"


def check(m: Machine, f: Frame, at: int, index: Value, name: str, args: Args) -> None:
    """Record ``x.at[i].add(1)`` where ``i`` is padded with -1."""
    value = args.pos[0] if args.pos else None
    plain = value is not None and isinstance(const_of(value), (int, float))
    padding = index.about.padding if type(index) is Arr else None
    if padding is not None and plain and name in _CHANGES and _AS_IT_IS not in args.kw:
        m.emit(f, PaddingIndex, at, None, Confidence.LIKELY, padding=padding, update=name)
