"""Running averages in 16 bits, whose steps are rounded away (layer: ``link``, room ``domains``).

What it does: finds sums that keep a known share of an array of 16-bit floats, and add so little of another that the sum is the number
of before, wherever the two are not far apart. What it does not: speak of shares that are not known, of results that stay in more
bits, or of code that is not said to average or follow anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Optional, TypeGuard

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import StalledAverage
from jitlint.infer.values import Arr, Value, const_of
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.jax.mapping import leaves
from jitlint.link.tables import bound_once, naming
from jitlint.link.tables.ir_walk import last_name, path_text
from jitlint.link.values import arithmetic, paths
from jitlint.link.values.questions.widening import narrow_dtype
from jitlint.syntax import ir
from jitlint.syntax.children import below

_EPSILON: Final = {"bfloat16": 2.0**-7, "float16": 2.0**-10}
"""How far 1 is from the next number."""
_STEPS: Final = 1.5
"""A share of at most so many of these moves a number by one only if the other is larger by a third or more."""
_SAME: Final = 1e-6
_Factor = tuple[ir.Expr, Optional[float]]
"""An expression, and the number that it is multiplied by."""
_Average = tuple[str, float]
"""The dtype of what is kept, and the share of the new that is added."""


def check(m: Machine, f: Frame, node: ir.BinOp, operands: tuple[Value, Value]) -> None:
    """Record a sum that keeps nearly all of an array of 16-bit floats."""
    if node.op not in ("+", "-") or f.fn is None:
        return
    dtypes = [narrow_dtype(value) for value in operands]
    if not any(dtypes) and not _may_be_widened(node, operands[0]):
        return
    widened = not any(dtypes) or any(
        type(value) is Arr and not dtype for value, dtype in zip(operands, dtypes)
    )
    average = next(filter(_is_too_small, _averages(m, f, node)), None)
    if average is None:
        return
    around = [part for part in f.qualname.split(".") if part.isidentifier()]
    names = [
        f.module.name.rpartition(".")[2],
        *around,
        *map(path_text, _outer_parts(f)),
        *map(path_text, below(node)),
    ]
    if _is_said(names) and not (widened and not _is_cast_back(m, f, node)):
        m.emit(
            f, StalledAverage, node.at, None, Confidence.LIKELY, dtype=average[0], share=_shown(average[1])
        )


def _outer_parts(f: Frame) -> Sequence[ir.Node]:
    """The code of the function that the one which runs is written in."""
    outer = f.scope.parent.fn if f.scope.parent is not None else None
    return outer.parts if outer is not None else ()


def heard(m: Machine, f: Frame, at: int, args: Args) -> None:
    """Record such an average that ``optax.incremental_update`` takes of trees."""
    old, size = args.get(1, "old_tensors"), args.get(2, "step_size")
    share = const_of(size) if size is not None else None
    found = set(map(narrow_dtype, leaves(old))) if old is not None else set()
    dtype = found.pop() if len(found) == 1 else ""
    if dtype and isinstance(share, float) and _is_too_small((dtype, share)):
        m.emit(f, StalledAverage, at, None, Confidence.LIKELY, dtype=dtype, share=_shown(share))


def _averages(m: Machine, f: Frame, node: ir.BinOp) -> Iterator[_Average]:
    """The ways to read a sum as an average of an array of 16-bit floats and something else."""
    for kept, share in _read(m, f, node):
        dtype = narrow_dtype(paths.peek(m, f, _before_cast(kept) or kept))
        if dtype and share is not None:
            yield dtype, share


def _may_be_widened(node: ir.BinOp, left: Value) -> bool:
    """Whether a part of a sum of arrays is cast, as 16 bits may be that are computed with in 32."""
    return type(left) is Arr and any(map(_before_cast, _factors(node)))


def _factors(node: ir.BinOp) -> list[ir.Expr]:
    """The two sides of a sum, and what they are products of."""
    sides = [node.left, node.right]
    products = [side for side in sides if type(side) is ir.BinOp and side.op == "*"]
    return sides + [part for side in products for part in (side.left, side.right)]


def _before_cast(node: ir.Expr) -> ir.Expr | None:
    """What ``x.astype(...)`` gives in other bits."""
    func = node.func if type(node) is ir.Call else None
    return func.obj if type(func) is ir.Attr and func.name == "astype" else None


def _read(m: Machine, f: Frame, node: ir.BinOp) -> Iterator[_Factor]:
    """What is kept, and the share of the new."""
    yield from _moved(m, f, node.left, node.right, node.op == "+")
    if node.op == "+":
        yield from _moved(m, f, node.right, node.left, True)
        yield from _shared(m, f, node.left, node.right)
        yield from _shared(m, f, node.right, node.left)


def _shared(m: Machine, f: Frame, one: ir.Expr, other: ir.Expr) -> Iterator[_Factor]:
    """``d * a + (1 - d) * n``."""
    new = [number for _, number in _scaled(m, f, other) if number is not None]
    for kept, share in _scaled(m, f, one):
        if share is not None and any(abs(share + number - 1) < _SAME for number in new):
            yield kept, 1 - share


def _moved(m: Machine, f: Frame, kept: ir.Expr, step: ir.Expr, added: bool) -> Iterator[_Factor]:
    """``a + s * (n - a)``, or ``a - s * (a - n)`` where the step is not added."""
    path = path_text(kept)
    for way, share in _scaled(m, f, step) if path else ():
        if _is_difference(way) and path_text(way.right if added else way.left) == path:
            yield kept, share


def _is_difference(node: ir.Expr) -> TypeGuard[ir.BinOp]:
    return type(node) is ir.BinOp and node.op == "-"


def _scaled(m: Machine, f: Frame, node: ir.Expr) -> Iterator[_Factor]:
    """The factors of a product, each with the number that the other is."""
    if type(node) is ir.BinOp and node.op == "*":
        yield node.right, _number(m, f, node.left)
        yield node.left, _number(m, f, node.right)


def _number(m: Machine, f: Frame, node: ir.Expr) -> float | None:
    """What a number of Python's is, that is written here or in a variable, or is what such a one leaves of 1."""
    if type(node) is ir.BinOp and node.op == "-":
        pair = _number(m, f, node.left), _number(m, f, node.right)
        return None if pair[0] is None or pair[1] is None else arithmetic.FOLD["-"](*pair)
    const = paths.constant(m, f, node)
    return float(const) if isinstance(const, (int, float)) else None


def _is_too_small(average: _Average) -> bool:
    dtype, share = average
    return 0 < share <= _STEPS * _EPSILON[dtype]


def _is_said(names: Sequence[str]) -> bool:
    """Whether names say that something is averaged, or follows something else."""
    words = lexicon().arrays.averages
    return any(naming.has_word(part, words) for name in names for part in name.split("."))


def _is_cast_back(m: Machine, f: Frame, node: ir.BinOp) -> bool:
    """Whether a result of more bits gets 16 of them again at once."""
    cast = next(
        (
            part
            for part in (f.fn.parts if f.fn is not None else ())
            if type(part) is ir.Call
            and last_name(part.func) == "astype"
            and type(part.func) is ir.Attr
            and bound_once.written(f.fn, part.func.obj) is node
            and part.args
        ),
        None,
    )
    if cast is None:
        return False
    asked = cast.args[0].value
    owner = paths.peek(m, f, asked.obj) if type(asked) is ir.Attr and asked.name == "dtype" else None
    if owner is not None:
        return bool(narrow_dtype(owner))
    return last_name(asked) in _EPSILON


def _shown(share: float) -> str:
    return f"{share:.2g}"
