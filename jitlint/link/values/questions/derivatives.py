"""Which derivative a call takes, and what a variable holds of it (layer: ``link``, room ``values``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.infer.values import Py, Xform
from jitlint.link.engine import scopes
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.tables.results import only_returned
from jitlint.link.values import paths
from jitlint.syntax import ir

VALUED: Final = "value_and_grad"
DERIVED: Final = ("grad", VALUED)
"""Kinds of derivatives that give gradients."""
_MAPS: Final = frozenset({"map", "tree_map"})


def kind_of(m: Machine, f: Frame, func: ir.Node) -> tuple[str, bool]:
    """What sort of derivative of a library is called, and whether it gives something besides; "" if that is none."""
    if type(func) is ir.Call:
        given = {arg.name: arg.value for arg in func.args}
        wrap, aux = m.transforms.wraps.get(paths.dotted(m, f, func.func)), given.get("has_aux")
        return "" if wrap is None else wrap.result, type(aux) is ir.Const and aux.value is True
    made = scopes.lookup(f, func.id) if type(func) is ir.Name else None
    if type(made) is not Xform:
        return "", False
    told = made.options.get("has_aux")
    return made.spec.result, type(told) is Py and told.const is True


def argument(call: ir.Call | None, place: int, name: str) -> ir.Expr | None:
    """What a call gives by a name or, without that, in a place."""
    args = call.args if call is not None else []
    by_name = next((arg.value for arg in args if arg.name == name), None)
    return args[place].value if by_name is None and len(args) > place else by_name


def descents(f: Frame) -> Iterator[tuple[int, ir.Node, ir.Node]]:
    """Where something is subtracted, times a number perhaps, from one array or from each leaf of a tree; what that is, and
    from what."""
    for part in f.fn.parts if f.fn is not None else ():
        if type(part) is ir.BinOp and part.op == "-" and type(part.left) is ir.Name:
            step = part.right
            factors = [step.left, step.right] if type(step) is ir.BinOp and step.op == "*" else [step]
            yield from ((part.at, node, part.left) for node in factors if type(node) is ir.Name)
        elif type(part) is ir.Call and last_name(part.func) in _MAPS and _subtracts(f, part):
            yield part.at, part.args[2].value, part.args[1].value


def _subtracts(f: Frame, call: ir.Call) -> bool:
    """Whether the formula that a call maps over two trees is a difference."""
    formula = call.args[0].value if len(call.args) == 3 else None
    if type(formula) is not ir.Lambda:
        return False
    body = only_returned(f.module.functions[formula.function].parts)
    return type(body) is ir.BinOp and body.op == "-"
