"""States that are made with an optimiser of their own for each call (layer: ``link``, room ``domains``).

The optimiser of a `flax.training.train_state.TrainState` is a static field, and so a part of its type; each optimiser that is made has
functions of its own, and a compiled function that gets such a state is compiled again. What it does: reads how a function, or the
innermost loop around a call, makes the state that it hands over. What it does not: speak of a state that goes through a loop of its own,
beside which compiling once is nothing.
"""

from __future__ import annotations

from jitlint.infer.values import Inst
from jitlint.link.domains.compilation.bindings import calls_for
from jitlint.link.domains.compilation.identities import new_object
from jitlint.link.domains.compilation.log import CompilationLog, Question
from jitlint.link.domains.compilation.variation import Variation
from jitlint.link.values import flattening, paths
from jitlint.syntax import ir


def new_optimiser(log: CompilationLog, q: Question, variation: Variation) -> str:
    """What is made anew for a static field of the state that an argument is, or ""."""
    value = paths.peek(log.m, q.frame, q.arg) if type(q.arg) is ir.Name else None
    if type(q.arg) is not ir.Name or type(value) is not Inst or q.turns != len(variation.loops):
        return ""
    static = flattening.static_names(value)
    told = (arg.value for call in calls_for(variation, q.arg.id) for arg in call.args if arg.name in static)
    return next((how for node in told if (how := _new(log, q, variation, node))), "")


def _new(log: CompilationLog, q: Question, variation: Variation, node: ir.Expr) -> str:
    if type(node) is ir.Name:
        made = list(calls_for(variation, node.id))
        return new_object(log, q.frame, made[0], variation) if len(made) == 1 else ""
    return new_object(log, q.frame, node, variation)
