"""Which variables and attributes a statement sets (layer: ``link``, room ``tables``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from jitlint.link.tables.ir_walk import path_text
from jitlint.syntax import ir

BINDING: Final[frozenset[type[ir.Node]]] = frozenset({ir.Assign, ir.AugAssign, ir.AnnAssign, ir.For})
"""The statements that bind something by a target: a cheap first question where all of a function is looked through."""


def places(target: ir.Node | None) -> Iterator[ir.Name | ir.Attr]:
    """The variables and attributes that a target binds, in a pattern too."""
    if isinstance(target, (ir.Tuple, ir.List)):
        for element in target.elts:
            yield from places(element)
    elif type(target) is ir.Starred:
        yield from places(target.value)
    elif isinstance(target, (ir.Name, ir.Attr)):
        yield target


def targets_of(node: ir.Node) -> Sequence[ir.Node]:
    """What a statement itself binds."""
    if isinstance(node, ir.Assign):
        return node.targets
    return [node.target] if isinstance(node, (ir.AugAssign, ir.AnnAssign, ir.For)) else []


def stored(node: ir.Node) -> Iterator[ir.Attr]:
    """The attributes that a statement itself binds."""
    for target in targets_of(node):
        yield from (place for place in places(target) if type(place) is ir.Attr)


def goes_on(node: ir.Assign, call: ir.Call) -> bool:
    """Whether a statement binds what its call is given, for the next one: ``state = step(state, batch)``."""
    given = {path_text(arg.value) for arg in call.args} - {""}
    return any(path_text(place) in given for target in node.targets for place in places(target))


def pairs(node: ir.Node | None) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """What an assignment sets, with what to: ``self.a, self.b = a, b`` is two."""
    if type(node) is not ir.Assign:
        return
    for target in node.targets:
        if type(target) is ir.Tuple and type(node.value) is ir.Tuple:
            yield from zip(target.elts, node.value.elts)
        else:
            yield target, node.value


def kept_as_given(params: Sequence[ir.Param], parts: Iterable[ir.Node]) -> Iterator[tuple[ir.Attr, ir.Name]]:
    """The attributes that a constructor sets to one of its parameters as it is, with the parameter."""
    own = params[0].name if params else ""
    names = {param.name for param in params[1:]}
    for node in parts:
        alone = [(node.target, node.value)] if type(node) is ir.AnnAssign else pairs(node)
        for target, value in alone:
            mine = type(target) is ir.Attr and type(target.obj) is ir.Name and target.obj.id == own
            if mine and type(target) is ir.Attr and type(value) is ir.Name and value.id in names:
                yield target, value
