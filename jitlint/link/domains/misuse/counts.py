"""Results of library functions that are unpacked into more or fewer names (layer: ``link``, room ``domains``).

What it does: knows of how many results a tuple certainly consists that the library itself makes. What it does not: count what
functions of the project give, which the library hands on, or take part where a starred name takes the rest.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import Py, Seq, Tup, Value, Xform
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import iteration, paths
from jitlint.syntax import ir

_PAIR: Final = "value_and_grad"
_SAME: Final = "same"
_AUX: Final = "has_aux"
_PARTS: Final = "indices_or_sections"


def check(m: Machine, f: Frame, node: ir.Assign, value: Value) -> None:
    """What a call gives is about to be assigned. Record names of another number than there are results."""
    call = node.value
    plain = [target for target in node.targets if _names(target)]
    if type(call) is not ir.Call or not plain:
        return
    name, count = _results(m, f, call)
    items = iteration.known_items(value) if isinstance(value, (Tup, Seq)) else None
    other = next((target for target in plain if _names(target) != count), None)
    if not count or other is None or (items is not None and len(items) != count):
        return
    m.emit(
        f, ApiMisuse, other.at, value, api=name, problem="unfit", parameter="results",
        detail=f"{count} and {_names(other)}", exception="ValueError",
    )  # fmt: skip


def _names(target: ir.Expr) -> int:
    """Into how many names a target certainly takes something apart, else 0."""
    if not isinstance(target, (ir.Tuple, ir.List)) or any(type(e) is ir.Starred for e in target.elts):
        return 0
    return len(target.elts)


def _results(m: Machine, f: Frame, call: ir.Call) -> tuple[str, int]:
    """The function and the number of its results, 0 if that is not known."""
    dotted = paths.dotted(m, f, call.func)
    if dotted:
        return dotted, _of_function(m, f, dotted, call)
    callee = paths.peek(m, f, call.func)
    while type(callee) is Xform and callee.spec.result == _SAME and type(callee.target) is Xform:
        callee = callee.target  # `jit(value_and_grad(f))` gives what the derivative does
    if type(callee) is Xform:
        aux = callee.options.get(_AUX)
        pair = callee.spec.result == _PAIR or (callee.spec.result == "grad" and _is_true(aux))
        return callee.spec.name, 2 if pair else 0
    if type(call.func) is ir.Call:
        maker = paths.dotted(m, f, call.func.func)
        wrap = m.transforms.wraps.get(maker)
        return maker, 2 if wrap is not None and wrap.result == _PAIR else 0
    return "", 0


def _of_function(m: Machine, f: Frame, dotted: str, call: ir.Call) -> int:
    """How many results a function gives that is called by its own name."""
    counts = lexicon().counts
    given = _given(m, dotted, call)
    if given is None or not counts.changing.isdisjoint(given):
        return 0
    if dotted in counts.fixed:
        return int(counts.fixed[dotted])
    if dotted in counts.each:
        return sum(arg.name is None for arg in call.args)
    if dotted in counts.parts:
        return _parts(m, f, given.get(_PARTS))
    if dotted in counts.with_aux:
        aux = given.get(_AUX)
        if aux is None:
            return 2
        return 3 if type(aux) is ir.Const and aux.value is True else 0
    return 0


def _given(m: Machine, dotted: str, call: ir.Call) -> dict[str, ir.Expr] | None:
    """The arguments that are written, by the names of their parameters as far as these are known; None if some are not written."""
    if any(arg.star for arg in call.args):
        return None
    fn = m.catalogue.function(dotted)
    names = [parameter.name for parameter in fn.parameters] if fn is not None else []
    given: dict[str, ir.Expr] = {}
    for i, arg in enumerate(call.args):
        given[arg.name or (names[i] if i < len(names) else f"*{i}")] = arg.value
    return given


def _parts(m: Machine, f: Frame, node: ir.Expr | None) -> int:
    """Into how many parts an array is cut: a number of them, or one more than there are places to cut at."""
    if isinstance(node, (ir.Tuple, ir.List)):
        return 0 if any(type(e) is ir.Starred for e in node.elts) else len(node.elts) + 1
    if type(node) is ir.Const:
        return node.value if type(node.value) is int else 0
    value = paths.peek(m, f, node)
    return value.const if type(value) is Py and type(value.const) is int else 0


def _is_true(value: Value | None) -> bool:
    return type(value) is Py and value.const is True
