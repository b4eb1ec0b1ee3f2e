"""Indices that are out of bounds whatever the numbers are (layer: ``link``, room ``values``).

What it does: compares constant indices, and those that a loop counts, with constant sizes of arrays made here, and indices written
with the size of the very array (``x[x.shape[0]]``, ``x[i + 1]`` in a loop over ``range(len(x))``) with that size. What it does
not: guess; where a size or an index has a second definition or a test stands in the way, it is silent.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import OutOfBounds
from jitlint.infer.values import NO_CONST, Arr, At, Py, SliceVal, Tree, Tup, Value
from jitlint.link.engine.counts import Plain
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import sizes
from jitlint.link.values import fitting, paths
from jitlint.link.values.questions import counting, drawing
from jitlint.syntax import ir


def check(m: Machine, f: Frame, at: int, arr: Arr, index: Value, update: str = "") -> None:
    """Record a constant index beyond a constant size. ``update``: the method of ``.at[]`` that gets it. Who makes an empty array does
    not come by an index: of two ways, the other one is taken."""
    if arr.dims is None or arr.host or arr.weak:
        return
    for axis, part in enumerate(index.items if type(index) is Tup else [index]):
        if axis >= len(arr.dims):
            return
        size = arr.dims[axis]
        number = part.const if type(part) is Py and part.kind == "int" else NO_CONST
        if type(number) is int and size and not -size <= number < size:
            m.emit(f, OutOfBounds, at, arr, index=str(number), size=str(size), update=update)
            return
        _check_counted(m, f, at, arr, part, size, update)
        if type(part) is not SliceVal and not (type(part) is Py and part.kind == "int"):
            return


def _check_counted(
    m: Machine, f: Frame, at: int, arr: Arr, part: Value, size: int | None, update: str
) -> None:
    """Record an index that a loop counts beyond the size."""
    counted = counting.of(part)
    if counted is None or size is None:
        return

    def told(most: int) -> None:
        if most >= size:
            m.emit(
                f, OutOfBounds, at, arr, Confidence.LIKELY, when=(Plain(m.counts, counted),),
                index=str(most), size=str(size), update=update, grows=True,
            )  # fmt: skip

    m.counts.tell(counted, at, told)


def check_written(m: Machine, f: Frame, node: ir.Sub, obj: Value, index: Value, value: Value) -> None:
    """Look at how the index of an array is written; a place that may be updated only remembers what is wrong."""
    _check_drawn(m, f, node, obj, index)
    if type(index) is not Tup and not (type(index) is Py and index.kind == "int" and index.const is NO_CONST):
        return
    size = beyond(m, f, node, obj)
    if size and type(value) is At:
        value.beyond = size
    elif size:
        m.emit(f, OutOfBounds, node.at, obj, index="", size=size, update="")


def check_shape(m: Machine, f: Frame, node: ir.Sub, items: Tup, index: Value) -> None:
    """Record a question for the size of an axis that the array does not have: ``x.shape[2]``."""
    if type(node.obj) is not ir.Attr or node.obj.name != "shape":
        return
    rank, axis = len(items.items), fitting.int_of(index)
    if axis is None or -rank <= axis < rank:
        return
    array = paths.peek(m, f, node.obj.obj)
    if array is not None and fitting.is_array(array) and fitting.rank_of(array) == rank:
        fitting.report(m, f, node.at, "x.shape", "size-of", f"{axis} of {rank}", array)


def _check_drawn(m: Machine, f: Frame, node: ir.Sub, obj: Value, index: Value) -> None:
    """Record places that are counted from such as are drawn below the size of the array itself."""
    for axis, part in enumerate(index.items if type(index) is Tup else [index]):
        counted = counting.of(part)
        if counted is not None and type(obj) is Arr and drawing.beyond(m, f, node.obj, axis, counted, 1):
            m.emit(
                f, OutOfBounds, node.at, obj, Confidence.LIKELY, when=(Plain(m.counts, counted),),
                index=f"`{drawing.text(counted)}`", size=drawing.text(counted._replace(plus=0)), grows=True,
            )  # fmt: skip
            return


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
