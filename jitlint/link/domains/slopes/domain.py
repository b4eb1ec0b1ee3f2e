"""Parameters that no gradient reaches, as rounding or comparing stands on every way from them (layer: ``link``, room ``domains``).

``jnp.round(w / scale) * scale`` has slope zero, so that ``w`` is never trained, while the other parameters of the same loss are.
What it does: where a differentiated function rounds or picks by what it is differentiated by, runs it again when the whole program
has run, with one leaf of the argument after the other as the only one that a derivative is taken by. What it does not: speak of
tests, which look at such derivatives on purpose.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ZeroGradient
from jitlint.infer.followed import REACH
from jitlint.infer.grounds import SEEN
from jitlint.infer.lattice import traced_modes
from jitlint.infer.values import BACK, Arr, Func, L, Value
from jitlint.link.domains.slopes import clipped, leaves, straight
from jitlint.link.domains.slopes.leaves import Leaf
from jitlint.link.engine import apart
from jitlint.link.engine.apart import Derivatives
from jitlint.link.engine.domain import Library, Transformed
from jitlint.link.engine.frame import Args, Frame, Slot
from jitlint.link.engine.gathering import Gathering
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import OWN
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


class _Listener(Gathering[Step]):
    """Notes in each activation which calls lose slopes in it, and in what it calls."""

    slot = _STEPS
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
            self.note(f, frozenset({Step(f.module.name, library.at, name, f.qualname)}))
        return None

    def _is_answer(self, value: Value | None) -> bool:
        """Whether a value tells for each element whether something holds, of what a derivative is taken by as far as that is known."""
        return type(value) is Arr and value.dtype == "bool" and value.modes & self._mark == self._mark


class _Trial(_Listener):
    """Listens while a function is run apart. lost: what is followed went into something that is not known."""

    def __init__(self, m: Machine) -> None:
        super().__init__(m, REACH)
        self.lost = False

    def on_enter(self, f: Frame, inner: Frame) -> None:
        """What overrides an abstract method may give it back in any form, too."""
        self.lost = self.lost or (inner.fn is not None and inner.fn.is_abstract)

    def on_unknown(self, f: Frame, args: Args) -> None:
        """It may have given it back in any form."""
        given = (*args.pos, *args.kw.values(), *(v for v in (args.more, args.kw_more) if v is not None))
        self.lost = self.lost or any(traced_modes(value, _DEPTH) & REACH for value in given)


class Slopes(_Listener):
    """Remembers which differentiated functions make steps, and tries them in the end."""

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self._suspects = Derivatives(m)

    def hears_of(self, dotted: str) -> bool:
        """Steps, and what holds a value still, or cuts it."""
        name = dotted.rpartition(".")[2]
        return name in lexicon().gradients.holding or name == clipped.CLIP or super().hears_of(dotted)

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """A step, or a value that is held still."""
        name = library.dotted.rpartition(".")[2]
        if name in lexicon().gradients.holding:
            straight.check(self.m, f, library.at)
            return None
        if name == clipped.CLIP:
            clipped.check(self.m, f, library)
            return None
        return super().on_library(f, library)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """A differentiated function has run."""
        if _STEPS.of(transformed.inner):
            self._suspects.add(f, transformed)

    def finish(self) -> None:
        """Try each of them."""
        left = _ALL_TRIALS
        for transformed in self._suspects.all.values():
            tried = _Trials(self.m, transformed, min(left, _TRIALS))
            for leaf, step in tried.dead():
                if leaf.path or not _is_written_there(transformed.x.target):
                    self._tell(transformed, leaf, step)
            left -= tried.count
            if tried.has_more:
                apart.leave_out(self.m, transformed)

    def _tell(self, transformed: Transformed, leaf: Leaf, step: Step) -> None:
        self.m.emit(
            transformed.inner, ZeroGradient, step.at, leaf.value, Confidence.LIKELY, where=(step.module, step.qualname),
            parameter=leaf.text, operation=step.name, loss=describe(transformed.x.target),
        )  # fmt: skip


def _is_written_there(target: Value) -> bool:
    """Whether what is differentiated is a ``lambda``: who writes a loss on the spot that does not move sees it."""
    return type(target) is Func and target.fn.node.is_lambda


class _Trials:
    """Runs of one differentiated function, each by one leaf of its arguments. count: how many there were. has_more: there would
    have been others."""

    def __init__(self, m: Machine, transformed: Transformed, most: int) -> None:
        self._m = m
        self._transformed = transformed
        self._most = most
        self.count = 0
        self.has_more = False

    def dead(self) -> list[tuple[Leaf, Step]]:
        """The largest parts of the arguments by which the derivative is zero, each with what makes it so."""
        x = self._transformed.x
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
        if not traced_modes(leaf.value, _DEPTH) & L:
            return
        if self.count >= self._most:
            self.has_more = True
            return
        self.count += 1
        modes, steps = self._run(n, leaf)
        if not modes & REACH or not steps:
            return  # it is lost on the way, or nothing depends on it
        if not modes & L:
            found.append((leaf, min(steps)))
            return
        for child in leaves.below(leaf):
            self._look(n, child, found)

    def _run(self, n: int, leaf: Leaf) -> tuple[int, frozenset[Step]]:
        """The modes of the result where this leaf is the only one with a slope, and where it loses that."""
        given = self._transformed.arrived
        pos = [leaves.without_slope(value) for value in given.pos]
        pos[n] = leaves.only(pos[n], leaf.path)
        kw = {name: leaves.without_slope(value) for name, value in given.kw.items()}
        args = Args(pos, kw, given.more, given.kw_more)
        listener = _Trial(self._m)
        value, inner = apart.run(self._m, self._transformed, args, listener)
        known = type(value) is Arr and value.kind is SEEN and not listener.lost
        return value.modes if type(value) is Arr and known else 0, _STEPS.of(inner) or frozenset()
