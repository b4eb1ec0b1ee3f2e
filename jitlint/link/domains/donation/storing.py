"""Which attributes a statement stores (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Iterator

from jitlint.syntax import ir


def stored(node: ir.Node) -> Iterator[ir.Attr]:
    """The attributes that a statement itself binds, in a pattern too."""
    if isinstance(node, ir.Assign):
        for target in node.targets:
            yield from _attributes(target)
    elif isinstance(node, (ir.AugAssign, ir.AnnAssign, ir.For)):
        yield from _attributes(node.target)


def _attributes(target: ir.Node | None) -> Iterator[ir.Attr]:
    if isinstance(target, (ir.Tuple, ir.List)):
        for element in target.elts:
            yield from _attributes(element)
    elif type(target) is ir.Starred:
        yield from _attributes(target.value)
    elif type(target) is ir.Attr:
        yield target
