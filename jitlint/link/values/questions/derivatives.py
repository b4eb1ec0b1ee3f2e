"""Which derivative a call takes, and what a variable holds of it (layer: ``link``, room ``values``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Py, Xform
from jitlint.link.engine import scopes
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_by, bound_names, last_name, nodes
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


def bindings(fn: FuncInfo | None, name: str) -> list[ir.Assign]:
    """The assignments that bind a variable of a function."""
    return [
        part
        for part in (fn.parts if fn is not None else ())
        if type(part) is ir.Assign and any(target.id == name for target in bound_names(part.targets))
    ]


def is_read(fn: FuncInfo, name: str, but: ir.Node | None = None) -> bool:
    """Whether a function, or one inside it, does something with a variable besides binding it. but: an expression that does not
    count."""
    aside = {id(part) for part in nodes(but)} if but is not None else set()
    for part in fn.parts:
        targets = part.targets if type(part) is ir.Assign else [part.target] if type(part) is ir.For else []
        aside.update(id(target) for target in bound_names(targets))
    named = (part for part in fn.parts if type(part) is ir.Name and part.id == name)
    return name in fn.captured or any(id(part) not in aside for part in named)


def only_binding(fn: FuncInfo | None, name: str) -> ir.Assign | None:
    """The assignment that binds a variable of a function, None if there are several, or none, or something else sets it, too."""
    found = [part for part in (fn.parts if fn is not None else ()) if name in bound_by(part)]
    return found[0] if len(found) == 1 and type(found[0]) is ir.Assign else None


def written(fn: FuncInfo | None, node: ir.Node | None) -> ir.Node | None:
    """What a variable of a function is set to as a whole, if that is done once, else None; of other expressions, themselves."""
    if type(node) is not ir.Name:
        return node
    binding = only_binding(fn, node.id)
    return binding.value if binding is not None and type(binding.targets[0]) is ir.Name else None


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
