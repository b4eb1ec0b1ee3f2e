"""Running averages in 16 bits, whose steps are rounded away (layer: ``link``, room ``values``).

What it does: finds sums that keep a known share of an array of 16-bit floats, and add so little of another that the sum is the number
of before, wherever the two are not far apart. What it does not: speak of shares that are not known, of results that stay in more
bits, or of code that is not said to average or follow anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Optional, Union

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import StalledAverage
from jitlint.infer.lattice import parts
from jitlint.infer.values import Arr, Value, const_of
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import last_name, path_text
from jitlint.link.values import arithmetic, paths
from jitlint.link.values.questions.widening import narrow_dtype
from jitlint.syntax import ir
from jitlint.syntax.children import below

_EPSILON: Final = {"bfloat16": 2.0**-7, "float16": 2.0**-10}
"""How far 1 is from the next number."""
_STEPS: Final = 1.5
"""A share of at most so many of these moves a number by one only if the other is larger by a third or more."""
_DEPTH: Final = 3
_Sum = tuple[str, ir.Expr, ir.Expr]
_Average = tuple[ir.Expr, Optional[float]]
"""What is kept, and the share of the new that is added."""


def check(m: Machine, f: Frame, at: int, op: str, pair: tuple[Value, Value]) -> None:
    """Record a sum that keeps nearly all of an array of 16-bit floats."""
    narrow = narrow_dtype(pair[0]) or narrow_dtype(pair[1])
    if op not in ("+", "-") or f.fn is None or not narrow:
        return
    code = f.fn.parts
    node = next((n for n in code if isinstance(n, (ir.BinOp, ir.AugAssign)) and n.at == at), None)
    added = _operands(node) if node is not None else None
    stays = all(narrow_dtype(value) or type(value) is not Arr for value in pair)
    if added is None or not (stays or _is_cast_back(m, f, code, node)):
        return
    for kept, share in _averages(m, f, *added):
        dtype = narrow_dtype(paths.peek(m, f, kept))
        if dtype and _is_too_small(share, dtype) and _is_said(f, [f.fn.name, *map(path_text, below(node))]):
            m.emit(f, StalledAverage, at, None, Confidence.LIKELY, dtype=dtype, share=_shown(share))
            return


def check_call(m: Machine, f: Frame, at: int, args: Args) -> None:
    """Record such an average that ``optax.incremental_update`` takes of trees."""
    old, size = args.get(1, "old_tensors"), args.get(2, "step_size")
    share = const_of(size) if size is not None else None
    found = set(map(narrow_dtype, _leaves(old))) if old is not None else set()
    dtype = found.pop() if len(found) == 1 else ""
    if dtype and isinstance(share, float) and _is_too_small(share, dtype):
        m.emit(f, StalledAverage, at, None, Confidence.LIKELY, dtype=dtype, share=_shown(share))


def _operands(node: Union[ir.BinOp, ir.AugAssign]) -> _Sum:
    if isinstance(node, ir.BinOp):
        return node.op, node.left, node.right
    return node.op, node.target, node.value


def _averages(m: Machine, f: Frame, op: str, left: ir.Expr, right: ir.Expr) -> Iterator[_Average]:
    """The ways to read a sum as an average: ``d * a + (1 - d) * n``, ``a + s * (n - a)``, ``a - s * (a - n)``."""
    for one, other in ((left, right), (right, left)) if op == "+" else ():
        for kept, share in _scaled(m, f, one):
            new = [number for _, number in _scaled(m, f, other)]
            if share is not None and any(n is not None and abs(share + n - 1) < 1e-6 for n in new):
                yield kept, 1 - share
        yield from _moved(m, f, one, other, 1)
    if op == "-":
        yield from _moved(m, f, left, right, 0)


def _moved(m: Machine, f: Frame, kept: ir.Expr, step: ir.Expr, place: int) -> Iterator[_Average]:
    """``s * (n - a)`` as a step from ``a``. place: of ``a`` in the difference."""
    path = path_text(kept)
    for way, share in _scaled(m, f, step):
        if (
            path
            and type(way) is ir.BinOp
            and way.op == "-"
            and path_text((way.left, way.right)[place]) == path
        ):
            yield kept, share


def _scaled(m: Machine, f: Frame, node: ir.Expr) -> Iterator[_Average]:
    """The factors of a product, each with the number that the other is."""
    if type(node) is ir.BinOp and node.op == "*":
        yield node.right, _number(m, f, node.left)
        yield node.left, _number(m, f, node.right)


def _number(m: Machine, f: Frame, node: ir.Expr) -> float | None:
    """What a number of Python's is, that is written here or in a variable, or is what such a one leaves of 1."""
    if type(node) is ir.BinOp and node.op == "-":
        pair = _number(m, f, node.left), _number(m, f, node.right)
        return None if pair[0] is None or pair[1] is None else arithmetic.FOLD["-"](*pair)
    value = paths.peek(m, f, node)
    const = node.value if type(node) is ir.Const else const_of(value) if value is not None else None
    return float(const) if isinstance(const, (int, float)) else None


def _is_too_small(share: float | None, dtype: str) -> bool:
    return share is not None and 0 < share <= _STEPS * _EPSILON[dtype]


def _is_said(f: Frame, names: Sequence[str]) -> bool:
    """Whether names say that something is averaged, or follows something else."""
    words = lexicon().arrays.averages
    return any(naming.has_word(part, words) for name in names for part in name.split("."))


def _is_cast_back(m: Machine, f: Frame, code: Sequence[ir.Node], node: ir.Node | None) -> bool:
    """Whether a result of more bits gets 16 of them again at once."""
    cast = next(
        (
            part
            for part in code
            if type(part) is ir.Call
            and last_name(part.func) == "astype"
            and type(part.func) is ir.Attr
            and part.func.obj is node
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


def _leaves(value: Value, depth: int = _DEPTH) -> Iterator[Value]:
    if type(value) is Arr or not depth:
        yield value
    else:
        for part in parts(value):
            yield from _leaves(part, depth - 1)


def _shown(share: float | None) -> str:
    return f"{share:.2g}"
