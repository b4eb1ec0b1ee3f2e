"""Differentiated functions that run once more, apart from the program (layer: ``link``, room ``engine``).

Some questions are about a derivative as a whole: what reaches the loss, and how. What it does: runs a function that the program
differentiates again, on other arguments if need be, when the whole program has run; who asks listens. What it does not: let anything
that such a run says, remembers or changes count for the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jitlint.infer.values import Py, Tup, Value
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.budgets import Limits
from jitlint.link.engine.domain import AnyDomain, Domains, Transformed
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Sink


class Derivatives:
    """The functions that a program takes gradients of, each once."""

    def __init__(self, m: Machine) -> None:
        self._m = m
        self.all: dict[tuple[str, int, int], Transformed] = {}

    def add(self, f: Frame, transformed: Transformed) -> None:
        """A transformed function has run. Tests are left out, which look at derivatives for their own sake."""
        x = transformed.x
        if x.spec.result not in ("grad", "value_and_grad") or f.world.excused or self._m.sink.trial_number:
            return
        if not x.module.is_test and not f.module.is_test:
            self.all.setdefault((f.module.name, transformed.at, id(x.target)), transformed)


def leave_out(m: Machine, transformed: Transformed) -> None:
    """A function is not run again, or not as often as it takes."""
    place = transformed.inner
    m.limits.meet("trials", place.module.name, transformed.at, place.qualname)


def run(m: Machine, transformed: Transformed, args: Args, listener: AnyDomain) -> tuple[Value, Frame]:
    """Run a function again: the value that is differentiated, and the frame that it was called from."""
    around = transformed.inner
    with _apart(m, listener):
        inner = scopes.in_world(around, around.world, around.steps, around.ground)
        result = evaluator.call(m, inner, transformed.at, transformed.x.target, args)
    aux = transformed.x.options.get("has_aux")
    has_aux = type(aux) is Py and aux.const is True
    return result.items[0] if has_aux and type(result) is Tup and result.items else result, inner


@contextmanager
def _apart(m: Machine, listener: AnyDomain) -> Iterator[None]:
    kept = m.sink, m.memo, m.domains, m.limits, m.traced, m.keep_statuses
    m.sink, m.memo, m.traced, m.keep_statuses = Sink(), {}, {}, False
    m.domains, m.limits = Domains([listener]), Limits(room=2 * m.limits.room)
    try:
        yield
    finally:
        m.sink, m.memo, m.domains, m.limits, m.traced, m.keep_statuses = kept
