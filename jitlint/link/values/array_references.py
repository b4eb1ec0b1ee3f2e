"""References to arrays, `jax.new_ref(x)`: where they were made, and where they may not be written (layer: ``link``, room ``values``).

What it does: remembers the transforms around the making, and says where one that came later writes. What it does not: know what
a reference holds.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.events import TransformMisuse
from jitlint.infer.values import NONE, Arr, B, ExtInst, L, Py, Tree, Value, py
from jitlint.link.engine.domain import Store
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import OWN

REFERENCE: Final = "jax.Ref"
_AROUND: Final = "around"
_LATER: Final = {B: "B", L: "L"}


def made(f: Frame) -> ExtInst:
    """A reference that is made here."""
    return ExtInst(REFERENCE, {_AROUND: py(f.world.modes)})


def arrived() -> ExtInst:
    """A reference as the function of a transform gets it: perhaps one for each element of the batch, or with a tangent."""
    return ExtInst(REFERENCE, {_AROUND: NONE})


def store(
    m: Machine, f: Frame, at: int, obj: ExtInst, index: Value, value: Value, op: str, certain: bool
) -> None:
    """``variable[index] = value`` of a module; ``ref[index] = value``: a map writes for all its elements to one place, and a derivative has none for the tangent."""
    if obj.dotted in m.transforms.variables:
        m.domains.on_store(f, Store(at, "library", obj, None, value))
        return
    around = obj.attrs.get(_AROUND)
    known = around.const if obj.dotted == REFERENCE and type(around) is Py else None
    if type(known) is not int or f.world.kernel or not certain:
        return
    later = f.world.modes & ~known
    follows = isinstance(value, (Arr, Tree)) and value.modes & L and not value.weak
    written = B if later & B else L if later & L and follows and not f.world.modes & OWN else 0
    if written:
        m.emit(
            f, TransformMisuse, at, value if follows else None,
            transform=REFERENCE, problem="no-rule", parameter="", detail=_LATER[written],
        )  # fmt: skip
