"""Models from outside of a trace that are in the mode for training (layer: ``link``, room ``domains``).

Layers of `flax.nnx` that drop numbers count their draws, and those that measure batches keep what they measure: in a trace that
began after the model was made, and was not given it, Flax refuses that. What it does: sees which marks come out of a function that is
transformed by a variable that it was not given, and in which mode the model was then. What it does not: know the mode of a model
whose maker nobody knows.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import REFUSED, Leak
from jitlint.infer.places import Step
from jitlint.link.domains.modes.marks import (
    CAPTURED,
    CHECKS,
    FAR,
    LEARNS,
    RUNS,
    TRAIN,
    Mark,
    Path,
    modes_set,
    note,
    outermost,
)
from jitlint.link.engine.domain import Activation
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found


class Captured:
    """Knows whether a program ever turns to evaluation."""

    def __init__(self, m: Machine) -> None:
        self._m = m
        self.evaluates = False

    def crossed(self, f: Frame, activation: Activation, mark: Mark, path: Path) -> None:
        """A layer, at the end of a path for the caller, ran in a function that is over."""
        fn = activation.func.fn
        given = path[0] in [param.name for param in fn.node.params] or mark.path[0] not in fn.outer_names
        starts = f.outer is not None and f.world.level > f.outer.world.level and not f.world.excused
        if not mark.sure:
            return
        if mark.kind in (CAPTURED, FAR) or (mark.kind in (RUNS, LEARNS, CHECKS) and starts and not given):
            self._decide(f, mark._replace(path=path, at=activation.at))

    def _decide(self, f: Frame, mark: Mark) -> None:
        """Whether the model was in the mode for training when the trace began, as far as the caller knows. A trace that begins further
        in than in a function of the caller may be one of a tool, which sets the mode, or runs other layers."""
        host = outermost(f)
        before = (one for one in modes_set(host, mark) if one.at < mark.at)
        last = max(before, key=lambda one: one.at, default=None)
        if last is None and not is_home(host, mark.path[0]):
            note(f, (mark._replace(kind=FAR if mark.kind in (CAPTURED, FAR) else CAPTURED),))
        elif last is not None and last.kind == TRAIN:
            self._say(f, mark, certain=True)
        elif last is None and mark.kind != FAR:
            self._say(f, mark, certain=False)

    def _say(self, f: Frame, mark: Mark, certain: bool) -> None:
        """certain: the mode was set, and is not only the one that models begin with."""
        module, at, function = mark.site
        step = Step(
            f.module.name, mark.at, f"`{mark.path[0]}` comes from outside of the trace that begins here"
        )
        self._m.emit(
            f, Leak, at, None, Confidence.LIKELY, when=() if certain else (NeverEvaluated(self),),
            where=(module, function), target=REFUSED, what=mark.name, used=True, also=(step,),
        )  # fmt: skip


def is_home(host: Frame, name: str) -> bool:
    """Whether a variable is the module's or the function's own, and nobody handed it over."""
    if host.fn is None:
        return True
    return name in host.fn.node.local_names and name not in [param.name for param in host.fn.node.params]


class NeverEvaluated:
    """No model is turned to evaluation, anywhere."""

    def __init__(self, known: Captured) -> None:
        self._known = known

    def holds(self, found: Found) -> bool:
        """Whether the whole program was run without that."""
        return not self._known.evaluates
