"""What values there are at places that somebody asks about (layer: ``link``, room ``domains``).

Expressions are looked at when they have been evaluated, names that are assigned when their statement has run, parameters when
their function is entered. The evaluator's tables are only others while such a session runs: nobody else pays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.described import Seen, is_code, why_traced, words
from jitlint.infer.lattice import parts
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Inst, Map, Seq, Tup, Value, alternatives
from jitlint.link.core.expressions import EVALUATORS, Evaluator
from jitlint.link.core.statements import EXECUTORS, Executor
from jitlint.link.engine.domain import Domain
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.status import GROUND_RANK, leaf_statuses
from jitlint.syntax import ir

Asked = Mapping[str, frozenset[int]]
"""Module to origins."""

_DEPTH: Final = 3


class Answers(Domain[None]):
    """Keeps of every place, and of every status that a value had there, the strongest witness."""

    def __init__(self, m: Machine, asked: Asked) -> None:
        super().__init__(m)
        self._asked = asked
        self._best: dict[tuple[str, int, bool, str], tuple[tuple[int, ...], Seen, FuncInfo | None]] = {}

    @property
    def seen(self) -> list[Seen]:
        """The answers, by place; what is traced comes first.

        That a function may also be called outside of every trace is only said where somebody does.
        """
        inside = {(module, at) for module, at, in_trace, _ in self._best if in_trace}
        known = {(m, at) for m, at, in_trace, status in self._best if not in_trace and status != "unknown"}
        found = [
            seen
            for _, seen, fn in self._best.values()
            if seen.in_trace or (seen.module, seen.at) not in inside or fn is None or fn.hosted
            if seen.in_trace or seen.status != "unknown" or (seen.module, seen.at) not in known
        ]
        return sorted(found, key=lambda s: (s.module, s.at, not s.in_trace, -_RANK[s.status]))

    def on_enter(self, f: Frame, inner: Frame) -> None:
        """A function's parameters are what it was given."""
        asked = self._asked.get(inner.module.name)
        if asked is None or inner.fn is None:
            return
        for parameter in inner.fn.node.params:
            value = inner.scope.vars.get(parameter.name)
            if parameter.at in asked and value is not None:
                self.note(inner, parameter.at, value)

    def note(self, f: Frame, at: int, value: Value) -> None:
        """A value is at a place."""
        in_trace = f.world.level > 0
        status = summary(leaf_statuses(value, _DEPTH))
        if status == "traced" and _has_object(value):
            status = "mixed"  # it holds tracers, and is none
        strength = (
            int(not self.m.sink.trial_number),
            GROUND_RANK.get(f.ground, 0),
            f.confidence.rank,
            -len(f.steps),
        )
        key = (f.module.name, at, in_trace, status)
        known = self._best.get(key)
        if known is not None and known[0] >= strength:
            return
        traced = status in ("traced", "mixed")
        seen = Seen(
            f.module.name,
            at,
            status,
            words(value),
            is_code(value),
            why_traced(value) if traced else "",
            in_trace,
            f.qualname,
            f.steps,
            f.ground if f.steps else "",
            Confidence.POSSIBLE if self.m.sink.trial_number else f.confidence,
        )
        self._best[key] = (strength, seen, f.fn)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear of every expression and every statement."""
        evaluators, executors = dict(EVALUATORS), dict(EXECUTORS)
        EVALUATORS.update({kind: self._evaluated(inner) for kind, inner in evaluators.items()})
        EXECUTORS.update({kind: self._executed(executors[kind]) for kind in _BINDING})
        try:
            yield
        finally:
            EVALUATORS.update(evaluators)
            EXECUTORS.update(executors)

    def _evaluated(self, inner: Evaluator) -> Evaluator:
        def evaluate(m: Machine, f: Frame, node: ir.Node) -> Value:
            value = inner(m, f, node)
            asked = self._asked.get(f.module.name)
            if asked is not None and node.at in asked:
                self.note(f, node.at, value)
            return value

        return evaluate

    def _executed(self, inner: Executor) -> Executor:
        def execute(m: Machine, f: Frame, node: ir.Node) -> bool:
            reached = inner(m, f, node)
            asked = self._asked.get(f.module.name)
            if asked is not None:
                for name in _targets(node):
                    value = f.scope.vars.get(name.id)
                    if name.at in asked and value is not None:
                        self.note(f, name.at, value)
            return reached

        return execute


def _has_object(value: Value, depth: int = _DEPTH) -> bool:
    """Whether something is an object of a class that does not stand for a tracer, or a container of such."""
    return any(
        (type(a) is Inst and not a.modes)
        or (depth > 0 and isinstance(a, (Seq, Tup, Map)) and any(_has_object(p, depth - 1) for p in parts(a)))
        for a in alternatives(value)
    )


_RANK: Final = {"unknown": 0, "static": 1, "mixed": 2, "traced": 3}
_BINDING: Final[tuple[type, ...]] = (ir.Assign, ir.AugAssign, ir.AnnAssign, ir.For, ir.With)


def summary(found: set[str]) -> str:
    """One word for all leaves of one value: what is traced beside what is not known is traced, as far as anybody can say."""
    if "traced" in found:
        return "mixed" if "static" in found else "traced"
    return "unknown" if "unknown" in found or not found else "static"


def _targets(node: ir.Node) -> Iterator[ir.Name]:
    """The names that a statement binds."""
    waiting: list[ir.Expr] = []
    if isinstance(node, ir.Assign):
        waiting = list(node.targets)
    elif isinstance(node, ir.With):
        waiting = [item.target for item in node.items if item.target is not None]
    elif isinstance(node, (ir.AugAssign, ir.AnnAssign, ir.For)):
        waiting = [node.target]
    while waiting:
        target = waiting.pop()
        if isinstance(target, ir.Name):
            yield target
        elif isinstance(target, (ir.Tuple, ir.List)):
            waiting.extend(target.elts)
        elif isinstance(target, ir.Starred):
            waiting.append(target.value)
