"""Lists that objects gather, one element or more in each turn of a loop (layer: ``link``, room ``domains``).

``self.points.append(x)`` in one method, ``fit(np.stack(self.points))`` in another, and a loop that calls both. What it does: sees
that a loop adds to the list, itself or by a method that it calls on the same object. What it does not: follow further calls, or
lists that anything in the class may shorten or replace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import Inst, Seq
from jitlint.link.domains.compilation.renewed import always, called_on, holder
from jitlint.link.tables.ir_walk import nodes, path_text
from jitlint.link.values.questions.kinds import methods
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.link.domains.compilation.variation import Variation


def grows(around: Variation, node: ir.Attr) -> bool:
    """Whether an attribute is a list to which each turn of the innermost loop around adds, and from which nothing takes away."""
    place, owner, value = holder(around, node.obj)
    held = value.attrs.get(node.name) if value is not None else None
    if value is None or type(held) is not Seq or held.kind != "list":
        return False
    path = f"{owner}.{node.name}"
    if any(_is_changed(part, path, first=False) for part in nodes(place.loops[-1])):
        return False
    return _is_kept(value, node.name) and any(_adds(place, value, owner, node.name))


def _adds(place: Variation, value: Inst, owner: str, name: str) -> Iterator[bool]:
    inside = list(nodes(place.loops[-1]))
    yield any(_is_added(part, f"{owner}.{name}") for part in inside)
    for _, method in called_on(value, owner, inside):
        own = f"{method.fn.first}.{name}"
        yield any(_is_added(part, own) for part in always(method.fn.body))


def _is_added(node: ir.Node, path: str) -> bool:
    func = node.func if type(node) is ir.Call else None
    return type(func) is ir.Attr and func.name in lexicon().containers.growing and path_text(func.obj) == path


def _is_kept(value: Inst, name: str) -> bool:
    """Whether no method takes anything out of the list, or puts another one in its place."""
    for fn in methods(value.cls):
        if fn.node.params:
            own = f"{fn.first}.{name}"
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
