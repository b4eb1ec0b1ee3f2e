"""Which names and loops of a function stand for the size of an array, read off its text (layer: ``link``, room ``tables``).

What it does not: follow values. A name that is bound twice, or a loop with a test in it, says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from jitlint.infer.program import FuncInfo
from jitlint.link.tables.ir_walk import nodes
from jitlint.syntax import ir


@dataclass(slots=True)
class Sizes:
    """Of one function. bound: how often a name is bound. sizes: names that hold the size of a variable's axis, with
    its text. loops: loop variables and the end of their range."""

    bound: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, tuple[str, int]] = field(default_factory=dict)
    loops: dict[str, ir.Node] = field(default_factory=dict)


Most = tuple[tuple[str, int] | None, int]
"""The greatest value of an index: the size of (variable, axis), or nothing, plus a number."""


def top(known: Sizes, node: ir.Node | None) -> Most | None:
    """The greatest value of an index, if that is known."""
    if type(node) is ir.Const:
        return (None, node.value) if node.kind == "int" and isinstance(node.value, int) else None
    if type(node) is ir.Name:
        if node.id in known.loops:
            end = top(known, known.loops[node.id])
            return None if end is None else (end[0], end[1] - 1)
        return (known.sizes[node.id], 0) if node.id in known.sizes else None
    if type(node) is ir.BinOp and node.op in "+-":
        left, right = top(known, node.left), top(known, node.right)
        if left is None or right is None or right[0] is not None:
            return None
        return left[0], left[1] + (right[1] if node.op == "+" else -right[1])
    size = size_of(node)
    return None if size is None else (size, 0)


def size_of(node: ir.Node | None) -> tuple[str, int] | None:
    """``x.shape[0]`` and ``len(x)`` as variable and axis."""
    if type(node) is ir.Call and type(node.func) is ir.Name and node.func.id == "len" and len(node.args) == 1:
        value = node.args[0].value
        return (value.id, 0) if type(value) is ir.Name else None
    if type(node) is not ir.Sub or type(node.index) is not ir.Const or type(node.index.value) is not int:
        return None
    owner = _shape_owner(node.obj)
    return (owner, node.index.value) if owner and node.index.value >= 0 else None


def _shape_owner(node: ir.Node | None) -> str:
    if type(node) is ir.Attr and node.name == "shape" and type(node.obj) is ir.Name:
        return node.obj.id
    return ""


_TESTS: Final = (ir.If, ir.IfExp, ir.While, ir.Break, ir.Continue, ir.Try, ir.Assert, ir.BoolOp, ir.Return)


def collect(fn: FuncInfo | None, body: Sequence[ir.Node]) -> Sizes:
    """Read the sizes off a function's or a module's body."""
    out = Sizes()
    if fn is not None:
        for param in fn.node.params:
            out.bound[param.name] = 1
        for name in (*fn.node.global_names, *fn.node.nonlocal_names):
            out.bound[name] = 2
    found: dict[str, tuple[str, int]] = {}
    loops: dict[str, ir.Node] = {}
    for node in nodes(body):
        _count(out, node)
        if type(node) is ir.Assign:
            for target in node.targets:
                _note(found, target, node.value)
        elif type(node) is ir.For:
            end = _steady_end(node)
            if type(node.target) is ir.Name and end is not None:
                loops[node.target.id] = end
    _keep_stable(out, found, loops)
    return out


def _keep_stable(out: Sizes, found: dict[str, tuple[str, int]], loops: dict[str, ir.Node]) -> None:
    """What names stand for, of those that are bound once."""
    stable = {name for name, count in out.bound.items() if count == 1}
    out.sizes = {name: size for name, size in found.items() if name in stable and size[0] in stable}
    out.loops = {name: end for name, end in loops.items() if name in stable}


def _count(out: Sizes, node: ir.Node) -> None:
    """Count the names that a node binds."""
    if type(node) is ir.Assign:
        for target in node.targets:
            _bind(out, target)
    elif isinstance(node, (ir.AugAssign, ir.AnnAssign, ir.For, ir.CompFor, ir.WithItem)):
        _bind(out, node.target)
    elif type(node) is ir.Walrus:
        out.bound[node.target] = out.bound.get(node.target, 0) + 1
    elif isinstance(node, (ir.FuncDef, ir.ClassDef)):
        out.bound[node.name] = out.bound.get(node.name, 0) + 1


def _steady_end(loop: ir.For) -> ir.Node | None:
    """The end of the loop's range, if each of its turns runs as a whole."""
    end = _range_end(loop.iter)
    return None if end is None or any(type(part) in _TESTS for part in nodes(loop.body)) else end


def _bind(out: Sizes, target: ir.Node | None) -> None:
    if type(target) is ir.Name:
        out.bound[target.id] = out.bound.get(target.id, 0) + 1
    elif isinstance(target, (ir.Tuple, ir.List)):
        for element in target.elts:
            _bind(out, element)
    elif type(target) is ir.Starred:
        _bind(out, target.value)


def _note(found: dict[str, tuple[str, int]], target: ir.Node | None, value: ir.Node | None) -> None:
    if type(target) is ir.Name:
        size = size_of(value)
        if size is not None:
            found[target.id] = size
    elif type(target) is ir.Tuple:
        owner = _shape_owner(value)
        starred = any(type(element) is ir.Starred for element in target.elts)
        for axis, element in enumerate(target.elts):
            if owner and not starred and type(element) is ir.Name:
                found[element.id] = (owner, axis)


def _range_end(node: ir.Node | None) -> ir.Node | None:
    """The end of a plain ``range`` with step 1."""
    if type(node) is not ir.Call or type(node.func) is not ir.Name or node.func.id != "range":
        return None
    if len(node.args) not in (1, 2) or any(arg.star or arg.name for arg in node.args):
        return None
    return node.args[-1].value
