"""Models in the wrong mode (layer: ``link``, room ``domains``).

Layers of `flax.nnx` that drop numbers, or measure batches, do so until ``model.eval()`` and again from ``model.train()`` on.
What it does: follows which of the two each turn of a loop of host code calls, and when the layers run under a derivative or in
code that is named for evaluation. What it does not: speak of layers that are told their mode when they are made or called, or
of programs whose loops set no mode and are not named for evaluation.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import WrongMode
from jitlint.infer.objects import DRY, MODE, NOTE
from jitlint.infer.places import Step
from jitlint.infer.values import FALSE, NO_CONST, TRUE, ExtInst, L, Value, const_of
from jitlint.link.domains.modes import metrics, streamless, told
from jitlint.link.domains.modes.captured import Captured
from jitlint.link.domains.modes.marks import (
    CAPTURED,
    CHECKS,
    DRAWS,
    EVALUATE,
    FAR,
    KEYED,
    LEARNS,
    MARKS,
    RUNS,
    TRAIN,
    Mark,
    Marks,
    in_caller,
    modes_set,
    note,
    outermost,
    own_path,
    touch,
)
from jitlint.link.domains.modes.unset import Unset
from jitlint.link.engine.domain import Activation, Domain, Library
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import last_name, nodes
from jitlint.syntax import ir

_PERHAPS = f"{NOTE}rate"
"""Where it remembers that nobody knows whether it drops anything."""


class Modes(Domain[Marks]):
    """Follows the modes of models through host code, and the layers that depend on them."""

    nodes = frozenset({ir.For, ir.While})
    keeps = frozenset({MARKS})

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self._captured = Captured(m)
        self._unset = Unset(m)
        self._collected = told.Collected()

    def hears_of(self, dotted: str) -> bool:
        """What sets a mode, the layers that have one, and metrics."""
        words = lexicon().modes
        return (
            dotted in words.setting
            or dotted in words.applying
            or dotted in words.metrics
            or dotted.removesuffix(".__call__") in words.layers
            or self._unset.hears_of(dotted)
        )

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """A mode is set; or a layer is made, or runs."""
        words, dotted = lexicon().modes, library.dotted
        call = self.m.texts.table(f).calls.get(library.at)
        if dotted in words.layers:
            return _made(library)
        if self._unset.hears_of(dotted):
            self._unset.heard(f, library)
            return None
        if call is None or f.world.excused:
            return None
        if dotted in words.applying:
            told.applied(self.m, f, library, call, self._collected)
            return None
        if dotted in words.metrics:
            self._note(
                f, words.metrics[dotted], call.func.obj if type(call.func) is ir.Attr else None, library.at
            )
        elif dotted in words.setting:
            node = call.func.obj if type(call.func) is ir.Attr else None
            self._note(f, words.setting[dotted], node, library.at)
            self._captured.evaluates |= words.setting[dotted] == EVALUATE
        elif not _is_told(library.args):
            noted = library.owner.attrs if type(library.owner) is ExtInst else {}
            if MODE in noted:
                return None
            self._note(f, LEARNS if f.world.modes & L else RUNS, call.func, library.at, _PERHAPS not in noted)
            if f.world.modes & L:
                streamless.heard(self.m, f, library, call.func)
        return None

    def _note(self, f: Frame, kind: str, node: ir.Node | None, at: int, sure: bool = True) -> None:
        path = own_path(f, node)
        if path is not None:
            note(f, (Mark(kind, path, at, (f.module.name, at, f.qualname), last_name(node), sure=sure),))

    def summarise(self, inner: Frame, activation: Activation) -> Marks | None:
        """What happens in it to layers."""
        return MARKS.of(inner)

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        """Its caller does that to what it hands over."""
        self.replay(f, activation, MARKS.of(inner) or ())

    def replay(self, f: Frame, activation: Activation, summary: Marks) -> None:
        """It happens again, to what this caller hands over."""
        name, words = activation.func.fn.name, lexicon()
        checks = naming.has_word(name, words.keys.evaluating) or naming.has_word(name, words.modes.judging)
        for number, mark in enumerate(summary):
            if mark.kind == KEYED:
                self._unset.passed_on(f, activation, mark)
                continue
            path = in_caller(self.m, f, activation, mark.path)
            if path is None:
                continue
            if checks and mark.kind == RUNS:
                mark = mark._replace(kind=CHECKS, tail=max(len(mark.path) - _model(activation), 0))
            self._captured.crossed(f, activation, mark, path)
            if mark.kind == DRAWS:
                streamless.passed_on(self.m, f, mark._replace(path=path, at=activation.at), self._captured)
            elif mark.kind not in (CAPTURED, FAR):
                here = mark._replace(path=path, at=activation.at)
                if mark.kind == CHECKS and not _is_turned_off(summary[:number], mark):
                    self._after_training(f, here)
                note(f, (here,))

    def on_run(self, f: Frame, node: ir.Node, value: Value) -> None:
        """A loop has run: its next turn begins with the modes that the last one left."""
        held = MARKS.of(f)
        if held and not f.world.level:
            inside = {part.at for part in nodes(node) if type(part) is ir.Call}
            turn = sorted([mark for mark in held if mark.at in inside], key=lambda mark: mark.at)
            self._left_off(f, turn, _last_turn(node))
            self._never_off(f, turn, [mark for mark in held if mark.at < node.at])
            metrics.turned(self.m, f, node, turn)

    def _left_off(self, f: Frame, turn: list[Mark], leaves: frozenset[int]) -> None:
        """A model learns in one turn after another, and each leaves it in the mode for evaluation."""
        for off in turn:
            if (
                off.kind != EVALUATE
                or off.at in leaves
                or any(m.kind == TRAIN and touch(m, off) for m in turn)
            ):
                continue
            learns = next((m for m in turn if m.kind == LEARNS and touch(m, off) and m.at < off.at), None)
            if learns is not None:
                self._say(
                    f,
                    off,
                    "trained",
                    ".".join(off.path),
                    Step(f.module.name, learns.at, "it is trained here, in every turn"),
                )

    def _never_off(self, f: Frame, turn: list[Mark], before: list[Mark]) -> None:
        """A model that learns is evaluated in the same turn, in the mode for training."""
        for runs in turn:
            if runs.kind != CHECKS or any(m.kind == EVALUATE and touch(m, runs) for m in (*turn, *before)):
                continue
            learns = next((m for m in turn if m.kind == LEARNS and touch(m, runs) and m.at < runs.at), None)
            if learns is not None:
                self._evaluated(f, runs)

    def _after_training(self, f: Frame, runs: Mark) -> None:
        """A model that has learnt is evaluated after the loop, in the mode that it learnt in."""
        host = outermost(f)
        before = [mark for mark in MARKS.of(host) or () if touch(mark, runs)]
        modes = modes_set(host, runs)
        learns = next((mark for mark in before if mark.kind == LEARNS), None)
        still = not modes or modes[-1].kind == TRAIN
        told = any(mark.kind == CHECKS and mark.at != runs.at for mark in before)
        if learns is not None and still and not (told or host.loops or host.world.level):
            self._evaluated(host, runs)

    def _evaluated(self, f: Frame, runs: Mark) -> None:
        model = ".".join(runs.path[: len(runs.path) - runs.tail])
        step = Step(runs.site[0], runs.site[1], "this layer is still in the mode for training")
        self._say(f, runs._replace(site=(f.module.name, runs.at, f.qualname)), "evaluated", model, step)

    def _say(self, f: Frame, mark: Mark, how: str, model: str, step: Step) -> None:
        module, at, function = mark.site
        self.m.emit(
            f, WrongMode, at, None, Confidence.LIKELY, where=(module, function), model=model, how=how, also=(step,)
        )  # fmt: skip


def _is_turned_off(before: Marks, runs: Mark) -> bool:
    """Whether the activation in which a layer runs has turned its model to evaluation itself, last of all before that."""
    modes = [mark for mark in before if mark.kind in (TRAIN, EVALUATE) and touch(mark, runs)]
    return bool(modes) and modes[-1].kind == EVALUATE


def _model(activation: Activation) -> int:
    """How many names lead from what an evaluation is given to a model: a method has it in its object."""
    owner = activation.func.owner
    return 2 if owner is not None and owner.role != "nnx" else 1


def _last_turn(loop: ir.Node) -> frozenset[int]:
    """The calls in branches of a loop that leave it: no turn follows."""
    branches = [body for part in nodes(loop) if type(part) is ir.If for body in (part.body, part.orelse)]
    last = [body for body in branches if body and isinstance(body[-1], (ir.Break, ir.Return, ir.Raise))]
    return frozenset(part.at for part in nodes(last) if type(part) is ir.Call)


def _made(library: Library) -> Value | None:
    """A layer that was made for one mode, that drops nothing, or that has nothing to draw from says so."""
    args, result = library.args, library.result
    drops = library.dotted.endswith("Dropout")
    rate = args.get(0, "rate") if drops else None
    unknown = rate is None or const_of(rate) is NO_CONST
    idle = rate is not None and not unknown and not const_of(rate)
    if idle or _is_told(args):
        note = MODE
    else:
        note = _PERHAPS if drops and unknown else DRY if drops and "rngs" not in args.kw else ""
    return ExtInst(result.dotted, {**result.attrs, note: TRUE}) if note and type(result) is ExtInst else None


def _is_told(args: Args) -> bool:
    """Whether a call says itself which mode is meant."""
    told = (args.kw.get(name, FALSE) for name in lexicon().modes.told_by)
    return args.kw_more is not None or any(value is not FALSE for value in told)
