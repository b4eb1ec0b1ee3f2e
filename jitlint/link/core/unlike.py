"""Loops over a few things that are not alike, turn by turn (layer: ``link``, room ``core``).

``for name, compiled in (("fast", True), ("slow", False))``: what a turn does hangs on what goes together in one row, and
the join of all rows would pair the name of one with the flag of another. What it does: tell flags, names, kinds and
functions apart, one by one in rows, and in the attributes of objects. What a test leaves open that asks for what such a
turn is about is not known on either side of it. What it does not: numbers; turns over these are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from jitlint.infer.lattice import join
from jitlint.infer.values import NO_CONST, Inst, Py, Tup, Union, Value
from jitlint.link.core import branches, field_loops
from jitlint.link.engine.budgets import MAX_TURNS, UNROLLED
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_names
from jitlint.link.values import fields, iteration
from jitlint.syntax import ir

_DEPTH: Final = 2


def are_told_apart(f: Frame, items: list[Value]) -> bool:
    """Whether a loop over these items runs turn by turn: few turns, within few turns of loops around, and no two alike."""
    few = 1 < len(items) <= UNROLLED and len(items) * f.turns <= MAX_TURNS
    return few and _are_unlike(items, _DEPTH)


def run(m: Machine, f: Frame, node: ir.For, items: list[Value]) -> bool:
    """Run the body once for each item."""
    around, told = f.turns, f.told
    f.turns = around * len(items)
    f.told = told | {name.id for name in bound_names([node.target])}
    reachable = field_loops.run(m, f, node, items)
    f.turns, f.told = around, told
    return reachable


def _are_unlike(values: Sequence[Any], depth: int) -> bool:
    """Whether some values differ in what tests ask for: a flag, a name, whether there is one, of what kind it is."""
    first = values[0]
    kind = type(first)
    if any(type(value) is not kind for value in values):
        return True
    if kind is Py:
        return _are_choices(values)
    if depth and kind is Tup and len({len(row.items) for row in values}) == 1:
        return any(_are_unlike(column, depth - 1) for column in zip(*[row.items for row in values]))
    if depth and kind is Inst:
        return _are_unlike_objects(values, depth)
    return any(type(join(first, value)) is Union for value in values[1:])


def _are_choices(values: Sequence[Py]) -> bool:
    if len({value.kind for value in values}) > 1:
        return True
    constants = {value.const for value in values} if values[0].kind in ("bool", "str") else set()
    return NO_CONST not in constants and len(constants) > 1


def _are_unlike_objects(objects: Sequence[Inst], depth: int) -> bool:
    names = objects[0].attrs.keys()
    if any(one.cls is not objects[0].cls or one.attrs.keys() != names for one in objects):
        return True
    return any(_are_unlike([one.attrs[name] for one in objects], depth - 1) for name in names)


def kept(m: Machine, f: Frame, part: ir.CompFor, iterable: Value) -> list[Value] | None:
    """The few items that pass the tests of a comprehension; None when these leave it open for one of them."""
    items = iteration.known_items(iterable)
    if items is None or not (len(items) <= UNROLLED or fields.describe_fields(items)):
        return None
    passing: list[Value] = []
    for item in items:
        iteration.bind(m, f, part.target, item)
        answers = [branches.condition(m, f, test, "comprehension", test.at) for test in part.ifs]
        if False in answers:
            continue
        if None in answers:
            return None
        passing.append(item)
    return passing
