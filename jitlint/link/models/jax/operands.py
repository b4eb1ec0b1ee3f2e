"""What loops, branches and derivatives get that is no array, nor a pytree of arrays (layer: ``link``, room ``models``).

A carry and an operand are arguments of a trace, as those of `jax.jit`, but none of them can be static. What it does: looks
at what goes through a loop, into a branch, or is differentiated by. What it does not: speak of values of which one
alternative may be an array.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.transforms import HigherOrder
from jitlint.infer.events import TransformMisuse
from jitlint.infer.lattice import parts
from jitlint.infer.objects import is_cold
from jitlint.infer.values import (
    Bound,
    Class,
    Ext,
    Func,
    Inst,
    Map,
    Method,
    Partial,
    Seq,
    Tup,
    Value,
    Xform,
    alternatives,
)
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.jax import hashed
from jitlint.link.values.questions import no_arrays

_CARRYING: Final = frozenset({"scan", "while", "fori", "stack", "branches", "jvp", "vjp"})
"""Results of functions that trace theirs with what they get."""
_TRACED: Final = ("init", "init_val", "xs", "operands", "primals")
FUNCTIONS: Final = (Func, Bound, Partial, Xform, Inst, Class, Method, Ext)
_LIBRARY: Final = "jax."
_DEPTH: Final = 6


def check(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> None:
    """A library function is about to trace its functions with these arguments."""
    functions = (named[one.function] for one in spec.run if one.function in named)
    if not f.world.eager_jit and any(hashed.refuses(m, f, at, spec.name, given) for given in functions):
        return
    if spec.result not in _CARRYING or f.world.eager_jit or m.guards or not spec.name.startswith(_LIBRARY):
        return
    for name in _TRACED:
        value = named.get(name)
        if value is not None and refused(m, f, at, spec.name, name, value, "non-array-operand"):
            return


def refused(
    m: Machine, f: Frame, at: int, transform: str, parameter: str, value: Value, problem: str
) -> bool:
    """Record that a value is traced which certainly is no array. Answers whether it is none."""
    kinds = [no_arrays.not_an_array(m, alt) for alt in alternatives(value)]
    if not kinds or not all(kinds) or _stands_in(f, value):
        return False
    m.emit(
        f, TransformMisuse, at, None, Confidence.LIKELY,
        transform=transform, problem=problem, parameter=parameter, detail=kinds[0],
    )  # fmt: skip
    return True


def _stands_in(f: Frame, value: Value, depth: int = _DEPTH) -> bool:
    """Whether an object stands for others: nobody is seen to make it, so that it may be registered elsewhere, or a test
    made it up for code that is no test, and perhaps never comes here."""
    for alt in alternatives(value):
        if type(alt) is Inst and (is_cold(alt) or (alt.cls.module.is_test and not f.module.is_test)):
            return True
        inside = parts(alt) if depth and isinstance(alt, (Tup, Seq, Map)) else ()
        if any(_stands_in(f, part, depth - 1) for part in inside):
            return True
    return False


def each_with_its_own(f: Frame, at: int, args: Args) -> Args:
    """The older form of `jax.lax.cond`, in which each branch follows its operand, as one whose branches have theirs.

    Source: `jax.lax.cond`, which still takes it.
    """
    pred, when_true, true_fun, when_false, false_fun = args.pos
    if (
        isinstance(when_true, FUNCTIONS)
        or not isinstance(true_fun, FUNCTIONS)
        or not isinstance(false_fun, FUNCTIONS)
    ):
        return args
    branches = ((true_fun, when_true), (false_fun, when_false))
    return Args(
        [pred, *[Partial(fun, [operand], {}, (f.module.name, at)) for fun, operand in branches]], args.kw
    )
