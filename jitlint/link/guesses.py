"""Functions that Python or a library probably runs inside a trace, though no followed call says so (layer: ``link``).

They are run once, for what they reach: methods of unknown receivers, special methods behind operations, callbacks of
unknown library calls. What is found there is only *possible*, and their results stay unknown.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.infer.values import UNKNOWN, Func, Inst, Value
from jitlint.link import calls, classes
from jitlint.link.kinds import find_method
from jitlint.link.machine import Args, Frame, Machine

GUESSES = 6
"""Runs of one function that rest on a guess."""

GUESS_DEPTH = 24
"""Activations on the abstract stack beyond which nothing is guessed."""


def _worth(func: Func) -> bool:
    """Whether another guess at a function may still reach something new."""
    func.fn.guesses += 1
    return func.fn.guesses <= GUESSES


def guess(m: Machine, f: Frame, at: int, name: str, args: Args) -> None:
    """A method of an unknown receiver: when only one class of the project has a method of that name, it is run
    with an instance of that class. What it finds is only possible, and its result stays unknown."""
    found = m.methods_by_name.get(name, ())
    if len(found) != 1 or f.depth > GUESS_DEPTH:
        return
    info, func = found[0]
    params = func.fn.node.params
    if not params or params[0].name != "self" or info.cold_running or not _worth(func):
        return
    inner = calls.in_world(f, f.world, f.steps, confidence=Confidence.POSSIBLE)
    receiver = classes.cold_instance(m, info)
    calls.call(m, inner, at, func, Args([receiver, *args.pos], args.kw, args.more, args.kw_more))


def guess_property(m: Machine, f: Frame, at: int, name: str) -> None:
    """A property of an unknown receiver, if only one class of the project has one of that name."""
    found = m.properties_by_name.get(name, ())
    if len(found) == 1 and f.depth <= GUESS_DEPTH and not found[0][0].cold_running:
        info, func = found[0]
        if type(func) is Func and not _worth(func):
            return
        inner = calls.in_world(f, f.world, f.steps, confidence=Confidence.POSSIBLE)
        calls.call(m, inner, at, func, Args([classes.cold_instance(m, info)]))


def run_protocol(m: Machine, f: Frame, at: int, recv: Inst, name: str, args: list[Value]) -> None:
    """A special method that Python runs behind an operation inside a trace; only its own findings matter."""
    method = find_method(recv, name)
    if type(method) is Func and f.depth <= GUESS_DEPTH and _worth(method):
        inner = calls.in_world(f, f.world, f.steps, confidence=Confidence.POSSIBLE)
        calls.call(m, inner, at, method, Args([recv, *args]))


def run_callbacks(m: Machine, f: Frame, at: int, args: Args) -> None:
    """Functions handed to a library inside a trace: they probably run there, on who knows what."""
    for value in (*args.pos, *args.kw.values()):
        if type(value) is Func and not value.fn.node.is_generator and _worth(value):
            inner = calls.in_world(f, f.world, f.steps, confidence=Confidence.POSSIBLE)
            calls.call(m, inner, at, value, Args([UNKNOWN] * len(value.fn.node.params)))
