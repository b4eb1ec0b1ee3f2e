"""States that are made with an optimiser of their own for each call (layer: ``link``, room ``domains``).

The optimiser of a `flax.training.train_state.TrainState` is a part of its type, and each one that is made has functions of its own: a
compiled function that gets such a state is compiled again. What it does: reads how a function, or the innermost loop around a call,
makes the state that it hands over. What it does not: speak of a state that goes through a loop of its own, beside which compiling once
is nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.link.domains.compilation.identities import new_object
from jitlint.link.domains.compilation.log import CompilationLog, Question
from jitlint.link.domains.compilation.variation import Variation
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import ir

_OPTIMISER: Final = "tx"
_MAKING: Final = frozenset({"create", "replace", "TrainState"})


def new_optimiser(log: CompilationLog, q: Question, variation: Variation) -> str:
    """What optimiser is made anew for the state that an argument is, or ""."""
    if type(q.arg) is not ir.Name or q.turns != len(variation.loops):
        return ""
    for made in _made(q, variation, q.arg.id):
        if last_name(made.func) in _MAKING:
            told = (arg.value for arg in made.args if arg.name == _OPTIMISER)
            found = next((how for value in told if (how := _new(log, q, variation, value))), "")
            if found:
                return found
    return ""


def _made(q: Question, variation: Variation, name: str) -> Iterator[ir.Call]:
    """The calls that a variable is set to, in the innermost loop if there is one."""
    for value in q.table.bound.get(name, ()):
        inside = not variation.loops or q.table.stands_in(value, variation.loops[-1:])
        if type(value) is ir.Call and inside:
            yield value


def _new(log: CompilationLog, q: Question, variation: Variation, value: ir.Expr) -> str:
    if type(value) is ir.Name:
        made = list(_made(q, variation, value.id))
        return new_object(log, q.frame, made[0], variation) if len(made) == 1 else ""
    return new_object(log, q.frame, value, variation)
