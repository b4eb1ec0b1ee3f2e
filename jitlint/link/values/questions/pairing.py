"""Arrays of as many elements of which one has an axis too many: ``(n, 1) - (n,)`` is a table (layer: ``link``, room ``values``).

What it does: finds operators that set each element of one array against each of the other where the sizes are known and the
same, in a function that then adds everything up. What it does not: speak of columns that somebody makes on the spot, by an
index with ``None`` or the like, in that function or where it is called: these are meant.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.dims import Dims
from jitlint.infer.events import PairedElements
from jitlint.infer.program import FuncInfo
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.tables.ir_walk import bound_by, by_parameter, last_name, path_text
from jitlint.syntax import ir
from jitlint.syntax.children import below

_OPERATORS: Final = frozenset({"+", "-", "*", "/", "==", "!="})
_KEPT: Final = frozenset({"keepdims"})
"""Sums of rows are kept as a column to be added to those of other rows: the distances of all pairs begin so."""
_SPREADING: Final = frozenset(
    {
        "reshape",
        "expand_dims",
        "atleast_2d",
        "broadcast_to",
        "meshgrid",
        "newaxis",
        *_KEPT,
        "outer",
        "T",
        "swapaxes",
        "transpose",
    }
)
"""What makes an axis, or is told to leave one."""
_ADDING: Final = frozenset({"sum", "mean", "average", "nansum", "nanmean"})
_DEPTH: Final = 4


def check(m: Machine, f: Frame, at: int, op: str, sizes: tuple[Dims, Dims]) -> None:
    """Record two operands, with these sizes, that give a table nobody wants."""
    column, row = sorted(sizes, key=len, reverse=True)
    if op not in _OPERATORS or len(column) != 2 or len(row) != 1 or column[1] != 1 or column[0] != row[0]:
        return
    if f.fn is None or row[0] is None or row[0] < 2:
        return
    parts = f.fn.parts
    operands = _operands(parts, at)
    meant = _SPREADING if op == "+" else _SPREADING - _KEPT
    if operands and _adds_up(parts) and not any(_is_spread(parts, node, meant, _DEPTH) for node in operands):
        count = row[0]
        when = (_Unspread(m, f.fn, frozenset(_named(operands))),)
        m.emit(
            f, PairedElements, at, None, Confidence.LIKELY, when=when,
            operation=op, count=count, column=_text(operands, sizes.index(column)), row=_text(operands, sizes.index(row)),
        )  # fmt: skip


def _operands(parts: Iterable[ir.Node], at: int) -> tuple[ir.Expr, ...]:
    for node in parts:
        if type(node) is ir.BinOp and node.at == at:
            return node.left, node.right
        if type(node) is ir.Compare and node.at == at and len(node.rights) == 1:
            return node.left, node.rights[0]
    return ()


def _text(operands: tuple[ir.Expr, ...], index: int) -> str:
    return path_text(operands[index])


def _adds_up(parts: Iterable[ir.Node]) -> bool:
    """Whether all elements of something are put together."""
    calls = (node for node in parts if type(node) is ir.Call and last_name(node.func) in _ADDING)
    return any(not any(arg.name == "axis" for arg in call.args) and len(call.args) < 2 for call in calls)


def _is_spread(parts: list[ir.Node], node: ir.Expr, words: frozenset[str], depth: int) -> bool:
    """Whether code says on the spot which axes an expression has, or a variable in it."""
    inner = below(node)
    if any(_spreads(part, words) for part in inner):
        return True
    names = {part.id for part in inner if type(part) is ir.Name}
    given = [part.value for part in parts if type(part) is ir.Assign and not names.isdisjoint(bound_by(part))]
    return depth > 0 and any(
        _is_spread(parts, value, words, depth - 1) for value in given if value is not node
    )


def _spreads(node: ir.Node, words: frozenset[str]) -> bool:
    if type(node) is ir.Const:
        return node.value is None and node.kind == "none"
    if type(node) is ir.Call and any(arg.name in words for arg in node.args):
        return True
    return isinstance(node, (ir.Name, ir.Attr)) and last_name(node) in words


def _named(operands: Iterable[ir.Expr]) -> set[str]:
    return {part.id for node in operands for part in below(node) if type(part) is ir.Name}


class _Unspread:
    """Nobody who calls the function makes the axis of what it hands over there on the spot."""

    def __init__(self, m: Machine, fn: FuncInfo, names: frozenset[str]) -> None:
        self._m = m
        self._fn = fn
        self._names = names

    def holds(self, found: Found) -> bool:
        """Whether no call of the function, by its name, says which axes something has."""
        params = self._fn.node.params
        code = (nodes for module in self._m.modules.values() for nodes in module.code())
        calls = (node for nodes in code for node in nodes if type(node) is ir.Call)
        mine = [call for call in calls if last_name(call.func) == self._fn.name]
        return not any(
            name in self._names and any(_spreads(part, _SPREADING) for part in below(value))
            for call in mine
            for start in (params, params[1:])
            for name, value in by_parameter(call, start)
        )
