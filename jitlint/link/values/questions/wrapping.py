"""Differences of unsigned integers, which wrap around below zero (layer: ``link``, room ``values``).

What it does: finds subtractions of two arrays that certainly are of small unsigned integers, such as pictures, and of a whole number
from one, such as the middle of their range. What it does not: speak of functions that work on bits, where numbers are meant to wrap, of
arrays of 32 bits, which hashes are made of, or of small numbers, with which places are counted.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue import dtypes
from jitlint.infer.events import WrappedDifference
from jitlint.infer.grounds import SEEN
from jitlint.infer.values import NONE, Arr, Value, alternatives, const_of
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.syntax import ir

_SMALL: Final = frozenset({"uint8", "uint16"})
_SHIFT: Final = 16
_BITS: Final = frozenset({"&", "|", "^", "<<", ">>", "~", "%"})


def check(m: Machine, f: Frame, at: int, op: str, pair: tuple[Value, Value]) -> None:
    """Record a difference that wraps around wherever it would be negative."""
    if op != "-":
        return
    const = const_of(pair[1])
    is_shift = type(const) is int and const >= _SHIFT
    found = {_small(value) for value in (pair[:1] if is_shift else pair)}
    dtype = found.pop()
    parts = f.fn.parts if f.fn is not None else ()
    if dtype and not found and not any(map(_is_of_bits, parts)):
        number = str(const) if is_shift else ""
        m.emit(f, WrappedDifference, at, None, Confidence.LIKELY, dtype=dtype, number=number)


def _small(value: Value) -> str:
    """The dtype of an array of JAX's that has small unsigned integers, else ""; there may be none yet."""
    arrays = [alt for alt in alternatives(value) if alt is not NONE]
    found = {_of_array(alt) for alt in arrays}
    return found.pop() if len(found) == 1 else ""


def _of_array(value: Value) -> str:
    if type(value) is not Arr or value.host or value.kind is not SEEN:
        return ""
    exact = dtypes.exact_of(value.dtype)
    return exact if exact in _SMALL else ""


def _is_of_bits(part: ir.Node) -> bool:
    return isinstance(part, (ir.BinOp, ir.AugAssign, ir.UnaryOp)) and part.op in _BITS
