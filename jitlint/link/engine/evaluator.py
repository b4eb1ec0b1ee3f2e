"""The five names through which the rooms below reach the evaluator above them (layer: ``link``, room ``engine``).

An operation on a value may call a function of the program, and a call may evaluate, run and call anything: the circle
is real. It is closed here and nowhere else: `program` gives the session an `Evaluator`, everybody else calls these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from jitlint.infer.values import Func, Value
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.link.engine.frame import Args, Frame
    from jitlint.link.engine.machine import Machine


class Evaluate(Protocol):
    """The abstract value of an expression, with all its effects."""

    def __call__(self, m: Machine, f: Frame, node: ir.Node | None, /) -> Value: ...


class RunBlock(Protocol):
    """Execute statements; answers whether their end is reached."""

    def __call__(self, m: Machine, f: Frame, block: Sequence[ir.Node], /) -> bool: ...


class Call(Protocol):
    """Call any value."""

    def __call__(self, m: Machine, f: Frame, at: int, callee: Value, args: Args, /) -> Value: ...


class CallFunction(Protocol):
    """Call a function of the project in the caller's world."""

    def __call__(self, m: Machine, f: Frame, at: int, func: Func, args: Args, /) -> Value: ...


class Activate(Protocol):
    """Run a function on bound parameters, or give what the same context gave before."""

    def __call__(self, m: Machine, f: Frame, at: int, func: Func, bound: dict[str, Value], /) -> Value: ...


@dataclass(frozen=True, slots=True)
class Evaluator:
    """What `program` wires in."""

    evaluate: Evaluate
    run_block: RunBlock
    call: Call
    call_function: CallFunction
    activate: Activate


def evaluate(m: Machine, f: Frame, node: ir.Node | None) -> Value:
    """The abstract value of an expression, with all its effects."""
    return m.evaluator.evaluate(m, f, node)


def run_block(m: Machine, f: Frame, block: Sequence[ir.Node]) -> bool:
    """Execute statements; answers whether their end is reached."""
    return m.evaluator.run_block(m, f, block)


def call(m: Machine, f: Frame, at: int, callee: Value, args: Args) -> Value:
    """Call any value."""
    return m.evaluator.call(m, f, at, callee, args)


def call_function(m: Machine, f: Frame, at: int, func: Func, args: Args) -> Value:
    """Call a function of the project in the caller's world."""
    return m.evaluator.call_function(m, f, at, func, args)


def activate(m: Machine, f: Frame, at: int, func: Func, bound: dict[str, Value]) -> Value:
    """Run a function on bound parameters, or give what the same context gave before."""
    return m.evaluator.activate(m, f, at, func, bound)
