"""Functions that name the axes of an array, or letters for them (layer: ``link``, room ``models``).

What it does: says where an array lacks the axes that a call names, or has sizes that the call refuses, and which sizes the
result has; as measured. What it does not: know the operators and the functions that combine arrays element by element, which
are in `unfit`. A size or a number of axes that is not known fits everything.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.ranks import Form
from jitlint.catalogue.schema import ApiFunction
from jitlint.infer.dims import Dims, shape_text
from jitlint.infer.values import NONE, Arr, Py, Seq, Tup, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import lengths, results
from jitlint.link.values import fitting, iteration
from jitlint.syntax import ir
from jitlint.syntax.children import below

_ByName = Mapping[str, Value]


def check(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound, receiver: Arr | None) -> bool:
    """Whether a call is refused for the axes and sizes of its array. No argument is hidden behind ``*`` or ``**``."""
    form = lexicon().arrays.moves.get(fn.name, "")
    if form == "letters":
        return _letters(m, f, at, fn, bound)
    if form == "drawn":
        return _undrawable(m, f, at, fn, bound)
    array = _array(bound, receiver)
    rank = fitting.rank_of(array) if array is not None and fitting.is_array(array) else None
    if array is None or not rank:
        return False
    by_name = _by_name(bound)
    if form == "permuted":
        return _permuted(m, f, at, fn, bound, array, rank)
    if _lacks_axis(m, f, at, fn, by_name, array, rank):
        return True
    dims = fitting.dims_of(array) or ()
    refuses = _REFUSES.get(form)
    return refuses is not None and refuses(m, f, at, fn, by_name, array, dims)


def _lacks_axis(
    m: Machine, f: Frame, at: int, fn: ApiFunction, by_name: _ByName, array: Arr, rank: int
) -> bool:
    inserted = lexicon().arrays.moves.get(fn.name) == "inserted"
    room = rank + len(_numbers(by_name.get("axis")) or ()) if inserted else rank
    for name in lexicon().arrays.axes.get(fn.name, "").split("-"):
        for axis in _numbers(by_name.get(name)) or ():
            if not -room <= axis < room and is_written(m, f, at, axis):
                return fitting.report(m, f, at, fn.name, "axis", f"{axis} of {rank}", array)
    return False


def sizes(
    m: Machine, fn: ApiFunction, bound: results.Bound, receiver: Arr | None, rank: int | None
) -> Dims | None:
    """The sizes of what a function gives that moves, adds or takes away axes. rank: how many axes its result has."""
    form = lexicon().arrays.moves.get(fn.name, "")
    if form == "letters":
        return _by_letters(bound)
    array = _array(bound, receiver)
    dims = fitting.dims_of(array) if array is not None else None
    if array is None or dims is None:
        return None
    by_name = _by_name(bound)
    moved = _MOVES.get(form)
    out = moved(dims, by_name, bound) if moved is not None else _reduced(m, fn, dims, by_name, array)
    known = rank is None and form in _OF_ANY_RANK
    return out if out is not None and (len(out) == rank or known) else None


def is_written(m: Machine, f: Frame, at: int, axis: int) -> bool:
    """Whether the axis stands in the call: one that comes with the array may be held against its axes first."""
    call = m.texts.table(f).calls.get(at)
    nodes = below([arg.value for arg in call.args]) if call is not None else []
    return any(type(node) is ir.Const and node.value == abs(axis) for node in nodes)


def _array(bound: results.Bound, receiver: Arr | None) -> Arr | None:
    found = receiver if receiver is not None else bound[0][1] if bound else None
    return found if type(found) is Arr else None


def _by_name(bound: results.Bound) -> _ByName:
    return {param.name: value for param, value in bound}


def _numbers(value: Value | None) -> list[int] | None:
    """The integers of an argument that is one or several, if all of them are known."""
    items = iteration.known_items(value) if isinstance(value, (Tup, Seq)) else [value]
    consts = [item.const if type(item) is Py else None for item in items or ()]
    numbers = [const for const in consts if type(const) is int]
    return numbers if items is not None and len(numbers) == len(items) else None


# Axes in another order


def _order(bound: results.Bound) -> list[int] | None:
    """The axes that a call puts in order; empty where it names none."""
    given = [value for param, value in bound if param.name in ("axes", "args") and value is not NONE]
    if len(given) == 1:
        return _numbers(given[0])
    each = [_numbers(value) for value in given]
    return None if None in each else [number for numbers in each for number in numbers or ()]


def _permuted(
    m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound, array: Arr, rank: int
) -> bool:
    order = _order(bound)
    if not order or not all(is_written(m, f, at, axis) for axis in order):
        return False
    odd = next((axis for axis in order if not -rank <= axis < rank), None)
    if odd is not None:
        return fitting.report(m, f, at, fn.name, "axis", f"{odd} of {rank}", array)
    return len(order) != rank and fitting.report(
        m, f, at, fn.name, "order", f"{len(order)} and {rank}", array
    )


def _in_order(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    order = _order(bound)
    if order is None:
        return None
    rank = len(dims)
    if not order:
        return tuple(reversed(dims))
    inside = all(-rank <= axis < rank for axis in order)
    fits = inside and sorted(axis % rank for axis in order) == list(range(rank))
    return tuple([dims[axis] for axis in order]) if fits else None


def _swapped(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    pair = [_numbers(by_name.get(name)) for name in ("axis1", "axis2")]
    numbers = [axis for axes in pair for axis in axes or ()]
    if len(numbers) != 2 or not all(-len(dims) <= axis < len(dims) for axis in numbers):
        return None
    out = list(dims)
    out[numbers[0]], out[numbers[1]] = dims[numbers[1]], dims[numbers[0]]
    return tuple(out)


# Axes more or fewer


def _inserted(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    axes = _numbers(by_name.get("axis"))
    if axes is None:
        return None
    room = len(dims) + len(axes)
    new = {axis % room for axis in axes}
    rest = iter(dims)
    return tuple([1 if i in new else next(rest, None) for i in range(room)])


def _dropped(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    axes = _numbers(by_name.get("axis"))
    return None if axes is None else _without(dims, axes, keep=False)


def _without(dims: Dims, axes: list[int], keep: bool) -> Dims | None:
    if not all(-len(dims) <= axis < len(dims) for axis in axes):
        return None
    gone = {axis % len(dims) for axis in axes}
    return tuple([1 if i in gone else size for i, size in enumerate(dims) if keep or i not in gone])


def _spread(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    wanted = _numbers(by_name.get("shape"))
    return None if wanted is None else tuple(wanted)


def _same(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    return dims


def _hot(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    classes = _numbers(by_name.get("num_classes"))
    return (*dims, classes[0]) if classes and "axis" not in by_name else None


def _solution(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    right = by_name.get("b")
    sizes = fitting.dims_of(right) if right is not None else None
    return sizes if len(dims) == 2 and sizes is not None and len(sizes) in (1, 2) else None


_MOVES: Final[dict[str, Callable[[Dims, _ByName, results.Bound], Dims | None]]] = {
    "permuted": _in_order,
    "swapped": _swapped,
    "inserted": _inserted,
    "dropped": _dropped,
    "spread": _spread,
    "same": _same,
    "hot": _hot,
    "solved": _solution,
    "half-spectrum": lengths.half_spectrum,
    "from-half-spectrum": lengths.from_half_spectrum,
    "differences": lengths.differences,
    "padded": lengths.padded,
    "picked": lengths.picked,
    "diagonal": lengths.diagonal,
    "written": lambda dims, by_name, bound: dims,
    "windowed": lengths.windowed,
    "summed-up": lengths.summed_up,
    "gathered": lengths.gathered,
    "searched": lengths.searched,
    "resized": lengths.resized,
    "segmented": lengths.segmented,
    "binned": lengths.binned,
}
_OF_ANY_RANK: Final = frozenset({"picked", "diagonal", "written", "windowed", "segmented", "binned"})
"""What has another number of axes than its array, which is known by the sizes alone."""


def _reduced(m: Machine, fn: ApiFunction, dims: Dims, by_name: _ByName, array: Arr) -> Dims | None:
    """The sizes of an array without the axes that a function goes along."""
    rank = m.catalogue.rank(fn.name)
    form = rank.forms[0] if rank is not None and len(rank.forms) == 1 else None
    if form is None or form.kind != "reduce" or form.number or not _is_of(form, by_name, array):
        return None
    axes = _numbers(by_name.get(form.names[1])) if len(form.names) > 1 else None
    kept = by_name.get(form.names[2]) if len(form.names) > 2 else None
    if axes is None or (kept is not None and (type(kept) is not Py or type(kept.const) is not bool)):
        return None
    return _without(dims, axes, keep=type(kept) is Py and kept.const is True)


def _is_of(form: Form, by_name: _ByName, array: Arr) -> bool:
    return form.names[0] == "self" or by_name.get(form.names[0]) is array


# Sizes that are refused


def _unsqueezable(
    m: Machine, f: Frame, at: int, fn: ApiFunction, by_name: _ByName, array: Arr, dims: Dims
) -> bool:
    for axis in _numbers(by_name.get("axis")) or ():
        size = dims[axis] if -len(dims) <= axis < len(dims) else None
        if size not in (None, 1) and is_written(m, f, at, axis):
            return fitting.report(m, f, at, fn.name, "squeeze", f"{axis} of {shape_text(dims)}", array)
    return False


def _indivisible(
    m: Machine, f: Frame, at: int, fn: ApiFunction, by_name: _ByName, array: Arr, dims: Dims
) -> bool:
    count = by_name.get("indices_or_sections")
    number = count.const if type(count) is Py else None
    axes = _numbers(by_name["axis"]) if "axis" in by_name else [0]
    if type(number) is not int or number < 1 or not axes or not -len(dims) <= axes[0] < len(dims):
        return False
    size = dims[axes[0]]
    return bool(size and size % number) and fitting.report(
        m, f, at, fn.name, "parts", f"{size} and {number}", array
    )


def _unspreadable(
    m: Machine, f: Frame, at: int, fn: ApiFunction, by_name: _ByName, array: Arr, dims: Dims
) -> bool:
    wanted = _numbers(by_name.get("shape"))
    if wanted is None or fits_into(dims, tuple(wanted)):
        return False
    detail = f"{shape_text(dims)} as {shape_text(tuple(wanted))}" if wanted else ""
    return bool(detail) and fitting.report(m, f, at, fn.name, "spread", detail, array)


def _undrawable(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    """What numbers are drawn with, such as their mean, is repeated until it has the shape that is asked for."""
    items = iteration.known_items(next((v for p, v in bound if p.name == "shape"), NONE))
    wanted = tuple(map(fitting.int_of, items or ()))
    for param, value in bound if wanted else ():
        with_them = not param.must_be_static and param.role not in ("consumed-key", "key")
        dims = fitting.dims_of(value) if with_them and fitting.is_array(value) else None
        if dims is not None and not fits_into(dims, wanted):
            detail = f"{shape_text(dims)} as {shape_text(wanted)}"
            return fitting.report(m, f, at, fn.name, "spread", detail, value)
    return False


def _unsolvable(
    m: Machine, f: Frame, at: int, fn: ApiFunction, by_name: _ByName, array: Arr, dims: Dims
) -> bool:
    """The rows of the right-hand side are as many as those of the matrix."""
    right = by_name.get("b")
    sizes = fitting.dims_of(right) if right is not None and fitting.is_array(right) else None
    if type(right) is not Arr or not sizes or len(dims) != 2 or len(sizes) > 2:
        return False
    rows = sizes[0]
    if None in (rows, dims[0]) or rows == dims[0]:
        return False
    return fitting.report(
        m, f, at, fn.name, "right-hand", f"{shape_text(dims)} and {shape_text(sizes)}", right
    )


_REFUSES: Final[dict[str, Callable[..., bool]]] = {
    "solved": _unsolvable,
    "dropped": _unsqueezable,
    "parts": _indivisible,
    "spread": _unspreadable,
}


def pieces(fn: ApiFunction, bound: results.Bound, receiver: Arr | None) -> list[Dims] | None:
    """The sizes of each of the arrays that a function cuts an array into, if it is known how many there are."""
    array = _array(bound, receiver)
    dims = fitting.dims_of(array) if array is not None else None
    by_name = _by_name(bound)
    axes = _numbers(by_name["axis"]) if "axis" in by_name else [0]
    if (
        lexicon().arrays.moves.get(fn.name) != "parts"
        or not dims
        or not axes
        or not -len(dims) <= axes[0] < len(dims)
    ):
        return None
    axis = axes[0] % len(dims)
    cuts = by_name.get("indices_or_sections")
    lengths = _lengths(cuts, dims[axis])
    return None if lengths is None else [(*dims[:axis], n, *dims[axis + 1 :]) for n in lengths]


def _lengths(cuts: Value | None, size: int | None) -> list[int | None] | None:
    """The lengths of the parts of an axis: of so many alike, or between so many places."""
    numbers = _numbers(cuts)
    if numbers is None or len(numbers) > MOST_PIECES:
        return None
    if type(cuts) is Py:
        count = numbers[0]
        alike = size // count if size is not None and count > 0 else None
        return [alike] * count if 0 < count <= MOST_PIECES else None
    if size is None or any(number < 0 for number in numbers):
        return [None] * (len(numbers) + 1)
    places = [0, *[min(number, size) for number in numbers], size]
    return [max(0, end - start) for start, end in itertools.pairwise(places)]


MOST_PIECES: Final = 16
"""So many arrays that one is cut into are told apart."""


def fits_into(dims: Dims, room: Dims) -> bool:
    """Whether an array of these sizes can be repeated until it has those of the place that it is to fill."""
    for size, there in zip(reversed(dims), reversed(room)):
        if size not in (None, 1, there) and there is not None:
            return False
    return all(size in (None, 1) for size in dims[: max(0, len(dims) - len(room))])


# Letters


def _terms(bound: results.Bound) -> tuple[list[str], str | None, list[Value]] | None:
    """The letters of each operand, those of the result if they are written, and the operands; None if they are not known."""
    spec = bound[0][1] if bound and bound[0][0].name == "subscripts" else None
    text = spec.const if type(spec) is Py else None
    if not isinstance(text, str) or "." in text:
        return None
    given, arrow, wanted = text.replace(" ", "").partition("->")
    return given.split(","), wanted if arrow else None, [v for p, v in bound if p.name == "operands"]


def _letters(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    found = _terms(bound)
    if found is None:
        return False
    terms, _, operands = found
    if not all(fitting.is_array(value) for value in operands) or not operands:
        return False
    if len(terms) != len(operands):
        detail = f"{len(terms)} and {len(operands)}"
        return fitting.report(m, f, at, fn.name, "terms", detail, operands[0])
    known: dict[str, int] = {}
    for term, value in zip(terms, operands):
        rank = fitting.rank_of(value)
        if rank is not None and rank != len(term):
            return fitting.report(m, f, at, fn.name, "letters", f"{term} for {rank}", value)
        for letter, size in zip(term, fitting.dims_of(value) or ()):
            if size in (None, 1) or size is None:
                continue
            if known.setdefault(letter, size) != size:
                return fitting.report(
                    m, f, at, fn.name, "letter", f"{letter} and {known[letter]} and {size}", value
                )
    return False


def _by_letters(bound: results.Bound) -> Dims | None:
    """The sizes of the result, by its letters."""
    found = _terms(bound)
    if found is None or found[1] is None or len(found[0]) != len(found[2]):
        return None
    known: dict[str, int] = {}
    for term, value in zip(found[0], found[2]):
        dims = fitting.dims_of(value)
        for letter, size in zip(term, dims or ()) if dims is not None and len(dims) == len(term) else ():
            if size is not None:
                known[letter] = max(size, known.get(letter, size))
    return tuple([known.get(letter) for letter in found[1]])
