"""What callbacks and kernels take from the functions around them (layer: ``link``, room ``models``).

A callback runs when the trace around it is over, and a kernel is compiled by itself. What it does: finds the arrays that such a function
reads without having got them. What it does not: speak of shapes, dtypes and lengths, which are there for everybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.transforms import HigherOrder
from jitlint.infer.events import ApiMisuse, Leak
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Arr, Func, S, Scope, Value, Xform
from jitlint.link.engine import events, scopes
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import fitting
from jitlint.link.values.questions.signatures import describe
from jitlint.syntax import ir

_ON_HOST: Final = -1
_SHOWING: Final = frozenset({"print", "str", "repr"})
"""Functions to which a tracer is as good as any object: they say what it is."""


def check_callback(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> None:
    """Record a callback that reads a traced value of the function around it: it runs when the trace is long over."""
    callback = named.get(spec.params[0])
    if spec.run[0].modes != _ON_HOST or type(callback) is not Func or m.guards:
        return
    shown = {id(arg) for call in _calls(callback.fn, _SHOWING) for arg in call}
    for name, uses in _taken(callback.fn):
        value = _found(callback.scope, name, in_module=False)
        traced = events.hurt(value, S) if value is not None else None
        if value is not None and traced is not None and not traced.weak:
            m.emit(
                f, Leak, at, traced, events.confidence_of(value), target="callback", what=name,
                used=any(id(part) not in shown for part in uses),
            )  # fmt: skip
            return


def refuses_kernel(m: Machine, f: Frame, at: int, x: Xform) -> bool:
    """Whether a kernel certainly reads an array of JAX that it does not get as an input; it is recorded."""
    kernel = x.target
    if not x.spec.apart or type(kernel) is not Func or m.guards:
        return False
    for name, _ in _taken(kernel.fn):
        value = _found(kernel.scope, name, in_module=True)
        if type(value) is Arr and fitting.is_array(value) and not value.host:
            m.emit(
                f, ApiMisuse, at, value, api=x.spec.name, problem="wrong-call", parameter=name,
                detail=f"kernel {describe(kernel)}", exception="ValueError",
            )  # fmt: skip
            return True
    return False


def _taken(fn: FuncInfo) -> Iterator[tuple[str, list[ir.Name]]]:
    """The names that a function reads and does not bind, where it reads more than what is known of any array."""
    told = {
        id(part.obj)
        for part in fn.parts
        if type(part) is ir.Attr and part.name in lexicon().errors.static_attributes
    }
    told |= {id(arg) for call in _calls(fn, lexicon().errors.static_calls) for arg in call}
    for name in fn.outer_names:
        uses = [part for part in fn.parts if type(part) is ir.Name and part.id == name]
        uses = [part for part in uses if id(part) not in told]
        if uses:
            yield name, uses


def _calls(fn: FuncInfo, names: frozenset[str]) -> Iterator[list[ir.Expr]]:
    """The arguments of calls of functions of these names."""
    for part in fn.parts:
        if type(part) is ir.Call and type(part.func) is ir.Name and part.func.id in names:
            yield [arg.value for arg in part.args]


def _found(scope: Scope, name: str, in_module: bool) -> Value | None:
    """What a name stands for in the functions around, or in the module as well."""
    holder = scopes.holder(scope, name)
    return holder.vars[name] if holder is not None and (in_module or holder.fn is not None) else None
