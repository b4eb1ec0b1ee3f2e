"""Where an event happens, and how execution got there (layer: ``infer``)."""

from __future__ import annotations

from dataclasses import dataclass, field

from jitlint.base.diagnostic import Confidence


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a witness path: a place in a module and what happens there ("`f` is jitted here").

    because: the word of the `Ground` that the step rests on.
    """

    module: str
    at: int
    message: str
    because: str = "seen"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an event happens and how execution got there. ``steps`` run from the transform inwards.

    expected: a handler around names the tracing error that comes of it. traced, kind: the words of the grounds on
    which the value is a tracer, and an array; "" where that is no question. differentiated: a derivative is around.
    """

    module: str
    at: int
    function: str
    steps: tuple[Step, ...]
    ground: str
    confidence: Confidence
    expected: bool = False
    traced: str = ""
    kind: str = ""
    differentiated: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events. ``why``: what makes the value a tracer ("parameter `x` of `f`"), or "".

    modes: the letters S (staged), B (batched), L (linear) of the tracer; "" when the operation fails on
    plain JAX arrays too. also: other lines that belong to the story ("`SCALE` is rebound here").
    """

    place: Place
    why: str = ""
    modes: str = ""
    also: tuple[Step, ...] = field(default=(), kw_only=True)
