"""Functions that Python or a library probably runs inside a trace, though no followed call says so (layer: ``link``, room ``core``).

They are run once, for what they reach: methods of unknown receivers, special methods behind operations, callbacks of
unknown library calls. What is found there is only *possible*, and their results stay unknown.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.infer.grounds import weaken
from jitlint.infer.values import Func
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import callbacks, classes


def guess(m: Machine, f: Frame, at: int, name: str, args: Args) -> None:
    """A method of an unknown receiver: when only one class of the project has a method of that name, it is run
    with an instance of that class. What it finds is only possible, and its result stays unknown."""
    m.domains.on_unknown(f, args)
    found = m.methods_by_name.get(name, ())
    if len(found) != 1 or f.depth > callbacks.GUESS_DEPTH:
        return
    info, func = found[0]
    params = func.fn.node.params
    if not params or params[0].name != "self" or info.cold_running or not callbacks.worth(f, func):
        return
    inner = _guessed(f)
    receiver = classes.cold_instance(m, info)
    evaluator.call(m, inner, at, func, Args([receiver, *args.pos], args.kw, args.more, args.kw_more))


def _guessed(f: Frame) -> Frame:
    """What a method is called from of which the name says whose it is: little is known of its values."""
    return scopes.in_world(f, f.world, f.steps, confidence=Confidence.POSSIBLE, entry=weaken(f.entry, 1))


def guess_property(m: Machine, f: Frame, at: int, name: str) -> None:
    """A property of an unknown receiver, if only one class of the project has one of that name."""
    found = m.properties_by_name.get(name, ())
    if len(found) == 1 and f.depth <= callbacks.GUESS_DEPTH and not found[0][0].cold_running:
        info, func = found[0]
        if type(func) is Func and not callbacks.worth(f, func):
            return
        inner = _guessed(f)
        evaluator.call(m, inner, at, func, Args([classes.cold_instance(m, info)]))
