"""Functions whose results have longer or shorter axes than their array (layer: ``link``, room ``models``).

What it does: says which sizes these results have, as measured. What it does not: know which function does what, which is the
catalogue's, or refuse anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jitlint.infer.dims import Dims
from jitlint.infer.values import NONE, Arr, Py, Value
from jitlint.link.models.arrays import making, results
from jitlint.link.values import fitting, iteration

_LAST: Final = Py("int", -1)
_ONE: Final = Py("int", 1)
_ZERO: Final = Py("int", 0)
_TRUE: Final = Py("bool", True)

_ByName = Mapping[str, Value]


def half_spectrum(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of the Fourier transform of real numbers, which leaves out the second half."""
    size = _asked(dims, by_name)
    return None if size is None else _with(dims, by_name, size // 2 + 1)


def from_half_spectrum(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of the inverse of that."""
    asked = by_name.get("n", NONE)
    size = _asked(dims, by_name)
    if size is None:
        return None
    return _with(dims, by_name, size if asked is not NONE else 2 * (size - 1))


def differences(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of the differences between neighbours."""
    times, size = fitting.int_of(by_name.get("n", _ONE)), _along(dims, by_name)
    if times is None or times < 0 or size is None or "prepend" in by_name or "append" in by_name:
        return None
    return _with(dims, by_name, max(size - times, 0))


def padded(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of an array that gets more elements on both sides of its axes."""
    widths = _widths(by_name.get("pad_width"), len(dims))
    if widths is None or any(width < 0 for width in widths):
        return None
    return tuple([None if size is None else size + width for size, width in zip(dims, widths)])


def windowed(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of a window of an array, along all of its axes or along one."""
    if "slice_sizes" in by_name:
        return making.shape_of(by_name["slice_sizes"])
    if "index" in by_name:
        return _at_index(dims, by_name)
    size = fitting.int_of(by_name.get("slice_size"))
    return None if size is None else _with(dims, {"axis": by_name.get("axis", _ZERO)}, size)


def _at_index(dims: Dims, by_name: _ByName) -> Dims | None:
    """Of what is at one place of an axis; the axis stays, with one element, unless it is not wanted."""
    kept = by_name.get("keepdims", _TRUE)
    axis = fitting.int_of(by_name.get("axis", _ZERO))
    if type(kept) is not Py or type(kept.const) is not bool or axis is None:
        return None
    if not -len(dims) <= axis < len(dims):
        return None
    axis %= len(dims)
    return (*dims[:axis], *((1,) if kept.const else ()), *dims[axis + 1 :])


def _widths(value: Value | None, rank: int) -> list[int] | None:
    """How many elements each axis gets: one number or one pair for all of them, or one pair for each."""
    number = fitting.int_of(value)
    if number is not None:
        return [2 * number] * rank
    items = iteration.known_items(value) if value is not None else None
    if not items:
        return None
    plain = making.shape_of(value)
    if plain is not None and None not in plain:
        return [sum(n for n in plain if n is not None) * (2 // len(plain))] * rank if len(plain) < 3 else None
    sums = [_pair(item) for item in items]
    known = [width for width in sums if width is not None]
    if len(known) < len(items):
        return None
    return known * rank if len(known) == 1 else known if len(known) == rank else None


def _pair(value: Value) -> int | None:
    """How many elements an axis gets before and behind, together."""
    pair = making.shape_of(value)
    if pair is None or len(pair) != 2 or pair[0] is None or pair[1] is None:
        return None
    return pair[0] + pair[1]


def picked(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of elements that are taken by their numbers: along an axis, or of the flat array."""
    indices = by_name.get("indices")
    if not isinstance(indices, (Arr, Py)):
        return None
    there = fitting.dims_of(indices)
    axis = by_name.get("axis", NONE)
    if there is None or axis is NONE:
        return there
    place = fitting.int_of(axis)
    if place is None or not -len(dims) <= place < len(dims):
        return None
    place %= len(dims)
    return (*dims[:place], *there, *dims[place + 1 :])


def diagonal(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of a matrix with a vector as its diagonal, or of the diagonal of a matrix."""
    offset = fitting.int_of(by_name.get("k", _ZERO))
    if offset is None or None in dims:
        return None
    sizes = [size for size in dims if size is not None]
    if len(sizes) == 1:
        return (sizes[0] + abs(offset),) * 2
    if len(sizes) != 2:
        return None
    return (max(min(sizes[0] + min(offset, 0), sizes[1] - max(offset, 0)), 0),)


def summed_up(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of losses, one for all classes of an example."""
    return dims[:-1] if dims and "axis" not in by_name and "where" not in by_name else None


def gathered(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of elements that are taken along an axis, as many as there are numbers of them; else as many as in both."""
    indices, place = by_name.get("indices"), fitting.int_of(by_name.get("axis", _LAST))
    there = fitting.dims_of(indices) if indices is not None else None
    if there is None or len(there) != len(dims) or place is None or not -len(dims) <= place < len(dims):
        return None
    place %= len(dims)
    return tuple(
        [many if i == place or size == 1 else size for i, (size, many) in enumerate(zip(dims, there))]
    )


def searched(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of the places of some numbers, in the order of others."""
    wanted = by_name.get("v")
    return fitting.dims_of(wanted) if wanted is not None else None


def resized(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of an image that is as large as asked for."""
    return making.shape_of(by_name.get("shape"))


def segmented(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of sums, or the like, of so many segments of rows."""
    ids = by_name.get("segment_ids")
    count, flat = fitting.int_of(by_name.get("num_segments")), ids is not None and fitting.rank_of(ids) == 1
    return (count, *dims[1:]) if count is not None and flat else None


def binned(dims: Dims, by_name: _ByName, bound: results.Bound) -> Dims | None:
    """Of how often each number is there, up to a length that is asked for."""
    count = fitting.int_of(by_name.get("length"))
    return None if count is None else (count,)


def _asked(dims: Dims, by_name: _ByName) -> int | None:
    """How many elements of the axis a transform takes: all of them, or as many as are asked for."""
    asked = by_name.get("n", NONE)
    return _along(dims, by_name) if asked is NONE else fitting.int_of(asked)


def _along(dims: Dims, by_name: _ByName) -> int | None:
    """The size of the axis that a function goes along."""
    axis = fitting.int_of(by_name.get("axis", _LAST))
    return dims[axis] if axis is not None and -len(dims) <= axis < len(dims) else None


def _with(dims: Dims, by_name: _ByName, size: int) -> Dims | None:
    """The sizes with another one along that axis."""
    axis = fitting.int_of(by_name.get("axis", _LAST))
    if axis is None or not -len(dims) <= axis < len(dims):
        return None
    axis %= len(dims)
    return (*dims[:axis], size, *dims[axis + 1 :])
