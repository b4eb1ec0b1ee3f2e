"""Which variables and attributes a statement sets (layer: ``link``, room ``tables``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jitlint.link.tables.ir_walk import path_text
from jitlint.syntax import ir


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
