"""Loops over arguments that have a few rows only, whoever calls the traced function (layer: ``link``, room ``domains``).

What it does: remembers with how many rows the program calls its transformed functions, as far as it makes the arrays
itself; what is said about loops over an argument holds if these are enough. What it does not: compare the rows that several
callers of a function in a trace give.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import Arr, Bound, Func, Value, Xform
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.tables.code_tables import CodeTable
from jitlint.link.values import paths
from jitlint.link.values.questions.signatures import signature
from jitlint.syntax import ir

FEW: Final = 8
"""Fewer copies of a loop's body than this make no long program."""


@dataclass(slots=True)
class Rows:
    """known: per function and parameter the rows that its callers give, None among them when one is not known."""

    m: Machine
    known: dict[tuple[int, str], set[int | None]] = field(default_factory=dict)


def called(known: Rows, f: Frame, x: Xform, args: Args) -> None:
    """A transformed function is called by host code, or inside another trace."""
    sig = signature(x.target)
    if sig is None:
        return
    plain = type(x.target) in (Func, Bound) and not x.spec.axes and args.more is None and args.kw_more is None
    small = plain and f.module.is_test <= sig.func.fn.module.is_test
    given = dict(zip([p.name for p in sig.positional], args.pos)) | args.kw
    for param in sig.params:
        rows = known.known.setdefault((sig.func.fn.id, param.name), set())
        rows.add(_count(given.get(param.name)) if small else None)


def _count(value: Value | None) -> int | None:
    return value.dims[0] if type(value) is Arr and value.dims else None


class Enough:
    """Nobody calls a function with a few rows only. params: what a loop goes through, by function and name."""

    def __init__(self, known: Rows, params: list[tuple[int, str]]) -> None:
        self.known = known
        self.params = params

    def holds(self, found: Found) -> bool:
        """Whether none of the parameters has a few rows whenever it is known to be given."""
        return not any(_few(self.known.known.get(param)) for param in self.params)


def enough(known: Rows, f: Frame, table: CodeTable, node: ir.Node | None) -> tuple[Enough, ...]:
    """The condition on what is said of a loop that goes through what ``node`` says."""
    if f.fn is None:
        return ()
    params = {p.name for p in f.fn.node.params}
    names = [name for name in _names(node) if name in params and not table.bound.get(name)]
    return (Enough(known, [(f.fn.id, name) for name in names]),) if names else ()


def are_few(m: Machine, f: Frame, node: ir.Node) -> bool:
    """Whether what is gone through here has a few rows, for who calls the function this time."""
    wrapped = [arg.value for arg in node.args] if type(node) is ir.Call else [node]
    counts = [_count(paths.peek(m, f, part)) for part in wrapped]
    return any(count is not None and count < FEW for count in counts)


def _names(node: ir.Node | None) -> list[str]:
    """The variables whose rows are counted: ``x``, ``enumerate(x)``, ``range(len(x) - 1)``, ``range(x.shape[0])``."""
    if type(node) is ir.Name:
        return [node.id]
    if type(node) is ir.Call and type(node.func) is ir.Name:
        if node.func.id in lexicon().python.counted:
            return [name for arg in node.args for name in _names(arg.value)]
        return [name for arg in node.args for name in _length(arg.value)] if node.func.id == "range" else []
    return []


def _length(node: ir.Node | None) -> list[str]:
    if type(node) is ir.BinOp and node.op == "-":
        return _length(node.left)
    if (
        type(node) is ir.Sub
        and type(node.obj) is ir.Attr
        and node.obj.name == "shape"
        and type(node.index) is ir.Const
    ):
        return _names(node.obj.obj) if node.index.value == 0 else []
    return _names(node) if type(node) is ir.Call else []


def _few(rows: set[int | None] | None) -> bool:
    return bool(rows) and all(count is not None and count < FEW for count in rows or ())
