"""What a call said in one trial, said again in another (layer: ``link``, room ``core``).

A trial may throw away all that was found in it, so what a remembered call of one trial has found does not count in the
next. What it does: keeps that with the call, and says it again on the way by which the next trial comes to it. What it
does not: so for calls that are less sure, or from under a handler; these run again.
"""

from __future__ import annotations

from dataclasses import replace

from jitlint.infer.events import AnyEvent
from jitlint.infer.places import Step
from jitlint.infer.program import FuncInfo
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Found, Machine, Memo
from jitlint.link.engine.sink import Key


def says_again(m: Machine, memo: Memo, f: Frame) -> bool:
    """Whether what was said in one trial can be said in the one that is on, in the very words."""
    return bool(m.sink.trial_number) and _would_say(memo, f) is not None


def _would_say(memo: Memo, f: Frame) -> Found | None:
    """What a call says if it is as sure as the one that is remembered; None when it might say something else."""
    said = memo.found
    if said is None or f.caught is not None or said.ground != f.ground or bool(said.steps) != bool(f.steps):
        return None
    return said if memo.confidence is f.confidence and memo.entry is f.entry else None


def steps_to(f: Frame, at: int, fn: FuncInfo) -> tuple[Step, ...]:
    """The way to what is called."""
    steps = f.steps
    if steps and (steps[-1].module, steps[-1].at) != (f.module.name, at):
        return (*steps, Step(f.module.name, at, f"`{fn.qualname}` is called here"))
    return steps


def found(f: Frame, inner: Frame, events: list[tuple[Key, AnyEvent]]) -> Found | None:
    """What an activation in a trial said, if it can be said again on another way to it."""
    steps = inner.steps
    if f.caught is not None or any(event.place.steps[: len(steps)] != steps for _, event in events):
        return None
    return Found(events, steps, inner.ground)


def say_again(m: Machine, f: Frame, at: int, fn: FuncInfo, memo: Memo) -> None:
    """Say what an activation said, on the way to it that is gone now."""
    sink, said = m.sink, _would_say(memo, f)
    if said is None:
        sink.missing += 1
        return
    steps, known = steps_to(f, at, fn), len(said.steps)
    for key, event in said.events:
        way = (*steps, *event.place.steps[known:])
        again = replace(event, place=replace(event.place, steps=way)) if way != event.place.steps else event
        if memo.trial == sink.trial_number:
            sink.record.append((key, again))
        else:
            sink.add(key, again)
