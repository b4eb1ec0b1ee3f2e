"""How many elements a captured array has, as far as the text of its making tells (layer: ``link``, room ``domains``).

The sizes of an array's axes are known where the program follows from constants to them. A module's variable that is bound once, to a
call that makes an array of a constant shape, has a known one all the same.
"""

from __future__ import annotations

from math import prod

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import ModuleInfo
from jitlint.infer.values import Ext, Py, Value, const_of
from jitlint.syntax import ir


def elements(info: ModuleInfo, name: str) -> int:
    """The number of elements of the array in a module's variable; 0 when it is not known."""
    bound = [node for node in info.tree.body if _binds(node, name)]
    made = getattr(bound[0], "value", None) if len(bound) == 1 else None  # a loop binds names as well
    return _made(info, made) if type(made) is ir.Call else 0


def _binds(node: ir.Node | None, name: str) -> bool:
    targets = node.targets if type(node) is ir.Assign else [getattr(node, "target", None)]
    return any(type(target) is ir.Name and target.id == name for target in targets)


def _made(info: ModuleInfo, call: ir.Call) -> int:
    captures = lexicon().captures
    dotted = _dotted(info, call.func)
    if not dotted.startswith(captures.modules):
        return 0
    short = dotted.rpartition(".")[2]
    pos = [_number(info, arg.value) for arg in call.args if arg.name is None and not arg.star]
    named = {arg.name: _number(info, arg.value) for arg in call.args if arg.name is not None}
    if short in captures.by_shape:
        return _shape_at(0, "shape", pos, named)
    if short in captures.by_size:
        return _of_square(pos[:2])
    if short == "arange":
        return _size(pos[0]) if len(pos) == 1 and type(pos[0]) is int else 0
    if short == "linspace":
        return _shape_at(2, "num", pos, named)
    if short in captures.by_numbers:
        return _size(tuple(pos))
    return _drawn(dotted, pos, named) if short in captures.random else 0


def _drawn(dotted: str, pos: list[object], named: dict[str, object]) -> int:
    """Random numbers: JAX wants a key first, NumPy the parameters of the distribution."""
    if dotted.startswith("jax."):
        return _shape_at(1, "shape", pos, named)
    return _shape_at(0 if dotted.endswith(".random") else 2, "size", pos, named)


def _shape_at(index: int, name: str, pos: list[object], named: dict[str, object]) -> int:
    """The elements of an array whose shape is an argument."""
    return _size(pos[index] if len(pos) > index else named.get(name))


def _of_square(pos: list[object]) -> int:
    numbers = [n for n in pos if type(n) is int]
    return numbers[0] * numbers[-1] if numbers else 0


def _size(shape: object) -> int:
    if isinstance(shape, tuple):
        numbers = [n for n in shape if type(n) is int]
        return prod(numbers) if numbers and len(numbers) == len(shape) else 0
    return shape if type(shape) is int else 0


def _number(info: ModuleInfo, node: ir.Node | None) -> object:
    """A constant integer or tuple of such; None for anything else."""
    if type(node) is ir.Const:
        return node.value if type(node.value) is int else None
    if type(node) is ir.Tuple or type(node) is ir.List:
        return tuple([_number(info, part) for part in node.elts])
    if type(node) is ir.Name:
        value: Value | None = info.scope.vars.get(node.id)
        const = const_of(value) if type(value) is Py else None
        return const if type(const) is int else None
    if type(node) is ir.BinOp:
        left, right = _number(info, node.left), _number(info, node.right)
        if isinstance(left, int) and isinstance(right, int):
            return _computed(node.op, left, right)
    return None


def _computed(op: str, left: int, right: int) -> int | None:
    if op == "*":
        return left * right
    if op == "+":
        return left + right
    if op == "**" and 0 <= right <= 64 and abs(left) <= 1024:
        return int(left**right)
    return left << right if op == "<<" and 0 <= right <= 64 else None


def _dotted(info: ModuleInfo, node: ir.Node | None) -> str:
    if type(node) is ir.Attr:
        base = _dotted(info, node.obj)
        return f"{base}.{node.name}" if base else ""
    value = info.scope.vars.get(node.id) if type(node) is ir.Name else None
    return value.dotted if type(value) is Ext else ""
