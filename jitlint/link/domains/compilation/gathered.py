"""Lists that objects gather, one element or more in each turn of a loop (layer: ``link``, room ``domains``).

``self.points.append(x)`` in one method, ``fit(np.stack(self.points))`` in another, and a loop that calls both. What it does: sees
that a loop adds to the list, itself or by a method that it calls on the same object. What it does not: follow further calls, or
lists that anything in the class may shorten or replace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import Func, Inst, Seq
from jitlint.link.engine import scopes
from jitlint.link.tables.ir_walk import nodes, path_text
from jitlint.link.values.questions.kinds import find_method, methods
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.link.domains.compilation.variation import Variation


def grows(around: Variation, node: ir.Attr) -> bool:
    """Whether an attribute is a list to which each turn of the innermost loop around adds, and from which nothing takes away."""
    if type(node.obj) is not ir.Name:
        return False
    place, owner = around, node.obj
    while not place.loops:  # the loop is around the call of a method
        outer, given = place.given.get(owner.id, (None, None))
        if outer is None or type(given) is not ir.Name or owner.id in place.table.bound:
            return False
        place, owner = outer, given
    value = scopes.lookup(place.f, owner.id)
    held = value.attrs.get(node.name) if type(value) is Inst else None
    if type(value) is not Inst or type(held) is not Seq or held.kind != "list":
        return False
    path = f"{owner.id}.{node.name}"
    if any(_is_changed(part, path, first=False) for part in nodes(place.loops[-1])):
        return False
    return _is_kept(value, node.name) and any(_adds(place, value, owner.id, node.name))


def _adds(place: Variation, value: Inst, owner: str, name: str) -> Iterator[bool]:
    for call in (part for part in nodes(place.loops[-1]) if type(part) is ir.Call):
        yield _is_added(call, f"{owner}.{name}")
        if type(call.func) is ir.Attr and path_text(call.func.obj) == owner:
            called = find_method(value, call.func.name)
            if type(called) is Func and called.fn.node.params:
                own = f"{called.fn.node.params[0].name}.{name}"
                yield any(_is_added(part, own) for part in _always(called.fn.body))


def _always(body: Iterable[ir.Node]) -> Iterator[ir.Node]:
    """The nodes of the statements that run each time."""
    for statement in body:
        if isinstance(statement, (ir.ExprStmt, ir.Assign, ir.AugAssign)):
            yield from nodes(statement)


def _is_added(node: ir.Node, path: str) -> bool:
    func = node.func if type(node) is ir.Call else None
    return type(func) is ir.Attr and func.name in lexicon().containers.growing and path_text(func.obj) == path


def _is_kept(value: Inst, name: str) -> bool:
    """Whether no method takes anything out of the list, or puts another one in its place."""
    for fn in methods(value.cls):
        if fn.node.params:
            own = f"{fn.node.params[0].name}.{name}"
            first = fn.name in lexicon().captures.first_methods
            if any(_is_changed(node, own, first=first) for node in fn.parts):
                return False
    return True


def _is_changed(node: ir.Node, path: str, first: bool) -> bool:
    if type(node) is ir.Call and type(node.func) is ir.Attr:
        return node.func.name in lexicon().containers.shrinking and path_text(node.func.obj) == path
    if isinstance(node, (ir.Assign, ir.Del)):
        within = [part.obj for part in node.targets if type(part) is ir.Sub]
        plain = [] if first else node.targets
        return any(path_text(part) == path for part in (*within, *plain))
    if isinstance(node, (ir.AnnAssign, ir.AugAssign)):
        return not first and path_text(node.target) == path
    return False
