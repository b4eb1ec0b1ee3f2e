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
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import by_parameter, last_name, nodes, path_text
from jitlint.link.tables.storing import pairs
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.link.domains.compilation.variation import Variation

_PLAIN = (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.ExprStmt)


def renewals(around: Variation, node: ir.Attr) -> Iterator[tuple[Variation, ir.Expr]]:
    """What each turn of the innermost loop around sets an attribute to, with the place where that is written."""
    place, name = _holder(around, node.obj)
    value = scopes.lookup(place.f, name) if name else None
    loop = place.loops[-1] if place.loops else None
    if type(value) is not Inst or not isinstance(loop, (ir.For, ir.While)) or name in place.assigned:
        return
    for made in _set(loop.body, f"{name}.{node.name}"):
        yield place, made
    for call in _calls_of(loop.body, name):
        called = find_method(value, last_name(call.func))
        if type(called) is Func and called.fn.node.params:
            yield from _in_method(place, called, call, node.name)


def takes_in(around: Variation, node: ir.Attr) -> bool:
    """``self.xs = jnp.concatenate([self.xs, x])``: whether each turn makes an array of the attribute, and of more."""
    return any(_joins(place, made, node.name) for place, made in renewals(around, node))


def _joins(place: Variation, node: ir.Expr, name: str) -> bool:
    if type(node) is not ir.Call or not node.args or not place.joins(node):
        return False
    first = node.args[0].value
    parts: list[ir.Expr] = first.elts if isinstance(first, (ir.List, ir.Tuple)) else [first]
    return any(type(part) is ir.Attr and part.name == name for part in parts)


def _holder(around: Variation, owner: ir.Expr) -> tuple[Variation, str]:
    """The variable that holds an object where a loop is around, "" if that is not known."""
    place = around
    while type(owner) is ir.Name and not place.loops:  # the loop is around the call of a method
        outer, given = place.given.get(owner.id, (None, None))
        if outer is None or given is None or owner.id in place.table.bound:
            return place, ""
        place, owner = outer, given
    return place, owner.id if type(owner) is ir.Name else ""


def _calls_of(body: Iterable[ir.Node], owner: str) -> Iterator[ir.Call]:
    """The calls of an object's methods that each turn makes."""
    for part in _always(body):
        if type(part) is ir.Call and type(part.func) is ir.Attr and path_text(part.func.obj) == owner:
            yield part


def _in_method(place: Variation, func: Func, call: ir.Call, name: str) -> Iterator[tuple[Variation, ir.Expr]]:
    """What a method sets the attribute to that a turn calls."""
    params = func.fn.node.params
    found = list(_set(func.fn.body, f"{params[0].name}.{name}"))
    if not found or any(arg.star for arg in call.args) or type(call.func) is not ir.Attr:
        return
    inner = Frame(func.fn.module, func.scope, HOST)
    inner.fn = func.fn
    given = {name: (place, value) for name, value in by_parameter(call, params[1:])}
    given[params[0].name] = (place, call.func.obj)
    within = place.within(inner, place.m.texts.table(inner), given)
    yield from ((within, made) for made in found)


def _set(body: Iterable[ir.Node], path: str) -> Iterator[ir.Expr]:
    """What the statements that always run set a path to."""
    for statement in body:
        for target, made in pairs(statement) if isinstance(statement, _PLAIN) else ():
            if path_text(target) == path:
                yield made


def _always(body: Iterable[ir.Node]) -> Iterator[ir.Node]:
    for statement in body:
        if isinstance(statement, _PLAIN):
            yield from nodes(statement)
