"""Means over the devices of what each divides by a number of its own (layer: ``link``, room ``domains``).

``pmean(jnp.sum(x * mask) / jnp.sum(mask))``: devices count alike, however many elements their masks let through. What it does: reads
what `jax.lax.pmean` averages, a loss or its gradients as well, and what that is divided by, also as one of the results of a function.
What it does not: speak of a divisor that is no sum of what is called a mask.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import SummedMeans
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Func
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once, naming
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.tables.results import only_returned
from jitlint.link.values import paths
from jitlint.link.values.questions import derivatives
from jitlint.syntax import ir
from jitlint.syntax.children import below

MEAN: Final = "jax.lax.pmean"
_SUM: Final = "sum"
_WHERE: Final = "where"
_CAST: Final = "astype"
_AT_LEAST: Final = frozenset({"maximum", "clip", "max"})


def heard(m: Machine, f: Frame, library: Library) -> None:
    """Something is averaged over the devices."""
    taken = derivatives.argument(m.texts.table(f).calls.get(library.at), 0, "x")
    if f.fn is None or not f.world.axes or f.world.excused:
        return
    for node in taken.elts if type(taken) is ir.Tuple else [taken]:
        fn, ratio = _differentiated(m, f, node) or (f.fn, bound_once.written(f.fn, node))
        if type(ratio) is not ir.BinOp or ratio.op != "/":
            continue
        if _is_count(m, f, fn, _bare(ratio.right)) or _chooses_by(fn, ratio):
            m.emit(f, SummedMeans, library.at, None, Confidence.LIKELY, what="masked")
            return


def _differentiated(m: Machine, f: Frame, node: ir.Node | None) -> tuple[FuncInfo, ir.Node] | None:
    """What a loss returns, with the function that it is, where a variable holds its value, or its gradients."""
    binding = bound_once.only_binding(f.fn, node.id) if type(node) is ir.Name else None
    call = binding.value if binding is not None else None
    made = bound_once.written(f.fn, call.func) if type(call) is ir.Call else None
    if type(made) is not ir.Call or not made.args or not derivatives.kind_of(m, f, made)[0]:
        return None
    loss = paths.peek(m, f, made.args[0].value)
    if type(loss) is not Func:
        return None
    returned = only_returned(loss.fn.parts)
    if type(returned) is ir.Tuple and returned.elts:
        returned = returned.elts[0]
    found = bound_once.written(loss.fn, returned) or returned
    return None if found is None else (loss.fn, found)


def _bare(node: ir.Expr) -> ir.Expr:
    """A divisor without what keeps it from zero."""
    if type(node) is ir.Call and last_name(node.func) in _AT_LEAST and node.args:
        return node.args[0].value
    return node.left if type(node) is ir.BinOp and node.op == "+" else node


def _is_count(m: Machine, f: Frame, fn: FuncInfo, node: ir.Expr) -> bool:
    """Whether an expression is the sum of a mask, by itself or as a result of a function that is called."""
    found = bound_once.written(fn, node)
    if found is None and type(node) is ir.Name:
        binding = bound_once.only_binding(fn, node.id)
        return binding is not None and _comes_so(m, f, binding, node.id)
    return found is not None and _sums_mask(
        fn, _bare(found) if isinstance(found, (ir.BinOp, ir.Call)) else found
    )


def _comes_so(m: Machine, f: Frame, binding: ir.Assign, name: str) -> bool:
    """Whether a variable is one of several results of a function, and the sum of a mask there."""
    target, call = binding.targets[0], binding.value
    callee = paths.peek(m, f, call.func) if type(call) is ir.Call else None
    results = only_returned(callee.fn.parts) if type(callee) is Func else None
    if type(target) is not ir.Tuple or type(results) is not ir.Tuple or type(callee) is not Func:
        return False
    pairs = zip(target.elts, results.elts)
    found = next((given for one, given in pairs if type(one) is ir.Name and one.id == name), None)
    given = bound_once.written(callee.fn, found)
    return given is not None and _sums_mask(callee.fn, given)


def _sums_mask(fn: FuncInfo, node: ir.Node) -> bool:
    summed = _summed(node)
    return summed is not None and (_is_mask(summed) or _is_mask(_cast(bound_once.written(fn, summed))))


def _chooses_by(fn: FuncInfo, ratio: ir.BinOp) -> bool:
    """``jnp.where(chosen, x, 0.0).sum() / chosen.sum()``: what is summed is chosen by what is counted."""
    counted = bound_once.written(fn, _bare(ratio.right)) or ratio.right
    node = _summed(_bare(counted) if isinstance(counted, (ir.BinOp, ir.Call)) else counted)
    summed = _summed(bound_once.written(fn, ratio.left) or ratio.left)
    chosen = bound_once.written(fn, summed) or summed
    if (
        type(node) is not ir.Name
        or type(chosen) is not ir.Call
        or last_name(chosen.func) != _WHERE
        or len(chosen.args) != 3
    ):
        return False
    test, _, other = (arg.value for arg in chosen.args)
    zero = type(other) is ir.Const and other.value == 0
    return zero and type(test) is ir.Name and test.id == node.id


def _summed(node: ir.Node | None) -> ir.Expr | None:
    """What is added up whole."""
    if (
        type(node) is not ir.Call
        or last_name(node.func) != _SUM
        or any(arg.name == "axis" for arg in node.args)
    ):
        return None
    return node.args[0].value if node.args else node.func.obj if type(node.func) is ir.Attr else None


def _is_mask(node: ir.Node | None) -> bool:
    """Whether an expression mentions what is called a mask."""
    words = lexicon().contracts.masks
    names = [last_name(part) for part in below(node) if isinstance(part, (ir.Name, ir.Attr))]
    return any(naming.has_word(name, words) for name in names)


def _cast(node: ir.Node | None) -> ir.Node | None:
    """What is turned into numbers of another type, ``valid.astype(x.dtype)``; None for anything else."""
    if type(node) is ir.Call and type(node.func) is ir.Attr and node.func.name == _CAST:
        return node.func.obj
    return None
