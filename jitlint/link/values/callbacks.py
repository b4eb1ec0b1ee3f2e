"""Functions that Python or a library runs though no followed call says so: special methods, callbacks (layer: ``link``, room ``values``).

They are run once, for what they reach. What is found there is only *possible*, and their results stay unknown.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.transforms import Handed
from jitlint.infer.values import UNKNOWN, Bound, ExtInst, Func, Inst, Partial, Value, Xform
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values.kinds import find_method

GUESSES = 6
"""Runs of one function that rest on a guess."""


GUESS_DEPTH = 24
"""Activations on the abstract stack beyond which nothing is guessed."""


def worth(func: Func) -> bool:
    """Whether another guess at a function may still reach something new."""
    func.fn.guesses += 1
    return func.fn.guesses <= GUESSES


def run_protocol(m: Machine, f: Frame, at: int, recv: Inst, name: str, args: list[Value]) -> None:
    """A special method that Python runs behind an operation inside a trace; only its own findings matter."""
    method = find_method(recv, name)
    if type(method) is Func and f.depth <= GUESS_DEPTH and worth(method):
        inner = scopes.in_world(f, f.world, f.steps, confidence=Confidence.POSSIBLE)
        evaluator.call(m, inner, at, method, Args([recv, *args]))


def run_callbacks(m: Machine, f: Frame, at: int, args: Args) -> None:
    """Functions handed to a library inside a trace: they probably run there, on who knows what."""
    for value in (*args.pos, *args.kw.values()):
        if type(value) is Func and not value.fn.node.is_generator and worth(value):
            inner = scopes.in_world(f, f.world, f.steps, confidence=Confidence.POSSIBLE)
            evaluator.call(m, inner, at, value, Args([UNKNOWN] * len(value.fn.node.params)))


def run_expecting(m: Machine, f: Frame, at: int, args: Args) -> None:
    """``assertRaises(Error, function, *args)``: the function runs to fail, so nothing that it does is wrong."""
    for i, value in enumerate(args.pos):
        if isinstance(value, (Func, Bound, Partial, Xform)):
            inner = scopes.in_world(f, f.world.but(excused=True), f.steps)
            evaluator.call(m, inner, at, value, Args(args.pos[i + 1 :], args.kw, args.more, args.kw_more))
            return


def hand_over(m: Machine, f: Frame, handed: Handed, args: Args) -> Value:
    """Functions given to a library that will trace them."""
    named: dict[str, Value] = dict(args.kw)
    for name, value in zip(handed.params, args.pos):
        named.setdefault(name, value)
    m.catalogue_roots.append((handed, named, f.module, f.at))
    return ExtInst(handed.name, named)
