"""Runs loops on abstract values until nothing changes, at most `LOOP_PASSES` times (layer: ``link``, room ``core``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from jitlint.infer import changes
from jitlint.infer.freezing import freeze
from jitlint.infer.values import UNKNOWN, Inst, Map, Seq, Tup, Value
from jitlint.link.core import branches, counters, field_loops, turns, unlike
from jitlint.link.engine import effects, evaluator
from jitlint.link.engine.domain import Change
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import iteration
from jitlint.link.values.questions import counting
from jitlint.syntax import ir

LOOP_PASSES = 3


def run_for(m: Machine, f: Frame, node: ir.For) -> bool:
    """``for target in iterable: ...``."""
    iterable = evaluator.evaluate(m, f, node.iter)
    if f.world.floor:
        m.domains.on_change(f, Change(node.iter.at, iterable, "iteration"))
    items = iteration.known_items(iterable)
    if items == []:
        return evaluator.run_block(m, f, node.orelse)
    if items is not None and not f.world.level and field_loops.is_one(node, items):
        return field_loops.run(m, f, node, items)
    loops, f.loops = f.loops, (*f.loops, node)
    if items is not None and unlike.are_told_apart(f, items):
        reachable = unlike.run(m, f, node, items)
    else:
        reachable = _run_joined(m, f, node, iterable, items)
    f.loops = loops
    m.domains.on_run(f, node, iterable)
    return reachable


@dataclass(slots=True)
class _Counts:
    """What a loop counts. first: the name that counts its turns. counters: variables that it adds to; followed: what they are in
    later turns."""

    first: turns.Counter | None
    node: ir.For
    counters: counters.Counters | None
    followed: dict[str, Value] = field(default_factory=dict)

    def begin(self, f: Frame, turn: int, before: dict[str, Value]) -> None:
        """A turn begins. before: the variables that the last one left."""
        if self.first is not None:
            turns.begin(f, self.first, turn)
        if self.counters is not None and turn:
            self.followed = self.followed or counters.follow(f, self.node, self.counters, before)
            f.scope.vars.update(self.followed)

    def end(self, exits: dict[str, Value], left: bool) -> None:
        """The loop has ended. left: it may have been left before."""
        if self.counters is not None and self.followed and not left:
            exits.update(counters.ends(self.followed))


def _run_joined(m: Machine, f: Frame, node: ir.For, iterable: Value, items: list[Value] | None) -> bool:
    """Run a loop with what all its turns have in common."""
    element = iteration.element(m, f, node.iter.at, iterable)
    left = counters.is_left_before(node, iterable)
    if left:
        element = counting.forgotten(element)

    def begin() -> bool:
        iteration.bind(m, f, node.target, element)
        return True

    single = iterable if items is not None and len(items) == 1 else None
    stand_ins = list(_stand_ins(element, items or []))
    watched = [effects.watch({_EACH: one}) for one, _ in stand_ins]
    counts = _Counts(turns.counter(f, node), node, None if left else counters.find(f, node, iterable))
    reachable = _loop(m, f, begin, node.body, node.orelse, bool(items), single, counts)
    for (_, originals), before in zip(stand_ins, watched):
        changes = effects.changes(before, whole=False)
        if changes is not None:
            for original in originals:
                effects.replay(m, f, changes, {_EACH: original})
    return reachable


_EACH: Final = ""


_DEPTH: Final = 2
"""So many boxes in each other are looked into."""


def _stand_ins(
    element: Value, items: Sequence[Value], depth: int = _DEPTH
) -> Iterator[tuple[Value, Sequence[Value]]]:
    """The boxes that a body gets for one of several, with these: what it does to one of them, it does to all."""
    if not items or any(type(item) is not type(element) or item is element for item in items):
        return
    if isinstance(element, (Inst, Map, Seq)):
        yield element, items
    inside = _parts(element) if depth or type(element) is Tup else []
    others = [dict(_parts(item)) for item in items] if inside else []
    for name, part in inside:
        if isinstance(part, (Inst, Map, Seq, Tup)):
            within = [one[name] for one in others if name in one]
            yield from _stand_ins(part, within, depth if type(element) is Tup else depth - 1)


def _parts(box: Value) -> list[tuple[object, Value]]:
    if type(box) is Inst:
        return [*box.attrs.items()]
    if type(box) is Tup:
        return [*enumerate(box.items)]
    return [*box.entries.items()] if type(box) is Map else []


def run_while(m: Machine, f: Frame, node: ir.While) -> bool:
    """``while test: ...``."""
    endless = type(node.test) is ir.Const and bool(node.test.value)

    def begin() -> bool:
        outcome = branches.condition(m, f, node.test, "while", node.at)
        return outcome is not False and branches.narrow(m, f, node.test, True)

    loops, f.loops = f.loops, (*f.loops, node)
    reachable = _loop(m, f, begin, node.body, node.orelse, certain=endless)
    f.loops = loops
    m.domains.on_run(f, node, UNKNOWN)
    if endless:
        return reachable
    branches.narrow(m, f, node.test, False)
    return reachable


def _loop(
    m: Machine,
    f: Frame,
    begin: Callable[[], bool],
    body: Sequence[ir.Node],
    orelse: Sequence[ir.Node],
    certain: bool,
    single: Value | None = None,
    counts: _Counts | None = None,
) -> bool:
    """Run a loop body to a fixpoint. begin binds the target or tests the condition; False: no more turns.

    single: what the loop goes over when that holds one element only. counts: what counts its turns.

    A loop whose body can be left is taken to run at least once: what it assigns is what code after it means.
    """
    token, f.token = f.token, object()
    breaks, continues = f.breaks, f.continues
    f.breaks = []
    before, exits = _turns(m, f, begin, body, certain, single, counts)
    f.token = token
    leaving = f.breaks
    f.breaks, f.continues = breaks, continues
    reachable = exits is not None
    f.scope.vars = exits if exits is not None else before
    if reachable and orelse:
        reachable = evaluator.run_block(m, f, orelse)
    for variables in leaving:
        f.scope.vars = branches.join_vars(f.scope.vars, variables) if reachable else variables
        reachable = True
    return reachable


_Variables = dict[str, Value]


def _turns(
    m: Machine,
    f: Frame,
    begin: Callable[[], bool],
    body: Sequence[ir.Node],
    certain: bool,
    single: Value | None,
    counts: _Counts | None,
) -> tuple[_Variables, _Variables | None]:
    """The variables before the last turn, and those with which the loop ends, if it ends."""
    start = before = f.scope.vars
    exits: _Variables | None = None if certain else start
    for turn in range(LOOP_PASSES):
        started = m.domains.progress()
        f.continues = []
        f.scope.vars = dict(before)
        if not begin():
            exits = _joined(exits, f.scope.vars)
            break
        if counts is not None:
            counts.begin(f, turn, before)
        reached = evaluator.run_block(m, f, body)
        after: _Variables | None = f.scope.vars if reached else None
        for variables in f.continues:
            after = _joined(after, variables)
        if after is None:
            break
        exits = _joined(None if exits is start else exits, after)
        if single is not None and _has_one_item(single):
            break  # the body has not made it longer, so there is no second turn
        again = branches.join_vars(before, after)
        if _same(again, before) and (
            turn or ((counts is None or counts.first is None) and m.domains.progress() == started)
        ):
            break
        before = again if turn else after  # the second turn starts from what the first one left
    else:
        m.limits.meet("turns", f.module.name, f.loops[-1].at, f.qualname)
    if exits is not None and counts is not None:
        counts.end(exits, bool(f.breaks))
    return before, exits if certain else _with_starts(start, exits)


def _with_starts(start: _Variables, exits: _Variables | None) -> _Variables | None:
    """A variable that goes down into a dict may still be where it began: what is stored into it then arrives there as well."""
    if exits is None or exits is start:
        return exits
    pairs = [(name, value, exits.get(name)) for name, value in start.items() if type(value) is Map]
    found = {
        name: changes.reaching_too(value, inner)
        for name, value, inner in pairs
        if type(inner) is Map and inner is not value and changes.holds(value, inner)
    }
    return {**exits, **found} if found else exits


def _has_one_item(iterable: Value) -> bool:
    return len(iteration.known_items(iterable) or ()) == 1


def _joined(known: _Variables | None, variables: _Variables) -> _Variables:
    return variables if known is None else branches.join_vars(known, variables)


def _same(a: dict[str, Value], b: dict[str, Value]) -> bool:
    if len(a) != len(b):
        return False
    for name, value in a.items():
        other = b.get(name)
        if other is not value and (other is None or freeze(other) != freeze(value)):
            return False
    return True
