"""Lists of arrays of different sizes, whose elements a loop goes through (layer: ``link``, room ``domains``).

``rows = [np.arange(n) for n in lengths]``, ``for row in rows: step(row)``. What it does: asks how the element of a comprehension changes
from turn to turn. What it does not: follow lists that are filled otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.link.domains.compilation.variation import Variation


def shape(around: Variation, name: str, depth: int) -> str:
    """How the shape of a loop's variable changes that is an element of such a list; "" if it does not, as far as known."""
    sources = [
        source for loop in around.loops if type(loop) is ir.For for source in _sources(around, loop, name)
    ]
    values = around.table.bound.get(sources[0], ()) if len(sources) == 1 else ()
    made = values[0] if len(values) == 1 else None
    if type(made) is not ir.Comp or made.kind != "list" or len(made.fors) != 1 or depth <= 0:
        return ""
    inside = type(around)(around.m, around.f, around.table, (made,), around.given, around.few, around.called)
    return (
        f"an element of `{sources[0]}`, which have different sizes"
        if inside.shape(made.elt, depth - 1)
        else ""
    )


def _sources(around: Variation, loop: ir.For, name: str) -> Iterator[str]:
    """The variables of which a loop's variable is an element."""
    target, over = loop.target, loop.iter
    if type(target) is ir.Name:
        yield from [over.id] if target.id == name and type(over) is ir.Name else ()
        return
    func = around.dotted(over.func) if type(over) is ir.Call else ""
    args = [arg.value for arg in over.args] if type(over) is ir.Call else []
    if type(target) is not ir.Tuple or func not in ("builtins.zip", "builtins.enumerate"):
        return
    targets = target.elts[1:] if func == "builtins.enumerate" else target.elts
    for one, source in zip(targets, args):
        if type(one) is ir.Name and one.id == name and type(source) is ir.Name:
            yield source.id
