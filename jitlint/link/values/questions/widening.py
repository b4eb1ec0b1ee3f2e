"""Numbers of NumPy that make 16-bit floats wider (layer: ``link``, room ``values``).

What it does: finds operators on an array whose dtype is known and a number that NumPy made, the type of which does not give way.
What it does not: speak of arrays that are promoted by others, which is how mixed precision is written; nor of a function that
turns what it computes into another type afterwards, which knows what it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue import dtypes
from jitlint.infer.events import WidenedArray
from jitlint.infer.grounds import SEEN
from jitlint.infer.values import Arr, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_names, last_name, path_text
from jitlint.syntax import ir
from jitlint.syntax.children import below

_OPERATORS: Final = frozenset({"+", "-", "*", "/", "//", "%", "**"})
_NARROW: Final = frozenset({"bfloat16", "float16"})
_WIDE: Final = frozenset({"float32", "float64"})
_CASTS: Final = "astype"


def check(m: Machine, f: Frame, at: int, op: str, pair: tuple[Value, Value]) -> None:
    """Record an array that an operator makes wider."""
    if op not in _OPERATORS or f.fn is None:
        return
    for array, number in (pair, pair[::-1]):
        narrow, wide = narrow_dtype(array), _wide(number)
        if not narrow or not wide:
            continue
        parts = f.fn.parts
        node = next((part for part in parts if type(part) is ir.BinOp and part.at == at), None)
        if node is not None and not _is_cast(parts, node):
            text = _text(node.right if number is pair[1] else node.left)
            m.emit(f, WidenedArray, at, None, Confidence.LIKELY, narrow=narrow, wide=wide, number=text)


def _text(node: ir.Expr) -> str:
    """How a number is written, as far as that is a path or the call of one."""
    return f"{path_text(node.func)}(...)" if type(node) is ir.Call else path_text(node)


def narrow_dtype(value: Value | None) -> str:
    """The dtype of an array of JAX's that has 16-bit floats, else ""."""
    exact = (
        dtypes.exact_of(value.dtype) if type(value) is Arr and not value.host and value.kind is SEEN else None
    )
    return exact if exact in _NARROW else ""


def _wide(value: Value) -> str:
    """The dtype of a number that NumPy made, as JAX takes it, "" where that is none of more than 16 bits."""
    if type(value) is not Arr or not value.host or value.rank != 0 or value.kind is not SEEN:
        return ""
    exact = dtypes.exact_of(value.dtype)
    shown = dtypes.shown(exact) if exact is not None and not dtypes.is_weak(exact) else ""
    return shown if shown in _WIDE else ""


def _is_cast(parts: Sequence[ir.Node], node: ir.BinOp) -> bool:
    """Whether a function turns something into another type afterwards: this operation's result, or something later, if that is not
    wide itself."""
    before = set(map(id, below(node)))
    casts = [part for part in parts if type(part) is ir.Call and last_name(part.func) == _CASTS]
    names = {
        name.id
        for part in parts
        if type(part) is ir.Assign and any(one is node for one in below(part.value))
        for name in bound_names(part.targets)
    }
    return any(
        id(cast) not in before
        and (
            any(part is node for part in below(cast))
            or (cast.at > node.at and not (_is_wide(cast) and last_name(_operand(cast)) not in names))
        )
        for cast in casts
    )


def _operand(cast: ir.Call) -> ir.Node | None:
    return cast.func.obj if type(cast.func) is ir.Attr else None


def _is_wide(cast: ir.Call) -> bool:
    return any(last_name(arg.value) in _WIDE for arg in cast.args)
