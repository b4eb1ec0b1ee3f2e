"""Numbers that a function of the program computes from others (layer: ``link``, room ``domains``).

What it does: asks of all that a function may return how it changes with what it is given: ``anneal(step, steps)``. What it does
not: look at those that give anything else as well, so that few values may be all that there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import Func, Inst, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import by_parameter
from jitlint.link.values import paths
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.link.domains.compilation.variation import Variation

FEW: Final = 4
"""So many values of a static argument are variants, not a stream."""


def scalar(around: Variation, node: ir.Call, depth: int) -> str:
    """How what a call gives changes from turn to turn, as far as what it is given does; "" when it does not."""
    func, own = _called(around, node.func)
    if type(func) is not Func or (func.owner is not None and not own) or any(arg.star for arg in node.args):
        return ""
    results = [part.value for part in func.fn.parts if type(part) is ir.Return]
    if func.fn.node.is_generator or not all(isinstance(r, (ir.BinOp, ir.Call, ir.Name)) for r in results):
        return ""
    given = {name: (around, value) for name, value in by_parameter(node, func.fn.node.params[own:])}
    inner = Frame(func.fn.module, func.scope, HOST)
    inner.fn = func.fn
    table = around.m.texts.table(inner)
    within = around.within(inner, table, given)
    hows = [within.scalar(result, depth - 4) for result in results]  # functions may call each other
    return f"what `{func.fn.name}` makes of {hows[0]}" if hows and all(hows) else ""


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
    """Whether a number that changes takes small steps: held at a bound, it still takes many values before."""
    if type(node) is not ir.BinOp:
        return False
    step = node.right.value if type(node.right) is ir.Const else None
    large = type(step) is not int or step > FEW
    return (node.op == "/" and large) or _is_gradual(node.left) or _is_gradual(node.right)
