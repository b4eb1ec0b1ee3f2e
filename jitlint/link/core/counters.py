"""Variables that each turn of a loop adds the same to (layer: ``link``, room ``core``).

What it does: finds ``pos += 1`` where that is all a loop does to a variable, in every turn; a loop of which it is known how many turns
it has takes such a variable to a number that is known as well. What it does not: follow attributes, or additions on a condition.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from jitlint.infer.counted import Counted
from jitlint.infer.values import Py, Value, const_of, py
from jitlint.link.engine.frame import Frame
from jitlint.link.tables.ir_walk import bound_by, changed_in, nodes
from jitlint.link.values.questions import counting
from jitlint.syntax import ir

_MANY: Final = 1000
_LEAVING: Final = (ir.Break, ir.Return, ir.Raise)


class Counters(NamedTuple):
    """The variables that a loop counts with, as they are before it. turns: how many it has."""

    before: dict[str, int]
    turns: int


def find(f: Frame, node: ir.For, iterable: Value) -> Counters | None:
    """The counters of a loop that is about to run; None if there are none, or it is not known how far they get."""
    turns = counting.turns(iterable)
    if turns is None or turns < 2:
        return None
    names = _added_to(node)
    numbers = {name: const_of(f.scope.vars[name]) for name in names if name in f.scope.vars}
    before = {name: number for name, number in numbers.items() if type(number) is int}
    return Counters(before, turns) if before else None


def is_left_before(node: ir.For, iterable: Value) -> bool:
    """Whether a loop hardly turns as often as it says: it can be left, and the number stands for *until that happens*."""
    turns = counting.turns(iterable)
    return (
        turns is not None and turns >= _MANY and any(isinstance(part, _LEAVING) for part in nodes(node.body))
    )


def follow(f: Frame, node: ir.For, counters: Counters, after: dict[str, Value]) -> dict[str, Value]:
    """What the counters are in the turns after the first. after: the variables when that has run."""
    found: dict[str, Value] = {}
    for name, first in counters.before.items():
        number = const_of(after[name]) if name in after else None
        if type(number) is int and number > first:
            place = (f.module.name, node.iter.at, 1 + len(found))
            found[name] = Py("int", counted=Counted(place, 0, counters.turns - 1, number - first, first))
    return found


def ends(followed: dict[str, Value]) -> dict[str, Value]:
    """What the counters are when the loop has run to its end."""
    out: dict[str, Value] = {}
    for name, value in followed.items():
        counted = counting.of(value)
        if counted is not None and counted.most is not None:
            out[name] = py(counted.most + counted.times)
    return out


def _added_to(node: ir.For) -> list[str]:
    """The variables to which the loop's body adds something as one of its own statements, and does nothing else to them."""
    added = [
        part.target.id
        for part in node.body
        if type(part) is ir.AugAssign
        and part.op == "+"
        and type(part.target) is ir.Name
        and _is_steady(part, node)
    ]
    if not added or any(type(part) is ir.Continue for part in nodes(node.body)):
        return []
    bound = [name for part in nodes(node.body) for name in bound_by(part)]
    return [name for name in added if bound.count(name) == 1]


def _is_steady(part: ir.AugAssign, node: ir.For) -> bool:
    """Whether what is added is the same in all turns: a constant, or a variable that the loop does not bind."""
    if type(part.value) is ir.Const:
        return True
    return type(part.value) is ir.Name and part.value.id not in changed_in(node)
