"""Indices that are out of bounds whatever the numbers are (layer: ``link``, room ``domains``).

What it does: compares constant indices with constant sizes of arrays made here, and indices written with the size of
the very array (``x[x.shape[0]]``, ``x[i + 1]`` in a loop over ``range(len(x))``) with that size. What it does not:
guess; where a size or an index has a second definition or a test stands in the way, it is silent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from jitlint.infer.events import OutOfBounds
from jitlint.infer.values import NO_CONST, Arr, At, Py, Seq, SliceVal, Tree, Tup, Value
from jitlint.link.engine.machine import Frame, Machine
from jitlint.link.tables.ir_walk import nodes
from jitlint.syntax import ir

Dims = tuple[Any, ...]
"""Sizes of the axes, None where one is not known."""

MAKERS: Final = frozenset(
    "zeros ones empty full arange linspace eye identity array asarray zeros_like ones_like full_like empty_like normal "
    "uniform".split()
)
"""Functions of JAX that tell the size of what they make."""

_BY_SHAPE: Final = frozenset("zeros ones empty full normal uniform".split())


def dims_of(name: str, by_name: dict[str, Value]) -> Dims | None:
    """The sizes of what a function of `MAKERS` makes, or None."""
    out: Dims | None = None
    shape = by_name.get("shape")
    if name in _BY_SHAPE:
        out = _shape(shape)
    elif name.endswith("_like"):
        first = next(iter(by_name.values()), None)
        out = first.dims if type(first) is Arr and shape is None else _shape(shape)
    elif name == "arange":
        given = [_int(by_name[key]) for key in ("start", "stop", "step") if key in by_name]
        exact = [n for n in given if n is not None]
        if len(exact) == len(given) and exact and (len(exact) < 3 or exact[2]):
            out = (len(range(*exact)),)
    elif name == "linspace":
        out = (_int(by_name["num"]) if "num" in by_name else 50,)
        if any(type(by_name.get(key)) is not Py for key in ("start", "stop")):
            out = None
    elif name in ("eye", "identity"):
        rows = _int(by_name.get("N", by_name.get("n")))
        out = (rows, _int(by_name["M"]) if "M" in by_name else rows)
    elif "ndmin" not in by_name:
        out = _nested(by_name.get("object", by_name.get("a")))
    return out if out and any(n is not None for n in out) else None


def _int(value: Value | None) -> int | None:
    return value.const if type(value) is Py and type(value.const) is int else None


def _shape(value: Value | None) -> Dims | None:
    if type(value) is Tup or (type(value) is Seq and value.items is not None):
        return tuple([_int(item) for item in value.items or ()])
    number = _int(value)
    return None if number is None else (number,)


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


def leave_out(values: dict[str, Value]) -> None:
    """A function is judged for arrays of any size, not once for each size that it is called with."""
    for name, value in values.items():
        if type(value) is Arr and value.dims is not None:
            values[name] = Arr(
                value.modes,
                value.dtype,
                value.rank,
                value.why,
                value.level,
                value.traced,
                value.host,
                value.key,
            )


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


# Indices written with sizes


@dataclass(slots=True)
class _Sizes:
    """Of one function. bound: how often a name is bound. sizes: names that hold the size of a variable's axis, with
    its text. loops: loop variables and the end of their range."""

    bound: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, tuple[str, int]] = field(default_factory=dict)
    loops: dict[str, Any] = field(default_factory=dict)


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
    if arr is None and not (type(obj) is Tree and obj.evidence == "array" and obj.modes):
        return ""
    place = node.obj.obj if type(node.obj) is ir.Attr and node.obj.name == "at" else node.obj
    if type(place) is not ir.Name:
        return ""
    known = m.sizes.get(id(f.fn) if f.fn is not None else f.module.name)
    if known is None:
        known = m.sizes[id(f.fn) if f.fn is not None else f.module.name] = _collect(f)
    for axis, part in enumerate(node.index.elts if type(node.index) is ir.Tuple else [node.index]):
        top = _top(known, part)
        if top is not None and top[0] == (place.id, axis) and top[1] >= 0 and known.bound.get(place.id) == 1:
            name = part.id if type(part) is ir.Name else ""
            return name if name in known.sizes else f"{place.id}.shape[{axis}]"
        if top is not None and top[0] is None and arr is not None and arr.dims is not None and not arr.weak:
            size = arr.dims[axis] if axis < len(arr.dims) else None
            if size is not None and top[1] >= size and type(part) is not ir.Const:
                return str(size)
        if top is None and type(part) is not ir.Slice:
            return ""
    return ""


def _top(known: _Sizes, node: Any) -> tuple[tuple[str, int] | None, int] | None:
    """The greatest value of an index: the size of (variable, axis), or nothing, plus a number."""
    t = type(node)
    if t is ir.Const:
        return (None, node.value) if node.kind == "int" and node.value is not None else None
    if t is ir.Name:
        if node.id in known.loops:
            end = _top(known, known.loops[node.id])
            return None if end is None else (end[0], end[1] - 1)
        return (known.sizes[node.id], 0) if node.id in known.sizes else None
    if t is ir.BinOp and node.op in "+-":
        left, right = _top(known, node.left), _top(known, node.right)
        if left is None or right is None or right[0] is not None:
            return None
        return left[0], left[1] + (right[1] if node.op == "+" else -right[1])
    size = _size(node)
    return None if size is None else (size, 0)


def _size(node: Any) -> tuple[str, int] | None:
    """``x.shape[0]`` and ``len(x)`` as variable and axis."""
    if type(node) is ir.Call and type(node.func) is ir.Name and node.func.id == "len" and len(node.args) == 1:
        value = node.args[0].value
        return (value.id, 0) if type(value) is ir.Name else None
    if type(node) is not ir.Sub or type(node.index) is not ir.Const or type(node.index.value) is not int:
        return None
    owner = _shape_owner(node.obj)
    return (owner, node.index.value) if owner and node.index.value >= 0 else None


def _shape_owner(node: Any) -> str:
    if type(node) is ir.Attr and node.name == "shape" and type(node.obj) is ir.Name:
        return node.obj.id
    return ""


_TESTS: Final = (ir.If, ir.IfExp, ir.While, ir.Break, ir.Continue, ir.Try, ir.Assert, ir.BoolOp, ir.Return)


def _collect(f: Frame) -> _Sizes:
    out = _Sizes()
    body = f.fn.body if f.fn is not None else f.module.tree.body
    if f.fn is not None:
        for param in f.fn.node.params:
            out.bound[param.name] = 1
        for name in (*f.fn.node.global_names, *f.fn.node.nonlocal_names):
            out.bound[name] = 2
    found: dict[str, tuple[str, int]] = {}
    loops: dict[str, Any] = {}
    for node in nodes(body):
        t = type(node)
        if t is ir.Assign:
            for target in node.targets:
                _bind(out, target)
                _note(found, target, node.value)
        elif t in (ir.AugAssign, ir.AnnAssign):
            _bind(out, node.target)
        elif t is ir.For:
            _bind(out, node.target)
            end = _range_end(node.iter)
            tested = any(type(part) in _TESTS for part in nodes(node.body))
            if type(node.target) is ir.Name and end is not None and not tested:
                loops[node.target.id] = end
        elif t is ir.CompFor or t is ir.WithItem:
            _bind(out, node.target)
        elif t is ir.Walrus:
            out.bound[node.target] = out.bound.get(node.target, 0) + 1
        elif t is ir.FuncDef or t is ir.ClassDef:
            out.bound[node.name] = out.bound.get(node.name, 0) + 1
    stable = {name for name, count in out.bound.items() if count == 1}
    out.sizes = {name: size for name, size in found.items() if name in stable and size[0] in stable}
    out.loops = {name: end for name, end in loops.items() if name in stable}
    return out


def _bind(out: _Sizes, target: Any) -> None:
    if type(target) is ir.Name:
        out.bound[target.id] = out.bound.get(target.id, 0) + 1
    elif type(target) in (ir.Tuple, ir.List):
        for element in target.elts:
            _bind(out, element)
    elif type(target) is ir.Starred:
        _bind(out, target.value)


def _note(found: dict[str, tuple[str, int]], target: Any, value: Any) -> None:
    if type(target) is ir.Name:
        size = _size(value)
        if size is not None:
            found[target.id] = size
    elif type(target) is ir.Tuple:
        owner = _shape_owner(value)
        starred = any(type(element) is ir.Starred for element in target.elts)
        for axis, element in enumerate(target.elts):
            if owner and not starred and type(element) is ir.Name:
                found[element.id] = (owner, axis)


def _range_end(node: Any) -> Any:
    """The end of a plain ``range`` with step 1."""
    if type(node) is not ir.Call or type(node.func) is not ir.Name or node.func.id != "range":
        return None
    if len(node.args) not in (1, 2) or any(arg.star or arg.name for arg in node.args):
        return None
    return node.args[-1].value
