"""Indices that are out of bounds whatever the numbers are (layer: ``link``, room ``values``).

What it does: compares constant indices with constant sizes of arrays made here, and indices written with the size of
the very array (``x[x.shape[0]]``, ``x[i + 1]`` in a loop over ``range(len(x))``) with that size. What it does not:
guess; where a size or an index has a second definition or a test stands in the way, it is silent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.infer.dims import Dims
from jitlint.infer.events import OutOfBounds
from jitlint.infer.grounds import SEEN
from jitlint.infer.values import NO_CONST, Arr, At, Py, SliceVal, Tree, Tup, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import sizes
from jitlint.link.values import fitting
from jitlint.syntax import ir


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
    dims = after(fitting.shape_of(arr), index)
    out = Arr(0, arr.dtype, None if dims is None else len(dims), "", 0, SEEN, True)
    out.dims, out.about = fitting.known(dims), arr.about
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


def turned(name: str, dims: Dims | None, array: Arr) -> Arr:
    """What an attribute of an array gives, with the sizes that it has."""
    if name in ("real", "imag"):
        array.dims = dims
    elif dims is not None and name == "T":
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
        return size if all(bound is None for bound in bounds) else None
    return len(range(*slice(*known).indices(size)))


def check(m: Machine, f: Frame, at: int, arr: Arr, index: Value, update: str = "") -> None:
    """Record a constant index beyond a constant size. ``update``: the method of ``.at[]`` that gets it."""
    if arr.dims is None or arr.host or arr.weak:
        return
    for axis, part in enumerate(index.items if type(index) is Tup else [index]):
        if axis >= len(arr.dims):
            return
        size = arr.dims[axis]
        number = part.const if type(part) is Py and part.kind == "int" else NO_CONST
        if type(number) is int and size is not None and not -size <= number < size:
            m.emit(f, OutOfBounds, at, arr, index=str(number), size=str(size), update=update)
            return
        if type(part) is not SliceVal and not (type(part) is Py and part.kind == "int"):
            return


def check_written(m: Machine, f: Frame, node: ir.Sub, obj: Value, index: Value, value: Value) -> None:
    """Look at how the index of an array is written; a place that may be updated only remembers what is wrong."""
    if type(index) is not Tup and not (type(index) is Py and index.kind == "int" and index.const is NO_CONST):
        return
    size = beyond(m, f, node, obj)
    if size and type(value) is At:
        value.beyond = size
    elif size:
        m.emit(f, OutOfBounds, node.at, obj, index="", size=size, update="")


def beyond(m: Machine, f: Frame, node: ir.Sub, obj: Value) -> str:
    """The size that an index certainly reaches or passes, as text; "" when that is not certain."""
    if type(obj) is At:
        obj = obj.arr
    arr = obj if type(obj) is Arr and not obj.host else None
    place = _indexed(node.obj)
    if type(place) is not ir.Name or (arr is None and not _is_traced_array(obj)):
        return ""
    known = m.texts.sizes(f)
    for axis, part in enumerate(node.index.elts if type(node.index) is ir.Tuple else [node.index]):
        most = sizes.top(known, part)
        if most is None and type(part) is not ir.Slice:
            return ""
        if most is not None:
            size = _own_size(known, place.id, axis, part, most) or _known_size(arr, axis, part, most)
            if size:
                return size
    return ""


def _indexed(node: ir.Node) -> ir.Node:
    return node.obj if type(node) is ir.Attr and node.name == "at" else node


def _is_traced_array(value: Value) -> bool:
    return type(value) is Tree and value.evidence == "array" and bool(value.modes)


def _own_size(known: sizes.Sizes, name: str, axis: int, part: ir.Node, most: sizes.Most) -> str:
    """The size of the axis itself, if the index is that or more."""
    if most[0] != (name, axis) or most[1] < 0 or known.bound.get(name) != 1:
        return ""
    return part.id if type(part) is ir.Name and part.id in known.sizes else f"{name}.shape[{axis}]"


def _known_size(arr: Arr | None, axis: int, part: ir.Node, most: sizes.Most) -> str:
    """The size of the axis as a number, if the index is that or more. Constants are seen by `check`."""
    if most[0] is not None or type(part) is ir.Const:
        return ""
    dims = arr.dims if arr is not None and not arr.weak else None
    size = dims[axis] if dims is not None and axis < len(dims) else None
    return str(size) if size is not None and most[1] >= size else ""
