"""Sums over the devices of what is a mean on each (layer: ``link``, room ``domains``).

What it does: reads what `jax.lax.psum` adds up, and finds means, and gradients of functions that give one. What it does not: speak
where the sum, or anything that the function makes of it, is divided, or where the function asks how many devices there are.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import SummedMeans
from jitlint.infer.places import Step
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Bound, Func
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import bound_names, inner_functions, last_name
from jitlint.link.tables.results import only_returned
from jitlint.link.values import paths
from jitlint.link.values.questions import derivatives
from jitlint.syntax import ir
from jitlint.syntax.children import below

SUM: Final = "jax.lax.psum"
_DIVIDING: Final = ("divide", "true_divide", "div", "axis_size", "scale")


class _Mean(NamedTuple):
    """A mean of one device, or gradients of one. step: where the mean is taken."""

    what: str
    step: Step


def heard(m: Machine, f: Frame, library: Library) -> None:
    """Something is added up over the devices, perhaps in one tuple with other things."""
    call = m.texts.table(f).calls.get(library.at)
    added = derivatives.argument(call, 0, "x")
    if call is None or added is None or f.fn is None or not f.world.axes or f.world.excused:
        return
    found = next(filter(None, (_mean(m, f, node, call) for node in parts_of(added))), None)
    if found is not None and not is_divided(f, f.fn, call):
        m.emit(f, SummedMeans, call.at, None, Confidence.LIKELY, what=found.what, also=(found.step,))


def parts_of(node: ir.Expr) -> list[ir.Expr]:
    """What a tuple, a list or a dict is written with; another expression alone."""
    if isinstance(node, (ir.Tuple, ir.List)):
        return list(node.elts)
    return list(node.values) if type(node) is ir.Dict else [node]


def _mean(m: Machine, f: Frame, node: ir.Node, call: ir.Call) -> _Mean | None:
    """Whether an expression is a mean, or gradients of one. call: adds it up."""
    binding = _binding(f, node, call)
    taken = node if binding is None else binding.value
    if binding is not None and type(binding.targets[0]) is ir.Tuple and type(taken) is ir.Tuple:
        return None
    if _is_mean(m, f, taken):
        return _Mean("mean", Step(f.module.name, taken.at, "the mean is taken here"))
    kind = derivatives.kind_of(m, f, taken.func)[0] if type(taken) is ir.Call else ""
    place = _mean_derived(m, f, taken) if kind else None
    what = "mean" if kind == derivatives.VALUED and _comes_first(binding, node) else "gradients"
    return None if place is None else _Mean(what, Step(*place, "they are taken of this mean"))


def _mean_derived(m: Machine, f: Frame, node: ir.Node) -> tuple[str, int] | None:
    """Module and origin of the mean that a function gives of which a call takes the derivative on the spot, or None."""
    func = node.func if type(node) is ir.Call else None
    given = func.args[0].value if type(func) is ir.Call and func.args else None
    loss = paths.peek(m, f, given) if given is not None else None
    loss = loss.func if type(loss) is Bound else loss
    return gives_mean(m, loss) if type(loss) is Func else None


def _binding(f: Frame, node: ir.Node, call: ir.Call) -> ir.Assign | None:
    """The assignment that binds a variable before a call, if it is the only one before."""
    found = bound_once.bindings(f.fn, node.id) if type(node) is ir.Name else []
    before = [part for part in found if part.value.at < call.at and not _holds(part.value, call)]
    return before[0] if len(before) == 1 else None


def _comes_first(binding: ir.Assign | None, node: ir.Node) -> bool:
    """Whether a variable is bound to the value of a function, not to its gradients."""
    target = binding.targets[0] if binding is not None else None
    first = bound_names(target.elts[:1]) if type(target) is ir.Tuple else ()
    return type(node) is ir.Name and any(name.id == node.id for name in first)


def gives_mean(m: Machine, func: Func) -> tuple[str, int] | None:
    """Module and origin of the mean that a function returns, by itself or first, or None."""
    inside = Frame(func.fn.module, func.scope, HOST, fn=func.fn)
    given = only_returned(func.fn.parts)
    if type(given) is ir.Tuple and given.elts:
        given = given.elts[0]
    taken = bound_once.written(func.fn, given)
    return (func.fn.module.name, taken.at) if taken is not None and _is_mean(m, inside, taken) else None


def _is_mean(m: Machine, f: Frame, node: ir.Node) -> bool:
    if type(node) is not ir.Call:
        return False
    dotted = paths.dotted(m, f, node.func)
    if dotted:
        return dotted in lexicon().contracts.averaging
    func = node.func
    return (
        type(func) is ir.Attr and func.name == "mean" and isinstance(func.obj, (ir.Name, ir.Call, ir.BinOp))
    )


def is_divided(f: Frame, fn: FuncInfo, call: ir.Call) -> bool:
    """Whether a function divides a sum, or what it makes of it, or knows how many devices there are."""
    made = _made_of(fn, call)
    inside = (part for one in (fn, *inner_functions(f.module, fn.body)) for part in one.parts)
    return any(_divides(f, part, call, made) for part in inside)


def _divides(f: Frame, node: ir.Node, call: ir.Call, made: set[str]) -> bool:
    """Whether a part of a function divides a sum, or may do so, or counts the devices. made: what the sum goes into."""
    if type(node) is ir.Call:
        if last_name(node.func) in _DIVIDING or _counts(node):
            return True
        leaf = node.args[0].value if node.args else None
        if type(leaf) is not ir.Lambda or not _has_quotient(f.module.functions[leaf.function]):
            return False
        return _holds(node, call) or any(_names(arg.value) & made for arg in node.args[1:])
    if type(node) is ir.AugAssign:
        return node.op == "/" and bool(_names(node.target) & made)
    if type(node) is not ir.BinOp or node.op != "/":
        return False
    return _holds(node, call) or bool(_names(node.left) & made)


def _has_quotient(fn: FuncInfo) -> bool:
    return any(
        (type(part) is ir.BinOp and part.op == "/")
        or (type(part) is ir.Call and last_name(part.func) in _DIVIDING)
        for part in fn.parts
    )


def _counts(call: ir.Call) -> bool:
    """``psum(1, axis)``: the number of devices."""
    return last_name(call.func) == "psum" and bool(call.args) and type(call.args[0].value) is ir.Const


def _made_of(fn: FuncInfo, call: ir.Call) -> set[str]:
    """The variables that a sum goes into."""
    made: set[str] = set()
    bindings = [part for part in fn.parts if type(part) is ir.Assign]
    before = -1
    while before != len(made):
        before = len(made)
        for part in bindings:
            if _holds(part.value, call) or _names(part.value) & made:
                made.update(name.id for name in bound_names(part.targets))
    return made


def _holds(node: ir.Node, call: ir.Call) -> bool:
    return any(part is call for part in below(node))


def _names(node: ir.Node) -> set[str]:
    return {part.id for part in below(node) if type(part) is ir.Name}
