"""The sizes of arrays that functions make, as their arguments say them (layer: ``link``, room ``models``).

What it does: reads shapes, numbers and nested lists, and puts the sizes of several arrays together, as measured. What it does
not: know which function says its sizes how, which is the catalogue's, or follow what moves axes, which is for `shapes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from jitlint.infer.dims import Dims
from jitlint.infer.values import NONE, UNKNOWN, Arr, ExtInst, Py, Seq, Tup, Value, const_of
from jitlint.link.engine.frame import Args
from jitlint.link.values import fitting


def dims_of(form: str, by_name: dict[str, Value]) -> Dims | None:
    """The sizes of what a function makes, or None. ``form``: how its arguments say them, see ``lexicon.toml``."""
    said = _FORMS.get(form)
    out = said(by_name) if said is not None else None
    return out if out and any(n is not None for n in out) else None


def _said_like(by_name: dict[str, Value]) -> Dims | None:
    first, shape = next(iter(by_name.values()), None), by_name.get("shape")
    return first.dims if type(first) is Arr and shape is None else shape_of(shape)


def _said_as_range(by_name: dict[str, Value]) -> Dims | None:
    given = [const_of(by_name[key]) for key in ("start", "stop", "step") if key in by_name]
    exact = [int(n) for n in given if type(n) is int or (type(n) is float and n.is_integer())]
    if len(exact) == len(given) and exact and (len(exact) < 3 or exact[2]):
        return (len(range(*exact)),)
    return None


def _said_as_count(by_name: dict[str, Value]) -> Dims | None:
    if any(type(by_name.get(key)) is not Py for key in ("start", "stop")):
        return None
    return (fitting.int_of(by_name["num"]) if "num" in by_name else 50,)


def _said_as_square(by_name: dict[str, Value]) -> Dims | None:
    rows = fitting.int_of(by_name.get("N", by_name.get("n")))
    return rows, fitting.int_of(by_name["M"]) if "M" in by_name else rows


def _said_by_nesting(by_name: dict[str, Value]) -> Dims | None:
    return None if "ndmin" in by_name else _nested(by_name.get("object", by_name.get("a")))


_FIRST: Final = Py("int", 0)
_TWO: Final = Py("int", 2)


def _said_by_joining(by_name: dict[str, Value]) -> Dims | None:
    """Of arrays that are put behind one another along an axis."""
    axis = fitting.int_of(by_name.get("axis", by_name.get("dimension", _FIRST)))
    return _put_behind(_all_sizes(next(iter(by_name.values()), None)), axis)


def _put_behind(found: list[Dims] | None, axis: int | None) -> Dims | None:
    ranks = {len(dims) for dims in found or ()}
    if not found or axis is None or len(ranks) != 1 or not -len(found[0]) <= axis < len(found[0]):
        return None
    along = [dims[axis] for dims in found]
    out = list(found[0])
    out[axis] = None if None in along else sum(n for n in along if n is not None)
    return tuple(out)


def _said_by_appending(by_name: dict[str, Value]) -> Dims | None:
    """Of an array that gets more elements: without an axis both are made flat."""
    if "axis" in by_name:
        return None
    both = [_sizes(by_name.get(name)) for name in ("arr", "values")]
    counts = [n for dims in both if dims is not None and (n := _product(dims)) is not None]
    return (sum(counts),) if len(counts) == 2 else None


def _said_by_stacking(by_name: dict[str, Value]) -> Dims | None:
    """Of arrays that are put together along a new axis."""
    found, axis = _all_sizes(next(iter(by_name.values()), None)), fitting.int_of(by_name.get("axis", _FIRST))
    if not found or axis is None or len(set(found)) != 1 or not -len(found[0]) - 1 <= axis <= len(found[0]):
        return None
    place = axis % (len(found[0]) + 1)
    return (*found[0][:place], len(found), *found[0][place:])


def _said_by_standing(by_name: dict[str, Value]) -> Dims | None:
    """Of arrays that stand below each other: those with one axis become rows."""
    found = _all_sizes(next(iter(by_name.values()), None))
    rows = [(1, *([1] * (1 - len(dims))), *dims) if len(dims) < 2 else dims for dims in found or ()]
    return _put_behind(rows, 0)


def _said_side_by_side(by_name: dict[str, Value]) -> Dims | None:
    """Of arrays that stand beside each other, along their second axis if they have one."""
    found = [dims or (1,) for dims in _all_sizes(next(iter(by_name.values()), None)) or ()]
    return _put_behind(found, min(len(found[0]) - 1, 1)) if found else None


def _said_as_columns(by_name: dict[str, Value]) -> Dims | None:
    """Of arrays that become the columns of one, or have them already."""
    found = [dims or (1,) for dims in _all_sizes(next(iter(by_name.values()), None)) or ()]
    return _put_behind([(*dims, 1) if len(dims) == 1 else dims for dims in found], 1)


def _said_by_tiling(by_name: dict[str, Value]) -> Dims | None:
    """Of an array that is repeated as a whole, along its last axes or along new ones."""
    dims, times = _sizes(by_name.get("A")), shape_of(by_name.get("reps"))
    if dims is None or times is None:
        return None
    rank = max(len(dims), len(times))
    both = zip((1,) * (rank - len(dims)) + dims, (1,) * (rank - len(times)) + times)
    return tuple([None if n is None or k is None else n * k for n, k in both])


def _said_by_repeating(by_name: dict[str, Value]) -> Dims | None:
    """Of an array whose elements are repeated, along an axis or as one row."""
    dims, times = _sizes(by_name.get("a")), fitting.int_of(by_name.get("repeats"))
    if dims is None or times is None or "total_repeat_length" in by_name:
        return None
    axis = by_name.get("axis", NONE)
    if axis is NONE:
        count = _product(dims)
        return None if count is None else (count * times,)
    place = fitting.int_of(axis)
    if place is None or not -len(dims) <= place < len(dims):
        return None
    out = list(dims)
    size = dims[place]
    out[place] = None if size is None else size * times
    return tuple(out)


def _said_by_pairs(by_name: dict[str, Value]) -> Dims | None:
    """Of two arrays, each number of one with each of the other."""
    counts = [_sizes(by_name.get(name)) for name in ("a", "b")]
    return tuple([None if dims is None else _product(dims) for dims in counts])


def _said_by_choosing(by_name: dict[str, Value]) -> Dims | None:
    """Of numbers below another, or elements of a row, that are drawn."""
    among = by_name.get("a")
    row = type(among) is Arr and among.rank == 1
    return shape_of(by_name.get("shape", Tup(()))) if row or fitting.int_of(among) is not None else None


def _said_by_shuffling(by_name: dict[str, Value]) -> Dims | None:
    """Of the numbers below another, or of an array, in another order."""
    what = by_name.get("x")
    return _sizes(what) if type(what) is not Py else shape_of(what)


def _all_sizes(value: Value | None) -> list[Dims] | None:
    items = value.items if isinstance(value, (Tup, Seq)) else None
    found = [_sizes(item) for item in items or ()]
    known = [dims for dims in found if dims is not None]
    return known if known and len(known) == len(found) else None


def _sizes(value: Value | None) -> Dims | None:
    if type(value) is Arr:
        return () if value.rank == 0 else value.dims
    return () if type(value) is Py and value.kind in ("int", "float", "bool", "complex") else None


def _product(dims: Dims) -> int | None:
    sizes = [n for n in dims if n is not None]
    return None if len(sizes) < len(dims) else math.prod(sizes)


def _said_by_labels(by_name: dict[str, Value]) -> Dims | None:
    """One number for each label; one label may stand for a whole axis."""
    labels = by_name.get("labels")
    plain = labels is not None and "axis" not in by_name and "where" not in by_name
    dims = fitting.dims_of(labels) if labels is not None and plain else None
    return None if dims is None else tuple([None if size == 1 else size for size in dims])


_FORMS: Final[dict[str, Callable[[dict[str, Value]], Dims | None]]] = {
    "shape": lambda by_name: shape_of(by_name.get("shape")),
    "like": _said_like,
    "range": _said_as_range,
    "count": _said_as_count,
    "number": lambda by_name: shape_of(by_name.get("num", by_name.get("M", _TWO))),
    "square": _said_as_square,
    "nested": _said_by_nesting,
    "joined": _said_by_joining,
    "appended": _said_by_appending,
    "stacked": _said_by_stacking,
    "standing": _said_by_standing,
    "beside": _said_side_by_side,
    "columns": _said_as_columns,
    "tiled": _said_by_tiling,
    "repeated": _said_by_repeating,
    "pairs": _said_by_pairs,
    "chosen": _said_by_choosing,
    "shuffled": _said_by_shuffling,
    "labelled": _said_by_labels,
}


def shape_of(value: Value | None) -> Dims | None:
    """The sizes that a shape says."""
    if type(value) is Tup or (type(value) is Seq and value.items is not None):
        return tuple([fitting.int_of(item) for item in value.items or ()])
    number = fitting.int_of(value)
    counts = number is not None or (type(value) is Py and value.kind == "int")
    return (number,) if counts else None


def _nested(value: Value | None) -> Dims | None:
    if type(value) is Arr:
        return () if value.rank == 0 else value.dims
    if type(value) is Py and value.kind in ("int", "float", "bool", "complex"):
        return ()
    if type(value) is Tup or (type(value) is Seq and value.items is not None and value.kind == "list"):
        items = list(value.items or ())
        inner = {_nested(item) for item in items}
        if len(inner) == 1 and None not in inner:
            return (len(items), *(inner.pop() or ()))
    return None


DRAWS: Final = "jax.random.normal"
"""What an initialiser is like, once it is made."""
_DTYPE: Final = "dtype"


def initialiser(dotted: str, args: Args) -> ExtInst:
    """An initialiser is made, perhaps for another data type than that of most."""
    given = args.kw.get(_DTYPE, UNKNOWN if len(args.pos) > 1 or args.kw_more is not None else None)
    return ExtInst(dotted, None if given is None else {_DTYPE: given})


def drawn(initialiser: ExtInst, args: Args) -> Args | None:
    """The arguments of a call of an initialiser, as those of a draw; None where they are not all known."""
    key, shape, dtype = (args.get(i, name) for i, name in enumerate(("key", "shape", _DTYPE)))
    if key is None or shape is None or args.more is not None or args.kw_more is not None:
        return None
    dtype = initialiser.attrs.get(_DTYPE) if dtype is None else dtype
    return Args([key, shape], {} if dtype is None else {_DTYPE: dtype})
