"""Expressions that choose: ``and``, ``or``, ``a if test else b`` (layer: ``link``, room ``core``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.infer.grounds import at_most
from jitlint.infer.lattice import join
from jitlint.infer.values import UNKNOWN, Py, Value
from jitlint.link.core import asking, branches
from jitlint.link.engine import evaluator, regions
from jitlint.link.engine.events import STAGED_OR_BATCHED, hurt
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values.questions import truths
from jitlint.syntax import ir


def either(m: Machine, f: Frame, node: ir.BoolOp) -> Value:
    """``a and b``, ``a or b``."""
    left = evaluator.evaluate(m, f, node.left)
    outcome = truths.truth(m, f, node.left.at, left, node.op)
    if hurt(left, STAGED_OR_BATCHED) is not None:
        evaluator.evaluate(m, f, node.right)
        return Py("bool")
    is_and = node.op == "and"
    if outcome is (not is_and):
        return left
    saved, confidence = dict(f.scope.vars), f.confidence
    asks = outcome is None and asking.is_open_question(m, f, node.left)
    feasible = branches.narrow(m, f, node.left, is_and)
    f.confidence = Confidence.POSSIBLE if asks else confidence
    dispatched, f.dispatched = f.dispatched, asking.told_apart(m, f, node.left, outcome)
    sided, f.sided = f.sided, f.beside(outcome)
    with regions.under(m, node.left, outcome):
        right = evaluator.evaluate(m, f, node.right) if feasible else None
    f.confidence, right = confidence, UNKNOWN if asks and right is not None else right
    f.dispatched, f.sided = dispatched, sided
    f.scope.vars = branches.join_vars(saved, f.scope.vars) if outcome is None else f.scope.vars
    if right is None:
        return left
    if outcome is None:
        kept = truths.filter_truth(left, not is_and)
        if type(kept) is Py and kept.kind == "bool" and hurt(right, STAGED_OR_BATCHED) is not None:
            return right  # whoever asks for the truth of the whole may get to ask the right side
        return right if kept is None else join(kept, right)
    return right


def ternary(m: Machine, f: Frame, node: ir.IfExp) -> Value:
    """``a if test else b``."""
    outcome = branches.condition(m, f, node.test, "ternary", node.at)
    levels, confidence = branches.doubted(m, f, node.test, outcome), f.confidence
    entry, dispatched, sided = f.entry, f.dispatched, f.sided
    saved = f.scope.vars
    f.dispatched = asking.told_apart(m, f, node.test, outcome)
    f.sided = f.beside(outcome)
    out: Value | None = None
    after: dict[str, Value] | None = None
    for side, branch in ((True, node.body), (False, node.orelse)):
        if outcome is (not side):
            continue
        f.scope.vars = dict(saved)
        if not branches.narrow(m, f, node.test, side):
            continue
        f.confidence = levels[side]
        f.entry = entry if levels[side] is confidence else at_most(entry, Confidence.LIKELY)
        with regions.under(m, node.test, outcome):
            value = evaluator.evaluate(m, f, branch)
        f.confidence, f.entry = confidence, entry
        out = value if out is None else join(out, value)
        after = f.scope.vars if after is None else branches.join_vars(after, f.scope.vars)
    f.dispatched, f.sided = dispatched, sided
    f.scope.vars = branches.restore_paths(saved, after) if after is not None else saved
    return out if out is not None else UNKNOWN
