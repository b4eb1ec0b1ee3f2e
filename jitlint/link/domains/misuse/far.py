"""Numbers of NumPy that come to JAX though 32 bits have no room for them (layer: ``link``, room ``domains``).

What it does: asks what lies around a constant far from 0 whether it becomes an array of JAX, in a program that never turns 64
bits on. What it does not: look at numbers whose data type somebody names, who knows what is lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.dtypes import STRONG, exact_of, without_star
from jitlint.infer.events import FarNumbers
from jitlint.infer.values import NONE, Arr, Inst, S, Value
from jitlint.link.domains.misuse.wide import NeverOn
from jitlint.link.engine.domain import Library, Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import pytrees
from jitlint.link.values.questions.about import WHOLE

_WIDE = (None, STRONG, "float", "float64", "int", "int64", "uint", "uint64")
"""Exact dtypes that numbers of NumPy may have which nobody made narrower; None is any, as is one of several."""
_DEEP = 4
"""So far down a pytree is looked at."""


def heard(m: Machine, f: Frame, library: Library, when: NeverOn) -> None:
    """A function makes arrays of JAX of what it gets."""
    if library.args.get(1, "dtype") in (None, NONE) or library.dotted == "jax.device_put":
        _check(m, f, library.at, library.args.pos[:1], when)


def arrived(m: Machine, f: Frame, transformed: Transformed, when: NeverOn) -> None:
    """Arguments come to a compiled function."""
    if transformed.x.spec.modes & S and not f.world.level:
        _check(m, f, transformed.at, [*transformed.args.pos, *transformed.args.kw.values()], when)


def _check(m: Machine, f: Frame, at: int, values: list[Value], when: NeverOn) -> None:
    for array in (array for value in values for array in _arrays(value, _DEEP)):
        whole = array.dtype in ("int", "number")
        exact = exact_of(array.dtype)
        wide = array.host and (None if exact is None else without_star(exact)) in _WIDE
        place = array.about.around if wide else 0
        if place and (not whole or abs(place) >= WHOLE):
            m.emit(
                f, FarNumbers, at, None, Confidence.LIKELY, when=(when,), around=place, whole=whole
            )  # fmt: skip
            return


def _arrays(value: Value, depth: int) -> Iterator[Arr]:
    if type(value) is Arr:
        yield value
        return
    for part in (pytrees.children(value) or ()) if depth and not isinstance(value, Inst) else ():
        yield from _arrays(part, depth - 1)
