"""Calls under a transform that they have no rule for: callbacks, functions with a rule for one direction (layer: ``link``, room ``models``).

What it does: looks for arguments that are traced in such a mode. What it does not: speak of functions whose body JAX does not
transform, because they have a rule of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from jitlint.catalogue.transforms import HigherOrder, Lack, Wrap
from jitlint.infer.events import TransformMisuse
from jitlint.infer.lattice import traced_modes
from jitlint.infer.values import NONE, TRUE, Arr, L, Map, Seq, Tree, Tup, Value, mode_letters
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import OWN, SPREAD
from jitlint.link.values import pytrees

_DEPTH = 3


def check(
    m: Machine, f: Frame, at: int, spec: Wrap | HigherOrder, given: Sequence[Value], options: dict[str, Value]
) -> None:
    """A function is called that lacks rules. given: the arguments that are transformed."""
    for lack in spec.lacks:
        if f.world.looks or not _applies(m, lack, options):
            continue
        if f.world.modes & (OWN if lack.modes & L else SPREAD):
            continue
        found = next((leaf for value in given if (leaf := _leaf(value, lack, f.world.pushed))), None)
        if found is not None:
            m.emit(
                f, TransformMisuse, at, found,
                transform=spec.name, problem="no-rule", parameter=lack.given or next(iter(lack.missing), ""),
                detail=mode_letters(lack.modes),
            )  # fmt: skip
            return


def _applies(m: Machine, lack: Lack, options: dict[str, Value]) -> bool:
    if lack.behaviour and m.catalogue.view.behaves(lack.behaviour) is not True:
        return False
    if any(options.get(name, NONE) is not NONE for name in lack.missing):
        return False
    return not lack.given or options.get(lack.given) is TRUE


def _leaf(value: Value, lack: Lack, pushed: int, depth: int = _DEPTH) -> Arr | Tree | None:
    """A leaf that is certainly traced in such a mode."""
    if isinstance(value, (Arr, Tree)):
        inside = not lack.pushed or 0 < pushed <= value.level
        return value if value.modes & lack.modes and not value.weak and inside else None
    if not depth or not isinstance(value, (Tup, Seq, Map)) or not traced_modes(value) & lack.modes:
        return None
    parts = pytrees.children(value) or ()
    return next((leaf for part in parts if (leaf := _leaf(part, lack, pushed, depth - 1))), None)
