"""Tests that come again: one name, unchanged, takes the same side twice (layer: ``link``, room ``core``).

What it does: after ``if fast: run = a``, ``else: run = b`` the two states stay apart for as long as a later statement of
the block asks for ``fast`` again, so that what one side left never meets the other side's code. A side taken is
remembered until the name is bound anew. A state that a doubtful side left stays as doubtful while it is apart. What it does not: follow
flags through calls, which is the business of `retests`, or compare different constants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.infer.lattice import joined, or_unknown
from jitlint.infer.values import (
    FALSE,
    NO_CONST,
    NONE,
    TRUE,
    UNKNOWN,
    Arr,
    Grounded,
    Py,
    Scope,
    Value,
    alternatives,
)
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import paths
from jitlint.syntax import ir

MOST_STATES: Final = 4
"""States of one activation that are kept apart at once."""

_OPPOSITE: Final = {"!=": "==", "is not": "is", "not in": "in"}

Variables = dict[str, Value]


class State(NamedTuple):
    """What one way through some code left, and the confidence of what is found on this way."""

    variables: Variables
    level: Confidence


@dataclass(frozen=True, slots=True)
class Sides:
    """The states that an ``if`` left, and the tests that tell them apart."""

    states: tuple[State, ...]
    asked: frozenset[str]


def remember(m: Machine, f: Frame, test: ir.Expr, outcome: bool) -> None:
    """Note the side that a test of a name, a path or a comparison of one with a constant has taken."""
    key, positive = _key(m, test)
    if key and is_open(paths.peek(m, f, _subject(test))):
        f.scope.vars["$paths"] = NONE
        f.scope.vars[key] = TRUE if outcome is positive else FALSE


def remembered(m: Machine, f: Frame, test: ir.Expr) -> bool | None:
    """The side that a test takes because it, or its parts, took it before; None when that is not known."""
    if type(test) is ir.UnaryOp and test.op == "not":
        side = remembered(m, f, test.operand)
        return None if side is None else not side
    if type(test) is ir.BoolOp:
        sides = (remembered(m, f, test.left), remembered(m, f, test.right))
        decisive = test.op == "or"
        return decisive if decisive in sides else None if None in sides else not decisive
    key, positive = _key(m, test)
    known = _taken(f, key) if key else None
    if type(known) is not Py or known.const is NO_CONST:
        return None
    return known.const is positive


def variable(key: str) -> str:
    """The name that a test begins with which is remembered so."""
    return key.removeprefix("path:").partition(".")[0]


def _taken(f: Frame, key: str) -> Value | None:
    """What is remembered of a test where the variable lives that it begins with: here, or in a function around."""
    name = variable(key)
    scope: Scope | None = f.scope
    while scope is not None and (scope.fn is not None or scope is f.scope):
        if "$paths" in scope.vars and key in scope.vars:
            return scope.vars[key]
        if name in scope.vars:
            return None
        scope = scope.parent
    return None


def is_open(value: Value | None) -> bool:
    """Whether a value leaves its truth open because nothing is known of it; a tracer has no side to take."""
    return value is None or value is UNKNOWN or all(type(alt) is Py for alt in alternatives(value))


def _subject(test: ir.Expr) -> ir.Expr:
    return test.left if type(test) is ir.Compare else test


def _key(m: Machine, test: ir.Expr) -> tuple[str, bool]:
    """Under what a side is remembered, and whether the test says so or its opposite; "" when it is not remembered."""
    known = m.sides.get(id(test))
    if known is None:
        known = m.sides[id(test)] = _written(test)
    return known


def _written(test: ir.Expr) -> tuple[str, bool]:
    if type(test) is ir.Compare:
        op, right = test.ops[0], test.rights[0]
        path = paths.path_key(test.left)
        if len(test.ops) != 1 or not path or type(right) is not ir.Const:
            return "", True
        return f"{path}.?{_OPPOSITE.get(op, op)} {right.value!r}", op not in _OPPOSITE
    path = paths.path_key(test)
    return (f"{path}.?", True) if path else ("", True)


def keys(m: Machine, test: ir.Expr) -> set[str]:
    if type(test) is ir.UnaryOp and test.op == "not":
        return keys(m, test.operand)
    if type(test) is ir.BoolOp:
        return keys(m, test.left) | keys(m, test.right)
    return {_key(m, test)[0]} - {""}


def apart(reached: list[tuple[State, Sides | None]], asked: frozenset[str]) -> Sides | None:
    """The states that code ended with, each perhaps several that were told apart; None when they need not stay apart."""
    states: list[State] = []
    for state, sides in reached:
        states += sides.states if sides is not None else (state,)
        asked |= sides.asked if sides is not None else frozenset()
    if not asked or not 1 < len(states) <= MOST_STATES:
        return None
    if all(_are_alike(states[0].variables, state.variables) for state in states[1:]):
        return None
    return Sides(tuple(states), asked)


def asked_by(m: Machine, node: ir.If) -> frozenset[str]:
    """The tests that tell the two sides of an ``if`` apart."""
    return frozenset(keys(m, node.test))


def are_simple(sides: Sides) -> bool:
    """Whether one flag tells them apart, not that something is missing, and what is found on one side is as sure as on another: doubt
    would go along into what is called."""
    flagged = len(sides.asked) == 1 and not any(key.endswith(" None") for key in sides.asked)
    return flagged and len({state.level for state in sides.states}) == 1


def of_what_is_known(sides: Sides) -> Sides:
    """The states, where a value that would be doubtful if they met, or an array of NumPy's for one of them, is the same in all."""
    first, *others = [state.variables for state in sides.states]
    doubted: Variables = {}
    for name, value in first.items():
        values = [value, *[other[name] for other in others if name in other]]
        if any(one is not value for one in values):
            met = or_unknown(joined(values))
            weak = isinstance(met, Grounded) and met.weak
            if met is UNKNOWN or weak or any(type(one) is Arr and one.host for one in values):
                doubted[name] = met
    if not doubted:
        return sides
    return Sides(tuple([State({**v, **doubted}, level) for v, level in sides.states]), sides.asked)


def have_room(f: Frame, sides: Sides | None) -> bool:
    """Whether there are states to follow one by one, and not too many at once."""
    return sides is not None and f.apart * len(sides.states) <= MOST_STATES


def _are_alike(a: Variables, b: Variables) -> bool:
    """Whether two states differ in nothing but what is remembered of tests."""
    for name, value in a.items():
        if b.get(name) is not value and not name.startswith("path:"):
            return False
    return all(name.startswith("path:") for name in b.keys() - a.keys())
