"""``match`` statements (layer: ``link``, room ``core``).

A value pattern compares with ``==`` and asks for the truth of the result, so it fails on a tracer; sequence,
mapping and class patterns look at the type only: measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from jitlint.infer.events import Truth
from jitlint.infer.lattice import seq_element
from jitlint.infer.values import NO_CONST, UNKNOWN, Map, Py, Seq, Tree, Tup, Union, Value, alternatives
from jitlint.link.core import branches
from jitlint.link.engine import evaluator
from jitlint.link.engine.events import STAGED_OR_BATCHED, confidence_of, hurt
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import attributes, iteration, subscripts
from jitlint.link.values.questions import kinds
from jitlint.syntax import ir


def run(
    m: Machine, f: Frame, node: ir.Match, run_block: Callable[[Machine, Frame, Sequence[ir.Node]], bool]
) -> bool:
    """Run a match statement. Answers whether its end can be reached."""
    whole = subject = evaluator.evaluate(m, f, node.subject)
    saved = f.scope.vars
    token = f.token
    out: dict[str, Value] | None = None
    open_end = True
    for case in node.cases:
        f.scope.vars = dict(saved)
        f.token = object()
        passing, left = _told_apart(m, f, case.pattern, subject)
        if passing is None:
            continue
        if passing is not whole:
            branches.store(f, node.subject, passing)
        answer = _matches(m, f, case.pattern, passing)
        if answer is not False and case.guard is not None:
            answer = _guarded(m, f, case.guard, answer)
        elif left is None:
            answer = True
        else:
            subject = left
        if answer is False:
            continue
        if run_block(m, f, case.body):
            out = f.scope.vars if out is None else branches.join_vars(out, f.scope.vars)
        if answer is True:
            open_end = False
            break
    f.token = token
    if open_end:
        out = saved if out is None else branches.join_vars(out, saved)
    f.scope.vars = out if out is not None else saved
    return out is not None


def _guarded(m: Machine, f: Frame, guard: ir.Expr, answer: bool | None) -> bool | None:
    """Whether a case is taken whose pattern fits, by its guard."""
    outcome = branches.condition(m, f, guard, "match-guard", guard.at)
    if outcome is False:
        return False
    branches.narrow(m, f, guard, True)
    return None if outcome is None else answer


def _told_apart(m: Machine, f: Frame, pattern: ir.Node, subject: Value) -> tuple[Value | None, Value | None]:
    """Of the alternatives of a value those that a pattern may take, and those that it may leave to the next one."""
    answers = [(a, _is_of_class(m, f, pattern, a)) for a in alternatives(subject)]
    taken = [a for a, answer in answers if answer is not False]
    left = [a for a, answer in answers if answer is not True]
    return tuple(  # type: ignore[return-value]
        None
        if not part
        else subject
        if len(part) == len(answers)
        else part[0]
        if len(part) == 1
        else Union(tuple(part))
        for part in (taken, left)
    )


def _is_of_class(m: Machine, f: Frame, pattern: ir.Node | None, value: Value) -> bool | None:
    """Whether a pattern takes a value as far as classes decide about it."""
    if type(pattern) is ir.PatCapture and pattern.pattern is not None:
        return _is_of_class(m, f, pattern.pattern, value)
    if type(pattern) is ir.PatOr:
        answers = [_is_of_class(m, f, item, value) for item in pattern.items]
        return True if True in answers else None if None in answers else False
    if type(pattern) is not ir.PatClass:
        return None
    answer = kinds.isinstance_of(m, value, evaluator.evaluate(m, f, pattern.cls))
    return None if answer and (pattern.items or pattern.kw_items) else answer


def _matches(m: Machine, f: Frame, pattern: ir.Node, subject: Value) -> bool | None:
    matches = _MATCHES.get(type(pattern))
    return None if matches is None else matches(m, f, pattern, subject)


def _matches_capture(m: Machine, f: Frame, pattern: ir.PatCapture, subject: Value) -> bool | None:
    answer: bool | None = True
    if pattern.pattern is not None:
        answer = _matches(m, f, pattern.pattern, subject)
    if pattern.name:
        iteration.assign_name(m, f, pattern.name, subject)
    return answer


def _matches_any(m: Machine, f: Frame, pattern: ir.PatOr, subject: Value) -> bool | None:
    answers = [_matches(m, f, item, subject) for item in pattern.items]
    if True in answers:
        return True
    return None if None in answers else False


def _matches_mapping(m: Machine, f: Frame, pattern: ir.PatMap, subject: Value) -> bool | None:
    for key, item in zip(pattern.keys, pattern.items):
        value = subscripts.any_item(subject)
        if type(subject) is Map and type(key) is ir.Const:
            value = subject.entries.get(key.value, value)
        _matches(m, f, item, value)
    if pattern.rest:
        iteration.assign_name(m, f, pattern.rest, subject)
    return None


def _matches_value(m: Machine, f: Frame, pattern: ir.PatValue, subject: Value) -> bool | None:
    expected = evaluator.evaluate(m, f, pattern.value)
    text = type(expected) is Py and expected.kind in ("str", "none")
    found = hurt(subject, STAGED_OR_BATCHED)
    if found is not None and not pattern.singleton and not text:
        m.emit(f, Truth, pattern.at, found, confidence_of(subject), form="match")
        return None
    if type(expected) is Py and expected.const is not NO_CONST:
        answers = {
            a.const == expected.const if type(a) is Py and a.const is not NO_CONST else None
            for a in alternatives(subject)
        }
        return answers.pop() if len(answers) == 1 else None
    return None


def _matches_sequence(m: Machine, f: Frame, pattern: ir.PatSeq, subject: Value) -> bool | None:
    items = iteration.known_items(subject) if isinstance(subject, (Tup, Seq)) else None
    stars = [i for i, p in enumerate(pattern.items) if type(p) is ir.PatStar]
    if items is not None and not stars:
        if len(items) != len(pattern.items):
            return False
        answers = [_matches(m, f, p, v) for p, v in zip(pattern.items, items)]
        return False if False in answers else (None if None in answers else True)
    element = seq_element(subject) if type(subject) is Seq else subscripts.any_item(subject)
    for item in pattern.items:
        if type(item) is ir.PatStar:
            if item.name:
                iteration.assign_name(m, f, item.name, Seq("list", None, element, f.world.level))
        else:
            _matches(m, f, item, element if element is not None else UNKNOWN)
    return None


def _matches_class(m: Machine, f: Frame, pattern: ir.PatClass, subject: Value) -> bool | None:
    cls = evaluator.evaluate(m, f, pattern.cls)
    answers = {kinds.isinstance_of(m, a, cls) for a in alternatives(subject)}
    answer = answers.pop() if len(answers) == 1 else None
    if answer is False:
        return False
    for item in pattern.items:
        _matches(m, f, item, subject if type(subject) is not Tree and len(pattern.items) == 1 else UNKNOWN)
    for name, item in zip(pattern.names, pattern.kw_items):
        _matches(m, f, item, attributes.get(m, f, pattern.at, subject, name))
    return answer if not (pattern.items or pattern.kw_items) else None


_MATCHES: Final[dict[type, Callable[[Machine, Frame, Any, Value], bool | None]]] = {
    ir.PatCapture: _matches_capture,
    ir.PatValue: _matches_value,
    ir.PatOr: _matches_any,
    ir.PatSeq: _matches_sequence,
    ir.PatMap: _matches_mapping,
    ir.PatClass: _matches_class,
}
