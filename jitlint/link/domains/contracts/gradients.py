"""Gradients that an optimiser is given with the value of the function still beside them (layer: ``link``, room ``domains``).

What it does: looks at where the variable was bound that is given as the gradients, and says so where that is certainly the whole
result of a derivative that gives more, or its first part. What it does not: compare trees whose structure nobody knows.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.values import Arr, Tup, Value
from jitlint.link.engine.domain import Called, Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import fitting
from jitlint.link.values.questions import derivatives
from jitlint.syntax import ir

_APPLIED: Final = "apply_gradients"


def updated(m: Machine, f: Frame, library: Library) -> None:
    """``tx.update(grads, state, params)`` is called."""
    if type(library.args.get(2, "params")) is not Tup:
        _updated(m, f, library, 0, "updates")


def updated_model(m: Machine, f: Frame, library: Library) -> None:
    """``optimizer.update(model, grads)`` of `flax.nnx` is called."""
    _updated(m, f, library, 1, "grads")


def _updated(m: Machine, f: Frame, library: Library, place: int, name: str) -> None:
    node = derivatives.argument(m.texts.table(f).calls.get(library.at), place, name)
    _given(m, f, library.at, "update", library.args.get(place, name), node)


def applied(m: Machine, f: Frame, called: Called) -> None:
    """``state.apply_gradients(grads=grads)`` is called."""
    node, value = called.node, called.args.kw.get("grads")
    if value is not None and last_name(node.func) == _APPLIED:
        _given(m, f, node.at, _APPLIED, value, derivatives.argument(node, 0, "grads"))


def _given(m: Machine, f: Frame, at: int, api: str, value: Value | None, node: ir.Node | None) -> None:
    if value is None or type(node) is not ir.Name or f.fn is None:
        return
    binding = bound_once.only_binding(f.fn, node.id)
    found = _more(m, f, binding, node.id, value) if binding is not None else ""
    if found:
        fitting.report(m, f, at, api, "trees", f"the parameters and {found}", value)


def _more(m: Machine, f: Frame, binding: ir.Assign, name: str, value: Value) -> str:
    """What a variable holds besides gradients, or in their place, or ""."""
    call, target = binding.value, binding.targets[0]
    kind, has_aux = derivatives.kind_of(m, f, call.func) if type(call) is ir.Call else ("", False)
    valued = kind == derivatives.VALUED
    if kind not in derivatives.DERIVED:
        return ""
    if type(target) is ir.Name:
        pair = (
            "the pair of value and gradients" if valued else "the pair of gradients and what goes with them"
        )
        return pair if (valued or has_aux) and _is_pair(value) else ""
    first = target.elts[0] if type(target) is ir.Tuple else None
    is_first = valued and type(first) is ir.Name and first.id == name
    return _first_part(value, has_aux) if is_first else ""


def _first_part(value: Value, has_aux: bool) -> str:
    """What a derivative gives before the gradients."""
    if has_aux:
        return "the pair of the value and what goes with it" if _is_pair(value) else ""
    return "the value, without the gradients" if type(value) is Arr and value.rank == 0 else ""


def _is_pair(value: Value) -> bool:
    return type(value) is Tup and value.cls is None and len(value.items) == 2
