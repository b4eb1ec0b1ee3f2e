"""JIT006: the analysis met one of its limits here (layer: ``rules``)."""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import LimitMet

RULE = Rule(
    code="JIT006",
    name="analysis-limit",
    severity=Severity.INFO,
    summary="the analysis looked at less than there is",
    explanation="""\
jitlint runs the program on abstract values, and every program ends soon: there are limits to how many different calls of a
function are told apart, how deep calls go, how large values are. Where a limit was met the analysis goes on with less
knowledge. Calls are looked at together, first without their numbers, then without texts, flags and the structure of
containers. Which of them come first has no say in what is found, but what only the forgotten decides is a guess, and
beyond the last limit calls count as unknown: mistakes there may be missed.

This says where that happened. `--statistics` counts how often.
""",
    instead="""\
Nothing is wrong with the code. To see more, name fewer files at a time, or call the function from fewer places with
arguments of different structure.
""",
    bad="",
    good="",
    outcome=Advisory("JAX is not involved: it says how far the analysis went"),
    since="0.1",
)

_MESSAGES: Final = {
    "contexts": "this function is called in many ways: further calls are looked at together, without their numbers",
    "calls": "this function is called in very many ways: some of its calls are not followed",
    "depth": "calls are nested very deep here: what this one does is not known",
    "size": "the arguments of this function are very large: its calls are not compared with each other",
    "turns": "this loop changes its variables at every turn: what they become later is not known",
    "rows": "this test has many rows of parameters: only some of them are looked at",
    "trials": "what this derivative is taken by has very many parts: not all of them are followed to the loss",
    "rounds": "this transformed function is made by others, many times over: it is not looked at",
}


@RULE.on(LimitMet)
def check(event: LimitMet) -> Report | None:
    """Report the place of every limit that was met."""
    return Report(_MESSAGES[event.limit])
