"""Numbers that a function of the program computes from others (layer: ``link``, room ``domains``).

What it does: asks of all that a function may return how it changes with what it is given: ``anneal(step, steps)``. What it does
not: look at those that give anything else as well, so that few values may be all that there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Class, Func, Inst, Value
from jitlint.link.tables.ir_walk import by_parameter, last_name
from jitlint.link.values import paths
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.link.domains.compilation.variation import Variation

_COPY: Final = "dataclasses.replace"
FEW: Final = 4
"""So many values of a static argument are variants, not a stream."""


def scalar(around: Variation, node: ir.Call, depth: int) -> str:
    """How what a call gives changes from turn to turn, as far as what it is given does; "" when it does not."""
    func, own = _called(around, node.func)
    fields = _fields(around, node, func)
    if fields is not None:
        return _changed_field(around, fields, depth)
    if type(func) is not Func or (func.owner is not None and not own) or any(arg.star for arg in node.args):
        return ""
    results = _results(func.fn)
    given = {name: (around, value) for name, value in by_parameter(node, func.fn.node.params[own:])}
    within = around.within(func, given)
    hows = [within.scalar(result, depth - 4) for result in results]  # functions may call each other
    return f"what `{func.fn.name}` makes of {hows[0]}" if hows and all(hows) else ""


def _results(fn: FuncInfo) -> list[ir.Node | None]:
    """All that a function may return, if each is computed; else nothing."""
    results: list[ir.Node | None] = [part.value for part in fn.parts if type(part) is ir.Return]
    computed = all(isinstance(result, (ir.BinOp, ir.Call, ir.Name)) for result in results)
    return results if computed and not fn.node.is_generator else []


def _fields(around: Variation, node: ir.Call, func: Value | None) -> Sequence[ir.Arg] | None:
    """The fields that a call gives to an object that is equal to others by them; None if it makes no such object."""
    if around.dotted(node.func) == _COPY:
        return node.args[1:]
    return node.args if type(func) is Class and func.info.hashed_by_fields else None


def _changed_field(around: Variation, given: Sequence[ir.Arg], depth: int) -> str:
    """How an object is another one at every turn that is equal to others by its fields, of which some are given."""
    for arg in given:
        how = "" if arg.star else around.scalar(arg.value, depth - 1)
        if how:
            return f"an object made with {f'`{arg.name}`: ' if arg.name else ''}{how}"
    return ""


def _called(around: Variation, func: ir.Expr) -> tuple[Value | None, int]:
    """What is called, and how many of its parameters are not given there: the object, of a method or of one that is called itself."""
    if not isinstance(func, (ir.Name, ir.Attr)):
        return None, 0
    value = paths.peek(around.m, around.f, func)
    if type(value) is Inst:
        return find_method(value, "__call__"), 1
    method, owner = paths.method(around.m, around.f, func) if value is None else (None, None)
    return (value, 0) if owner is None else (method, 1)


def lasting(name: str, args: Sequence[ir.Expr]) -> Sequence[ir.Expr]:
    """The arguments of a function whose changes show for long in what it gives."""
    clips = name in lexicon().compilation.clipping
    return [arg for arg in args if not clips or _is_gradual(arg)]


def _is_gradual(node: ir.Node | None) -> bool:
    """Whether a number that changes takes small steps, or decays: held at a bound, it still takes many values before."""
    if type(node) is ir.Call:
        return last_name(node.func) == "exp" or any(_is_gradual(arg.value) for arg in node.args)
    if type(node) is not ir.BinOp or node.op == "**":
        return type(node) is ir.BinOp
    step = node.right.value if type(node.right) is ir.Const else None
    large = type(step) is not int or step > FEW
    return (node.op == "/" and large) or _is_gradual(node.left) or _is_gradual(node.right)


def are_fractions(nodes: Sequence[ir.Expr], few: int) -> bool:
    """Whether more than so many unlike numbers are written down, one of them with a point."""
    values = [node.value for node in nodes if type(node) is ir.Const and node.kind in ("int", "float")]
    return len(values) == len(nodes) and len(set(values)) > few and any(type(v) is float for v in values)


def adds_to(name: str, sides: tuple[ir.Node, ir.Node]) -> bool:
    """``xs + [x]``: one of the sides is the name, one a list that is written there."""
    return any((type(s) is ir.Name and s.id == name) for s in sides) and any(
        isinstance(s, (ir.List, ir.Tuple)) for s in sides
    )


def argument(node: ir.Call, args: Sequence[ir.Node | None], place: int, keyword: str) -> ir.Node | None:
    """An argument by keyword or, among ``args``, by position."""
    named = {a.name: a.value for a in node.args if a.name is not None}
    return named.get(keyword, args[place] if place < len(args) else None)
