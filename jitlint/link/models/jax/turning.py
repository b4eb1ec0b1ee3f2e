"""Bodies of loops from their second turn on (layer: ``link``, room ``models``).

The first turn of a loop gets constants perhaps, and gives what has a derivative, which the turns after it get. What it does: runs such
a body once more on what it gives. What it does not: let the domains hear of that turn. Keys are looked at in the first, and where a
derivative is not finite for a constant that a loop begins with, it goes nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from jitlint.infer.lattice import parts
from jitlint.infer.values import DISCRETE, SMOOTH, Arr, L, Tup, Union, Value
from jitlint.link.engine import evaluator
from jitlint.link.engine.domain import Domains, Turn
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import pytrees

_DEPTH: Final = 6
_PAIR: Final = 2


def again(m: Machine, inner: Frame, at: int, function: Value, args: Args, turn: Turn) -> Value:
    """What the body of a loop returns, with the derivatives that come into its carry turn by turn."""
    value, given = turn.returned, turn.given
    items = value.items if type(value) is Tup else ()
    carry = value if not turn.paired else items[0] if len(items) == _PAIR else given
    raised = _raised(given, carry) if inner.world.modes & L else given
    if raised is given:
        return value
    pos = [raised if argument is given else argument for argument in args.pos]
    with _unheard(m):
        return _raised(value, evaluator.call(m, inner, at, function, Args(pos, args.kw, args.more)))


def _raised(given: Value, carry: Value, depth: int = _DEPTH) -> Value:
    """What is given, with the derivatives of something like it; itself if there are none that it lacks."""
    if type(given) is Arr:
        more = carry.modes & SMOOTH & ~given.modes if type(carry) is Arr else 0
        return (
            pytrees.remode(given, lambda modes: modes | more)
            if more and given.dtype not in DISCRETE
            else given
        )
    ours, theirs = parts(given), parts(carry)
    if not depth or type(given) is not type(carry) or type(given) is Union or len(ours) != len(theirs):
        return given
    new = [_raised(one, other, depth - 1) for one, other in zip(ours, theirs)]
    return given if all(a is b for a, b in zip(ours, new)) else pytrees.with_parts(given, new)


@contextmanager
def _unheard(m: Machine) -> Iterator[None]:
    kept = m.domains, m.memo
    m.domains, m.memo = Domains(), {}
    try:
        yield
    finally:
        m.domains, m.memo = kept
