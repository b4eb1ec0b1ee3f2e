"""Attributes that each turn of a loop sets anew (layer: ``link``, room ``domains``).

``train(self.params, self.cfg)`` in a loop that also calls ``self.rebalance()``, which sets ``self.cfg``. What it does: finds what a turn
sets the attribute to, itself or by a method that it calls on the same object. What it does not: follow further calls, or speak of what is
set under a condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from jitlint.infer.values import Func, Inst
from jitlint.link.engine import scopes
from jitlint.link.tables.ir_walk import by_parameter, nodes, path_text
from jitlint.link.tables.storing import pairs
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.link.domains.compilation.variation import Variation

_PLAIN = (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.ExprStmt)


def renewals(around: Variation, node: ir.Attr) -> Iterator[tuple[Variation, ir.Expr]]:
    """What each turn of the innermost loop around sets an attribute to, with the place where that is written."""
    place, name, value = holder(around, node.obj)
    loop = place.loops[-1] if place.loops else None
    if value is None or not isinstance(loop, (ir.For, ir.While)) or name in place.assigned:
        return
    for made in _set(loop.body, f"{name}.{node.name}"):
        yield place, made
    for call, method in called_on(value, name, always(loop.body)):
        yield from _in_method(place, method, call, node.name)


def takes_in(around: Variation, node: ir.Attr) -> bool:
    """``self.xs = jnp.concatenate([self.xs, x])``: whether each turn makes an array of the attribute, and of more."""
    return any(_joins(place, made, node.name) for place, made in renewals(around, node))


def _joins(place: Variation, node: ir.Expr, name: str) -> bool:
    if type(node) is not ir.Call or not node.args or not place.joins(node):
        return False
    first = node.args[0].value
    parts: list[ir.Expr] = first.elts if isinstance(first, (ir.List, ir.Tuple)) else [first]
    return any(type(part) is ir.Attr and part.name == name for part in parts)


def holder(around: Variation, owner: ir.Expr) -> tuple[Variation, str, Inst | None]:
    """Where a loop is around the use of an object, the variable that holds it there, and the object; None if that is not known."""
    place = around
    while type(owner) is ir.Name and not place.loops:  # the loop is around the call of a method
        outer, given = place.given.get(owner.id, (None, None))
        if outer is None or given is None or owner.id in place.table.bound:
            return place, "", None
        place, owner = outer, given
    if type(owner) is not ir.Name:
        return place, "", None
    value = scopes.lookup(place.f, owner.id)
    return place, owner.id, value if type(value) is Inst else None


def called_on(value: Inst, owner: str, parts: Iterable[ir.Node]) -> Iterator[tuple[ir.Call, Func]]:
    """The calls among some nodes of methods of an object that a variable holds, with these."""
    for part in parts:
        if type(part) is ir.Call and type(part.func) is ir.Attr and path_text(part.func.obj) == owner:
            method = find_method(value, part.func.name)
            if type(method) is Func and method.fn.node.params:
                yield part, method


def always(body: Iterable[ir.Node]) -> Iterator[ir.Node]:
    """The nodes of the statements that run each time."""
    for statement in body:
        if isinstance(statement, _PLAIN):
            yield from nodes(statement)


def _in_method(place: Variation, func: Func, call: ir.Call, name: str) -> Iterator[tuple[Variation, ir.Expr]]:
    """What a method sets the attribute to that a turn calls."""
    params = func.fn.node.params
    found = list(_set(func.fn.body, f"{func.fn.first}.{name}"))
    if not found or not params or any(arg.star for arg in call.args) or type(call.func) is not ir.Attr:
        return
    given = {param: (place, value) for param, value in by_parameter(call, params[1:])}
    given[params[0].name] = (place, call.func.obj)
    within = place.within(func, given)
    yield from ((within, made) for made in found)


def _set(body: Iterable[ir.Node], path: str) -> Iterator[ir.Expr]:
    """What the statements that always run set a path to."""
    for statement in body:
        for target, made in pairs(statement) if isinstance(statement, _PLAIN) else ():
            if path_text(target) == path:
                yield made
