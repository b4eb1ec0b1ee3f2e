"""Parts of arrays: the sizes that an index leaves (layer: ``link``, room ``values``).

What it does: reads what stands between the brackets, as NumPy does. What it does not: say whether an index is out of bounds, which
is for `questions.outside`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.infer.dims import Dims
from jitlint.infer.grounds import SEEN
from jitlint.infer.values import Arr, Py, SliceVal, Value
from jitlint.link.values import fitting
from jitlint.link.values.questions import counting


def after(dims: Dims | None, index: Sequence[Value]) -> Dims | None:
    """The sizes of a part of an array, or None if even their number is not known. index: what stands between the brackets.

    Arrays of integers in the index are put together, and their axes stand where the first of them stood; in front, if
    something else stands between them. Source: https://numpy.org/doc/stable/user/basics.indexing.html#advanced-indexing
    """
    parts = _spelled_out(dims, index) if dims is not None else None
    if dims is None or parts is None:
        return None
    kept: list[int | None] = []
    picked: list[Dims] = []
    places: list[tuple[int, int]] = []
    sizes = iter(dims)
    for number, part in enumerate(parts):
        if _is_kind(part, "none"):
            kept.append(1)
            continue
        size = next(sizes)
        if type(part) is SliceVal:
            kept.append(_size_of(part, size))
            continue
        found = _picked(part)
        if found is None:
            return None
        picked.append(found)
        places.append((number, len(kept)))
    together = fitting.together(picked)
    if together is None or together is fitting.CLASH:
        return None
    apart = bool(places) and places[-1][0] - places[0][0] >= len(places)
    at = 0 if apart or not places else places[0][1]
    return (*kept[:at], *together, *kept[at:], *sizes)


def part_on_host(arr: Arr, index: Sequence[Value]) -> Arr:
    """A part of an array of NumPy."""
    shape = fitting.shape_of(arr)
    dims = after(shape, index)
    out = Arr(0, arr.dtype, None if dims is None else len(dims), "", 0, SEEN, True)
    out.dims, out.about = fitting.known(dims), counting.part_of(arr.about, index, shape[0] if shape else None)
    return out


_WHOLE: Final = SliceVal(None, None, None)


def _spelled_out(dims: Dims, index: Sequence[Value]) -> Sequence[Value] | None:
    """An index with as many slices as its dots stand for; None if it asks for more axes than there are."""
    dots = [number for number, part in enumerate(index) if _is_kind(part, "ellipsis")]
    missing = len(dims) - sum(not _is_kind(part, "none") for part in index) + len(dots)
    if len(dots) > 1 or missing < 0:
        return None
    return [*index[: dots[0]], *[_WHOLE] * missing, *index[dots[0] + 1 :]] if dots else index


def _is_kind(part: Value, kind: str) -> bool:
    return type(part) is Py and part.kind == kind


def _picked(part: Value) -> Dims | None:
    """The sizes of a number or an array of integers that picks elements; None for anything else."""
    if _is_kind(part, "int"):
        return ()
    if type(part) is not Arr or part.rank is None:
        return None
    if part.dtype not in ("int", "number") and (part.rank or part.dtype is not None):
        return None
    return fitting.shape_of(part)


def are_too_many(arr: Arr, parts: Sequence[Value]) -> bool:
    """Whether there are certainly more indices than the array has axes."""
    rank = fitting.rank_of(arr) if fitting.is_sure(arr) else None
    if rank is None or len(parts) <= rank:
        return False
    taking = [part for part in parts if not _is_kind(part, "none")]
    return len(taking) > rank and all(type(part) is SliceVal or _is_kind(part, "int") for part in taking)


def turned(name: str, obj: Arr, array: Arr) -> Arr:
    """What an attribute of an array gives, with the sizes that it has."""
    array.about = obj.about._replace(counted=None, rows=None, ragged=False, given=0, grown=0)
    dims, array.dims = obj.dims, obj.dims if name in ("real", "imag") else None
    if dims is not None and name == "T":
        array.dims = dims[::-1]
    elif dims is not None and name == "mT" and len(dims) > 1:
        array.dims = (*dims[:-2], dims[-1], dims[-2])
    return array


def replaced(dims: Dims | None, index: Sequence[Value]) -> Dims | None:
    """The sizes of a part of an array that an update replaces, empty for one element; None where the index is not understood."""
    is_plain = all(type(part) is SliceVal or _is_kind(part, "int") for part in index)
    return after(dims, index) if is_plain else None


def _size_of(part: SliceVal, size: int | None) -> int | None:
    bounds = [part.lo, part.hi, part.step]
    known = [fitting.int_of(bound) for bound in bounds]
    if size is None or known[2] == 0 or any(n is None and b is not None for n, b in zip(known, bounds)):
        if size is not None and part.step is None and None not in (part.lo, part.hi):
            return counting.size_of(part, size)
        return size if all(bound is None for bound in bounds) else None
    return len(range(*slice(*known).indices(size)))
