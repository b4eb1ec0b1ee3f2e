"""Functions that certainly give more than one number, whatever they are given (layer: ``link``, room ``models``).

What it does: reads what a function returns: a sum along axis 1 needs two axes, so one is left. And a mapped function gives one
result for each lane. What it does not: follow calls, or axes that are counted from the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import NONE, Func, Value, Xform
from jitlint.link.tables.ir_walk import bound_by, last_name
from jitlint.link.tables.results import only_returned
from jitlint.syntax import ir

_AXIS: Final = "axis"
_DEPTH: Final = 4


def gives_many(target: Value, paired: bool) -> bool:
    """Whether the result of a function, or the first of its results if it gives a pair, has at least one axis."""
    if type(target) is Xform:
        return not paired and target.spec.name in lexicon().gradients.mapping and _has_lanes(target)
    if type(target) is not Func or target.fn.node.is_generator:
        return False
    returned = only_returned(target.fn.parts)
    if paired:
        returned = returned.elts[0] if type(returned) is ir.Tuple and returned.elts else None
    return returned is not None and _keeps_axis(target.fn.parts, returned, _DEPTH)


def _has_lanes(x: Xform) -> bool:
    """Whether each lane gives a result of its own."""
    return x.options.get("out_axes") is not NONE


def _keeps_axis(parts: Sequence[ir.Node], node: ir.Expr, depth: int) -> bool:
    if not depth:
        return False
    if type(node) is ir.BinOp:
        return node.op != "@" and any(_keeps_axis(parts, side, depth) for side in (node.left, node.right))
    if type(node) is ir.UnaryOp:
        return _keeps_axis(parts, node.operand, depth)
    if type(node) is ir.Name:
        value = _only_value(parts, node.id)
        return value is not None and _keeps_axis(parts, value, depth - 1)
    return type(node) is ir.Call and last_name(node.func) in lexicon().gradients.reducing and _is_inner(node)


def _only_value(parts: Sequence[ir.Node], name: str) -> ir.Expr | None:
    """What a variable is set to, if that is written once, for it alone."""
    values = [part for part in parts if name in bound_by(part)]
    only = values[0] if len(values) == 1 else None
    plain = type(only) is ir.Assign and all(type(target) is ir.Name for target in only.targets)
    return only.value if plain and type(only) is ir.Assign else None


def _is_inner(call: ir.Call) -> bool:
    """Whether a reduction is told to go along one axis that is not the first, counted from the front."""
    named = [arg.value for arg in call.args if arg.name == _AXIS]
    placed = [arg.value for arg in call.args if arg.name is None and not arg.star]
    given = named or placed[-1:]  # the array itself is no number
    node = given[0] if given else None
    return type(node) is ir.Const and type(node.value) is int and node.value >= 1
