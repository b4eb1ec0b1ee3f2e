"""Functions that Python or a library runs though no followed call says so: special methods, callbacks (layer: ``link``, room ``values``).

They are run once, for what they reach. What is found there is only *possible*, unless Python runs them in any case, and
their results stay unknown.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.transforms import Handed
from jitlint.infer.grounds import at_most
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import (
    UNKNOWN,
    Bound,
    Class,
    Ext,
    ExtInst,
    Func,
    Inst,
    Partial,
    Tup,
    Value,
    Xform,
    alternatives,
)
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values.questions.kinds import find_method, member, metaclass_method

GUESSES = 6
"""Runs of one function that rest on a guess."""

GUESS_DEPTH = 24
"""Activations on the abstract stack beyond which nothing is guessed."""


def worth(f: Frame, func: Func) -> bool:
    """Whether another guess at a function may still reach something new, or is surer than those before."""
    fn = func.fn
    fn.guesses += 1
    surer, fn.guessed = f.entry.rank > fn.guessed, max(fn.guessed, f.entry.rank)
    return surer or fn.guesses <= GUESSES


def run_protocol(
    m: Machine, f: Frame, at: int, recv: Inst, name: str, args: list[Value], surely: bool = False
) -> None:
    """A special method that Python runs behind an operation inside a trace; only its own findings matter.

    surely: for any object of this class, whatever the arguments are.
    """
    method = find_method(recv, name)
    if type(method) is Func and f.depth <= GUESS_DEPTH and (surely or worth(f, method)):
        inner = scopes.in_world(
            f, f.world, f.steps, confidence=f.confidence if surely else Confidence.POSSIBLE
        )
        evaluator.call(m, inner, at, method, Args([recv, *args]))


def run_makers(m: Machine, f: Frame, at: int, inst: Inst, args: Args) -> None:
    """``C(...)`` inside a trace asks the metaclass of C, and its ``__new__``, before there is an object."""
    for maker in (
        (metaclass_method(inst.cls, "__call__"), find_method(inst, "__new__")) if f.world.level else ()
    ):
        if type(maker) is Func and f.depth <= GUESS_DEPTH and worth(f, maker):
            inner = scopes.in_world(f, f.world, f.steps, confidence=Confidence.POSSIBLE)
            given = Args([Class(inst.cls), *args.pos], args.kw, args.more, args.kw_more)
            evaluator.call(m, inner, at, maker, given)


def run_implied(
    m: Machine, f: Frame, at: int, value: Value | None, names: tuple[str, ...], *args: Value
) -> None:
    """Inside a trace, the first of these special methods that an object has: an operation asks for it."""
    if not f.world.level or value is None:
        return
    for alt in alternatives(value):
        found = [name for name in names if type(alt) is Inst and type(find_method(alt, name)) is Func]
        if type(alt) is Inst and found:
            run_protocol(m, f, at, alt, found[0], list(args), surely=alt is value and not args)


def run_instance_check(m: Machine, f: Frame, at: int, value: Value, classes: Value) -> None:
    """``isinstance(value, C)`` asks the metaclass of C, if that wants to be asked."""
    for alt in (classes.items if type(classes) is Tup else alternatives(classes)) if f.world.level else ():
        meta = alt.info.metaclass if type(alt) is Class else None
        check = meta.namespace.get("__instancecheck__") if meta is not None else None
        if type(check) is Func and worth(f, check):
            inner = scopes.in_world(f, f.world, f.steps, confidence=Confidence.POSSIBLE)
            evaluator.call(m, inner, at, check, Args([alt, value]))


def run_callbacks(m: Machine, f: Frame, at: int, args: Args, surely: bool = False) -> None:
    """Functions handed to a library inside a trace: they probably run there, on who knows what.

    surely: it is what the library asks for them for.
    """
    entry = f.entry if surely else at_most(f.entry, Confidence.LIKELY)
    for value in (*args.pos, *args.kw.values()):
        if type(value) is Func and not value.fn.node.is_generator and worth(f, value):
            inner = scopes.in_world(f, f.world, f.steps, confidence=Confidence.POSSIBLE, entry=entry)
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


def made_instead(m: Machine, f: Frame, at: int, info: ClassInfo, args: Args) -> Value | None:
    """What a class gives that is a dict, or whose ``__new__`` makes no object of it; None when it may make one."""
    if info.shape == "dict":
        return evaluator.call(m, f, at, Ext("builtins.dict"), args)
    new = member(info, "__new__")
    if type(new) is not Func or any(last_name(node) == "__new__" for node in new.fn.parts):
        return None
    return evaluator.call(m, f, at, new, Args([Class(info), *args.pos], args.kw, args.more, args.kw_more))
