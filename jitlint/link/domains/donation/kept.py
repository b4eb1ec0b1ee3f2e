"""The best state so far, kept beside the one that goes on (layer: ``link``, room ``domains``).

``if loss < best: best, kept = loss, state``: where the next turn donates the state, what is kept is gone as soon as a turn is
no better. What it does: finds such statements in a loop. What it does not: know what is donated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.link.tables.ir_walk import bound_by
from jitlint.syntax import ir
from jitlint.syntax.children import below

_LEAVING: Final = (ir.Break, ir.Return, ir.Raise)


def kept_by(body: Sequence[ir.Node]) -> Iterator[tuple[str, str]]:
    """The variables that a loop keeps on a condition that such a turn changes itself, each with the one that it is of."""
    parts = below(list(body))
    times = Counter(name for part in parts for name in bound_by(part))
    for node in parts:
        if type(node) is ir.If and not node.orelse and not isinstance(node.body[-1], _LEAVING):
            for kept, source in _kept_if(node):
                if times[kept] == 1:
                    yield kept, source


def _kept_if(node: ir.If) -> Iterator[tuple[str, str]]:
    changes = [n for n in node.body if type(n) is ir.Assign]
    changed = {name for n in changes for name in bound_by(n)}
    if any(type(part) is ir.Name and part.id in changed for part in below(node.test)):
        for change in changes:
            yield from _names(change)


def _names(node: ir.Assign) -> Iterator[tuple[str, str]]:
    """The variables that an assignment makes other names of something."""
    for name, value in assigned(node):
        if type(name) is ir.Name and type(value) is ir.Name:
            yield name.id, value.id


def assigned(node: ir.Assign) -> Iterator[tuple[ir.Node, ir.Node]]:
    """The places that an assignment sets, each with what it is set to, if that is written out."""
    for target in node.targets:
        if type(target) is ir.Tuple and type(node.value) is ir.Tuple:
            yield from zip(target.elts, node.value.elts)
        else:
            yield target, node.value
