"""Arguments that a function of arrays refuses for what they are (layer: ``link``, room ``models``).

What it does: says where arrays are joined that have no such axis or unlike ranks, and where no PRNG key stands where one is
wanted; as measured; and where there is no place for the largest index. What it does not: ask whether an argument is traced, which is for `arrays`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.dtypes import exact_of
from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.schema import ApiFunction
from jitlint.infer.counted import LARGEST_INDEX
from jitlint.infer.dims import Dims, shape_text
from jitlint.infer.events import ApiMisuse, OutOfBounds
from jitlint.infer.values import NO_CONST, Arr, Map, Py, Seq, Tup, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import results, windows
from jitlint.link.values import fitting, iteration
from jitlint.link.values.pytrees import NUMBERS
from jitlint.link.values.questions import counting
from jitlint.syntax import ir

_NO_KEYS: Final = frozenset({*NUMBERS, "str"})
_SEVERAL: Final = "several keys"
_MAKING: Final = frozenset({"split", "fold"})
"""What gives a key without an axis, or one axis of keys, whatever its form."""
_WORDS: Final = (2, 4, None)
"""How many numbers a raw key may have."""


def check(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound, whole: bool) -> bool:
    """Whether a call is refused for what its arguments are. whole: none of them is hidden behind ``*`` or ``**``."""
    form = lexicon().arrays.joins.get(fn.name)
    if form is not None and whole and bound:
        return _joined(m, f, at, fn, bound, form)
    if fn.name in lexicon().arrays.windows and whole and windows.check(m, f, at, fn, bound):
        return True
    _check_size(m, f, at, bound, lexicon().arrays.sized_by.get(fn.name, ""))
    if fn.name in lexicon().arrays.starts:
        return _one_start(m, f, at, fn, bound)
    return _lacks_key(m, f, at, fn, bound)


def _lacks_key(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    for param, value in bound if fn.result.kind != "same" else ():  # what only copies takes anything
        if param.role in ("consumed-key", "key") and param.name == "key":
            what = no_key(value)
            if what and not (what == _SEVERAL and (f.dispatched or fitting.asks_for_axes_of_keys(f))):
                _report(m, f, at, fn, "no-key", param.name, what, value)
                return True
    return False


def _check_size(m: Machine, f: Frame, at: int, bound: results.Bound, name: str) -> None:
    """Record a number of places that is the largest index, for which there is none then. name: of the parameter."""
    counted = (
        next((counting.of(value) for param, value in bound if param.name == name), None) if name else None
    )
    if counted is not None and counted.size_of == LARGEST_INDEX.size_of and counted.plus <= 0:
        m.emit(f, OutOfBounds, at, None, Confidence.LIKELY, largest=name)


def no_key(value: Value) -> str:
    """What a value certainly is instead of one PRNG key, or ""."""
    if type(value) is Arr:
        return _no_key_array(value)
    if type(value) is Py and value.kind in _NO_KEYS and value.const is not NO_CONST:
        return f"the {value.kind} `{value.const!r}`"
    if type(value) is Map:
        return "a dict"
    is_list = type(value) is Seq and value.kind == "list"
    return "a list" if is_list else "a tuple" if type(value) is Tup and value.cls is None else ""


def _no_key_array(value: Arr) -> str:
    if value.dtype == "key":
        made = value.key.step[0] if value.key is not None else ""
        size = value.dims[-1] if value.dims else None
        return _SEVERAL if size not in _WORDS or (value.rank and made in _MAKING) else ""
    if value.dtype is not None and value.rank == 0:
        said = value.dtype == "number" and exact_of(value.dtype) is None
        return "" if said else "one number"  # what is only annotated as a number is often a key
    return f"an array of {value.dtype}s" if value.dtype in ("float", "bool", "complex") else ""


def _joined(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound, form: str) -> bool:
    """Arrays are put together along an axis that they have (``along``), or along one that they get (``new``)."""
    axis = next((v.const if type(v) is Py else v for p, v in bound if p.name in ("axis", "dimension")), 0)
    if type(axis) is not int:
        return False
    param, arrays = bound[0]
    known = {rank: part for part, rank in reversed(_parts(arrays))}
    problem, witness = _misfit(known, axis, form)
    if problem:
        _report(m, f, at, fn, "cannot-join", param.name, problem, witness)
    along = axis if form == "along" else None
    return bool(problem) or _unlike(m, f, at, fn, arrays, along) or _ragged(m, f, at, fn, arrays)


def _ragged(m: Machine, f: Frame, at: int, fn: ApiFunction, arrays: Value) -> bool:
    """Whether rows of unlike lengths are written out: ``jnp.array([[1, 2], [3]])``."""
    call = m.texts.table(f).calls.get(at) if fn.name in lexicon().arrays.takes_in else None
    table = call.args[0].value if call is not None and call.args and not call.args[0].star else None
    rows = table.elts if isinstance(table, (ir.List, ir.Tuple)) else []
    sizes = [_length(row) for row in rows]
    other = next((size for size in sizes if size != sizes[0]), None)
    if other is None or None in sizes:
        return False
    detail = f"{shape_text(sizes[0] or ())} and {shape_text(other)}"
    return fitting.report(m, f, at, fn.name, "sizes", detail, arrays)


def _length(row: ir.Node) -> Dims | None:
    """The size of a row that is written out, none of a number."""
    if isinstance(row, (ir.List, ir.Tuple)):
        return None if any(type(one) is ir.Starred for one in row.elts) else (len(row.elts),)
    return () if type(row) is ir.Const and row.kind in NUMBERS else None


def _unlike(m: Machine, f: Frame, at: int, fn: ApiFunction, arrays: Value, along: int | None) -> bool:
    """Whether arrays of one rank have other sizes than each other, along an axis on which they have to agree."""
    items = iteration.known_items(arrays) if isinstance(arrays, (Tup, Seq)) else None
    sure = [item for item in items or () if fitting.is_array(item)]
    sizes = [fitting.dims_of(item) or () for item in sure]
    if len(sure) < 2 or len(sure) != len(items or ()) or len({len(dims) for dims in sizes}) != 1:
        return False
    pair = _clash(sizes, along)
    if pair is None:
        return False
    one, other = pair
    detail = f"{shape_text(sizes[one])} and {shape_text(sizes[other])}"
    return fitting.report(m, f, at, fn.name, "sizes", detail, sure[other])


def _clash(sizes: Sequence[Dims], along: int | None) -> tuple[int, int] | None:
    """Two of several arrays, all of one rank, that have other sizes along another axis than the one named."""
    rank = len(sizes[0])
    for axis in range(rank):
        there: dict[int, int] = {}
        for i, dims in enumerate(sizes):
            size = dims[axis]
            if size is not None:
                there.setdefault(size, i)
        if len(there) > 1 and (along is None or axis != along % rank):
            one, other = sorted(there.values())[:2]
            return one, other
    return None


def _one_start(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    """Whether one number stands where each axis has its own."""
    value = next((value for param, value in bound if param.name == "start_indices"), None)
    is_number = (
        fitting.is_number(value) if type(value) is Py else value is not None and fitting.is_array(value)
    )
    if value is None or not is_number or fitting.rank_of(value) != 0:
        return False
    m.emit(
        f, ApiMisuse, at, value if type(value) is Arr else None, api=fn.name, problem="wrong-call",
        parameter="start_indices", detail="number", exception="TypeError",
    )  # fmt: skip
    return True


def _misfit(known: dict[int, Value], axis: int, form: str) -> tuple[str, Value | None]:
    """Why arrays of these ranks cannot be put together along an axis, and one that shows it."""
    if form == "along" and 0 in known:
        return "a number", known[0]
    if len(known) > 1:
        first, second = sorted(known, reverse=True)[:2]
        return f"arrays with {_axes(first)} and with {_axes(second)}", known[second]
    for rank, part in known.items():
        size = rank + (form == "new")
        if rank and not -size <= axis < size:
            return f"axis {axis} of arrays with {_axes(rank)}", part
    return "", None


def _parts(arrays: Value) -> list[tuple[Value, int]]:
    """What is joined, with its rank, as far as that is known: the items of a sequence, or the rows of one array."""
    if type(arrays) is Arr:
        return [(arrays, arrays.rank - 1)] if arrays.rank else []
    if not isinstance(arrays, (Tup, Seq)):
        return []
    items = iteration.known_items(arrays)
    if items is None:
        items = [arrays.rest] if type(arrays) is Seq and arrays.rest is not None else []
    ranks = [(item, _rank(item)) for item in items]
    return [(item, rank) for item, rank in ranks if rank is not None]


def _rank(value: Value) -> int | None:
    if type(value) is Py:
        return 0 if value.kind in NUMBERS and value.const is not NO_CONST else None
    return value.rank if type(value) is Arr and value.dtype != "key" else None


def _axes(rank: int) -> str:
    return "1 axis" if rank == 1 else f"{rank} axes" if rank else "none"


def _report(
    m: Machine,
    f: Frame,
    at: int,
    fn: ApiFunction,
    problem: str,
    parameter: str,
    detail: str,
    value: Value | None,
) -> None:
    m.emit(f, ApiMisuse, at, value, api=fn.name, problem=problem, parameter=parameter, detail=detail)
