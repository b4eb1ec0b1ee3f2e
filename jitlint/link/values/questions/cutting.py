"""Numbers with a fraction that are put into arrays of integers (layer: ``link``, room ``values``).

What it does: compares the kind of numbers of an array with that of what is set or added there, and of what fills one like it.
What it does not: guess a kind that is not seen. A number of Python's without a fraction loses nothing.
"""

from __future__ import annotations

import math

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import CutNumbers
from jitlint.infer.values import Arr, Py, Value, const_of
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import fitting

_WHOLE = ("int", "number")
_KEEPS = ("divide", "apply", "get")
"""Methods of ``x.at[i]`` that give an array of another kind of numbers, or set none."""


def check_update(m: Machine, f: Frame, at: int, arr: Arr, name: str, value: Value) -> None:
    """Record ``x.at[i].set(v)`` and the like where ``v`` has a fraction for which ``x`` has no room."""
    if name not in _KEEPS and fitting.is_sure(arr):
        _check(m, f, at, arr, value, f"x.at[i].{name}")


def check_fill(m: Machine, f: Frame, at: int, dotted: str, args: Args) -> None:
    """Record ``jnp.full_like(x, v)`` where ``v`` has a fraction for which arrays like ``x`` have no room."""
    arr, value = args.get(0, "a"), args.get(1, "fill_value")
    hidden = args.more is not None or args.kw_more is not None or args.get(2, "dtype") is not None
    if type(arr) is Arr and value is not None and not hidden and fitting.is_array(arr):
        _check(m, f, at, arr, value, dotted)


def _check(m: Machine, f: Frame, at: int, arr: Arr, value: Value, api: str) -> None:
    lost = _has_fraction(value)
    if arr.dtype in _WHOLE and lost is not None and not m.guards:
        m.emit(f, CutNumbers, at, None, lost, api=api)


def _has_fraction(value: Value) -> Confidence | None:
    """Whether a number has a fraction: certain of one, likely for an array of floats."""
    if type(value) is Py:
        const = const_of(value)
        return Confidence.CERTAIN if type(const) is float and not math.isinf(const) and const % 1 else None
    is_float = type(value) is Arr and value.dtype == "float" and fitting.is_array(value)
    return Confidence.LIKELY if is_float else None
