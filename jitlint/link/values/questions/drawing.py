"""Places that are drawn below the size of an axis (layer: ``link``, room ``values``).

What it does: notes of the numbers that ``jax.random.randint`` draws how far they are from the size of a variable's axis, where that is
written; and says how far windows that begin there reach beyond the end. What it does not: follow arrays under other names.
"""

from __future__ import annotations

from typing import Final, Optional

from jitlint.infer.about import NOTHING, numbered
from jitlint.infer.counted import Axis, Counted
from jitlint.infer.values import Arr, Value
from jitlint.link.engine import scopes
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once, sizes
from jitlint.link.values import paths
from jitlint.link.values.questions import derivatives
from jitlint.syntax import ir

_DRAWS: Final = "jax.random.randint"
_END: Final = (3, "maxval")
_DEPTH: Final = 4
_Limit = tuple[Axis, int]
"""The size of an axis, and what is added to it."""


def note(m: Machine, f: Frame, at: int, name: str, out: Value) -> None:
    """Numbers are drawn, perhaps below the size of an axis."""
    if name != _DRAWS or type(out) is not Arr or out.about is not NOTHING:
        return
    limit = _limit(m, f, derivatives.argument(m.texts.table(f).calls.get(at), *_END), _DEPTH)
    if limit is not None:
        out.about = numbered(Counted((f.module.name, at, 0), 0, None, 1, limit[1] - 1, limit[0]))


def beyond(
    m: Machine, f: Frame, node: Optional[ir.Node], axis: int, counted: Counted | None, length: int
) -> int:
    """How many elements of a window of an array may lie beyond its end, 0 if none does, or that is not known. node: the array."""
    if counted is None or counted.size_of is None or type(node) is not ir.Name:
        return 0
    own = _axis(m, f, node.id, axis)
    return max(counted.plus + length, 0) if own == counted.size_of else 0


def text(counted: Counted) -> str:
    """The greatest number as the program might write it."""
    name, axis = counted.size_of[2:] if counted.size_of is not None else ("", 0)
    sign = "+" if counted.plus > 0 else "-"
    return f"{name}.shape[{axis}]" + (f" {sign} {abs(counted.plus)}" if counted.plus else "")


def _limit(m: Machine, f: Frame, node: ir.Node | None, depth: int) -> _Limit | None:
    """An expression as the size of an axis and a number."""
    if type(node) is ir.BinOp and node.op in "+-":
        limit, number = _limit(m, f, node.left, depth), paths.constant(m, f, node.right)
        if limit is None or type(number) is not int:
            return None
        return limit[0], limit[1] + (number if node.op == "+" else -number)
    size = sizes.size_of(node)
    if type(node) is ir.Name:
        size = m.texts.sizes(f).sizes.get(node.id)
        value = bound_once.written(f.fn, node) if size is None and depth else None
        if value is not None:
            return _limit(m, f, value, depth - 1)
    axis = _axis(m, f, *size) if size is not None else None
    return (axis, 0) if axis is not None else None


def _axis(m: Machine, f: Frame, name: str, axis: int) -> Axis | None:
    """The axis of a variable that is bound once, wherever around the code that is."""
    scope = scopes.holder(f.scope, name)
    if scope is None:
        return None
    fn = scope.fn
    known = m.texts.sizes_in(f.module, fn)
    number = fn.id if fn is not None else -1
    return (f.module.name, number, name, axis) if known.bound.get(name) == 1 else None
