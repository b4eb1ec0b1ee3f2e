"""Parameters that no gradient reaches, as rounding or comparing stands on every way from them (layer: ``link``, room ``domains``).

``jnp.round(w / scale) * scale`` has slope zero, so that ``w`` is never trained, while the other parameters of the same loss are.
What it does: where a differentiated function rounds or picks by what it is differentiated by, runs it again when the whole program
has run, with one leaf of the argument after the other as the only one that a derivative is taken by. What it does not: speak of
tests, which look at such derivatives on purpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ZeroGradient
from jitlint.infer.grounds import SEEN
from jitlint.infer.lattice import traced_modes
from jitlint.infer.values import BACK, REACH, Arr, L, Py, Tup, Value
from jitlint.link.domains.slopes import leaves
from jitlint.link.domains.slopes.leaves import Leaf
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.budgets import Limits
from jitlint.link.engine.domain import Activation, Domain, Domains, Library, Transformed
from jitlint.link.engine.frame import Args, Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Sink
from jitlint.link.engine.world import OWN
from jitlint.link.values import iteration
from jitlint.link.values.questions.signatures import constant_ints, describe, signature

_DEPTH: Final = 8
_TRIALS: Final = 32
"""A function is run so often at most, and all together so often."""
_ALL_TRIALS: Final = 256


class Step(NamedTuple):
    """A call in which a slope is lost. qualname: of the function where it stands."""

    module: str
    at: int
    name: str
    qualname: str


_STEPS: Final = Slot[frozenset[Step]]()


class _Listener(Domain[frozenset[Step]]):
    """Notes in each activation which calls lose slopes in it, and in what it calls."""

    keeps = frozenset({_STEPS})

    def __init__(self, m: Machine, mark: int = 0) -> None:
        super().__init__(m)
        self._mark = mark

    def hears_of(self, dotted: str) -> bool:
        """What has slope zero, or turns answers into numbers."""
        words = lexicon().gradients
        return dotted.rpartition(".")[2] in words.stepping or dotted in words.choosing

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """Something that has a slope goes in, or an answer that hangs on it, and nothing that has one comes out."""
        modes = f.world.modes
        if modes & OWN or not modes & BACK or traced_modes(library.result, _DEPTH) & L:
            return None
        own = [library.owner] if library.owner is not None else []
        given = [*own, *library.args.pos, *library.args.kw.values()]
        if any(traced_modes(value) & L for value in given) or self._is_answer(given[0] if given else None):
            name = library.dotted.rpartition(".")[2]
            _note(f, frozenset({Step(f.module.name, library.at, name, f.qualname)}))
        return None

    def _is_answer(self, value: Value | None) -> bool:
        """Whether a value tells for each element whether something holds, of what a derivative is taken by as far as that is known."""
        return type(value) is Arr and value.dtype == "bool" and value.modes & self._mark == self._mark

    def summarise(self, inner: Frame, activation: Activation) -> frozenset[Step] | None:
        """The steps in it."""
        return _STEPS.of(inner)

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        """They are the caller's too."""
        _note(f, _STEPS.of(inner) or frozenset())

    def replay(self, f: Frame, activation: Activation, summary: frozenset[Step]) -> None:
        """They are made again."""
        _note(f, summary)


class Slopes(_Listener):
    """Remembers which differentiated functions make steps, and tries them in the end."""

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self._suspects: dict[tuple[str, int, int], tuple[Transformed, Frame]] = {}

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """A differentiated function has run."""
        x = transformed.x
        if x.spec.result not in ("grad", "value_and_grad") or not _STEPS.of(transformed.inner):
            return
        if (
            not f.world.excused
            and not x.module.is_test
            and not f.module.is_test
            and not self.m.sink.trial_number
        ):
            self._suspects.setdefault((f.module.name, transformed.at, id(x.target)), (transformed, f))

    def finish(self) -> None:
        """Try each of them."""
        left = _ALL_TRIALS
        for transformed, f in self._suspects.values():
            tried = _Trials(self.m, transformed, min(left, _TRIALS))
            for leaf, step in tried.dead():
                self._tell(f, transformed, leaf, step)
            left -= tried.count

    def _tell(self, f: Frame, transformed: Transformed, leaf: Leaf, step: Step) -> None:
        self.m.emit(
            transformed.inner, ZeroGradient, step.at, leaf.value, Confidence.LIKELY, where=(step.module, step.qualname),
            parameter=leaf.text, operation=step.name, transform=transformed.x.spec.name, loss=describe(transformed.x.target),
        )  # fmt: skip


class _Trials:
    """Runs of one differentiated function, each by one leaf of its arguments. count: how many there were."""

    def __init__(self, m: Machine, transformed: Transformed, most: int) -> None:
        self._m = m
        self._x = transformed.x
        self._transformed = transformed
        self._most = most
        self.count = 0

    def dead(self) -> list[tuple[Leaf, Step]]:
        """The largest parts of the arguments by which the derivative is zero, each with what makes it so."""
        x = self._x
        numbers = constant_ints(x.options["argnums"]) if "argnums" in x.options else [0]
        given = self._transformed.arrived.pos
        sig = signature(x.target)
        names = [param.name for param in sig.positional] if sig is not None else []
        found: list[tuple[Leaf, Step]] = []
        for n in numbers or ():
            if 0 <= n < min(len(given), len(names)):
                self._look(n, Leaf((), names[n], given[n]), found)
        return found

    def _look(self, n: int, leaf: Leaf, found: list[tuple[Leaf, Step]]) -> None:
        if self.count >= self._most or not traced_modes(leaf.value, _DEPTH) & L:
            return
        self.count += 1
        modes, steps = self._run(n, leaf)
        if not modes & REACH:
            return  # it is lost on the way, or nothing depends on it
        if not modes & L:
            if steps:
                found.append((leaf, min(steps)))
            return
        below = leaves.below(leaf)
        for child in below if steps else ():
            self._look(n, child, found)

    def _run(self, n: int, leaf: Leaf) -> tuple[int, Sequence[Step]]:
        """The modes of the result where this leaf is the only one with a slope, and where it loses that."""
        given = self._transformed.arrived
        pos = [leaves.without_slope(value) for value in given.pos]
        pos[n] = leaves.only(pos[n], leaf.path)
        kw = {name: leaves.without_slope(value) for name, value in given.kw.items()}
        args = Args(pos, kw, given.more, given.kw_more)
        with _Apart(self._m):
            around = self._transformed.inner
            inner = scopes.in_world(around, around.world, around.steps, around.ground)
            result = evaluator.call(self._m, inner, self._transformed.at, self._x.target, args)
            steps = sorted(_STEPS.of(inner) or ())
        value = self._of_loss(result)
        return (value.modes if type(value) is Arr and value.kind is SEEN else 0), steps

    def _of_loss(self, result: Value) -> Value:
        aux = self._x.options.get("has_aux")
        items = iteration.known_items(result) if type(result) is Tup else None
        return items[0] if items and type(aux) is Py and aux.const is True else result


class _Apart:
    """What runs in the block is no part of the program: nothing that it says or remembers counts."""

    def __init__(self, m: Machine) -> None:
        self._m = m
        self._kept = m.sink, m.memo, m.domains, m.limits, m.traced, m.keep_statuses

    def __enter__(self) -> None:
        m = self._m
        m.sink, m.memo, m.traced, m.keep_statuses = Sink(), {}, {}, False
        m.domains, m.limits = Domains([_Listener(m, REACH)]), Limits(room=2 * m.limits.room)

    def __exit__(self, *_: object) -> None:
        m = self._m
        m.sink, m.memo, m.domains, m.limits, m.traced, m.keep_statuses = self._kept


def _note(f: Frame, steps: frozenset[Step]) -> None:
    """Steps are made in an activation, on whichever side of the transforms that it calls."""
    frame: Frame | None = f if steps else None
    while frame is not None:
        _STEPS.put(frame, steps | (_STEPS.of(frame) or frozenset()))
        frame = frame.outer
