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
from jitlint.link.tables.ir_walk import by_parameter, nodes, path_text
from jitlint.link.tables.storing import pairs
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.link.domains.compilation.variation import Variation

_PLAIN = (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.ExprStmt)


def renewals(around: Variation, node: ir.Attr) -> Iterator[tuple[Variation, ir.Expr]]:
    """What each turn of the innermost loop around sets an attribute to, with the place where that is written."""
    place, owner = around, node.obj
    while type(owner) is ir.Name and not place.loops:  # the loop is around the call of a method
        outer, given = place.given.get(owner.id, (None, None))
        if outer is None or given is None or owner.id in place.table.bound:
            return
        place, owner = outer, given
    loop = place.loops[-1] if place.loops else None
    value = scopes.lookup(place.f, owner.id) if type(owner) is ir.Name else None
    if type(owner) is not ir.Name or type(value) is not Inst or not isinstance(loop, (ir.For, ir.While)):
        return
    if owner.id in place.assigned:
        return
    for made in _set(loop.body, f"{owner.id}.{node.name}"):
        yield place, made
    for call in (part for part in _always(loop.body) if type(part) is ir.Call):
        if type(call.func) is ir.Attr and path_text(call.func.obj) == owner.id:
            called = find_method(value, call.func.name)
            if type(called) is Func and called.fn.node.params:
                yield from _in_method(place, called, call, node.name)


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
