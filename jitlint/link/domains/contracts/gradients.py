"""Gradients that an optimiser is given with the value of the function still beside them (layer: ``link``, room ``domains``).

What it does: looks at where the variable was bound that is given as the gradients, and says so where that is certainly the whole
result of a derivative that gives more, or its first part. What it does not: compare trees whose structure nobody knows.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.values import Arr, Py, Tup, Value, Xform
from jitlint.link.engine import scopes
from jitlint.link.engine.domain import Called, Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_names, last_name
from jitlint.link.values import fitting, paths
from jitlint.syntax import ir

_APPLIED: Final = "apply_gradients"
_VALUED: Final = "value_and_grad"
_DERIVED: Final = ("grad", _VALUED)


def updated(m: Machine, f: Frame, library: Library) -> None:
    """``tx.update(grads, state, params)`` is called."""
    if type(library.args.get(2, "params")) is not Tup:
        _updated(m, f, library, 0, "updates")


def updated_model(m: Machine, f: Frame, library: Library) -> None:
    """``optimizer.update(model, grads)`` of `flax.nnx` is called."""
    _updated(m, f, library, 1, "grads")


def _updated(m: Machine, f: Frame, library: Library, place: int, name: str) -> None:
    call = m.texts.table(f).calls.get(library.at)
    args = call.args if call is not None else []
    by_name = next((arg.value for arg in args if arg.name == name), None)
    node = args[place].value if by_name is None and len(args) > place else by_name
    _given(m, f, library.at, "update", library.args.get(place, name), node)


def applied(m: Machine, f: Frame, called: Called) -> None:
    """``state.apply_gradients(grads=grads)`` is called."""
    node, value = called.node, called.args.kw.get("grads")
    if value is not None and last_name(node.func) == _APPLIED:
        given = next((arg.value for arg in node.args if arg.name == "grads"), None)
        _given(m, f, node.at, _APPLIED, value, given)


def _given(m: Machine, f: Frame, at: int, api: str, value: Value | None, node: ir.Node | None) -> None:
    if value is None or type(node) is not ir.Name or f.fn is None:
        return
    bindings = [
        part
        for part in f.fn.parts
        if type(part) is ir.Assign and any(name.id == node.id for name in bound_names(part.targets))
    ]
    found = _more(m, f, bindings[0], value) if len(bindings) == 1 else ""
    if found:
        fitting.report(m, f, at, api, "trees", f"the parameters and {found}", value)


def _more(m: Machine, f: Frame, binding: ir.Assign, value: Value) -> str:
    """What a variable holds besides gradients, or in their place, or ""."""
    call, target = binding.value, binding.targets[0]
    kind, has_aux = _derivative(m, f, call.func) if type(call) is ir.Call else ("", False)
    valued = kind == _VALUED
    if kind not in _DERIVED:
        return ""
    if type(target) is ir.Name:
        pair = (
            "the pair of value and gradients" if valued else "the pair of gradients and what goes with them"
        )
        return pair if (valued or has_aux) and _is_pair(value) else ""
    if not valued or type(target) is not ir.Tuple or type(target.elts[0]) is not ir.Name:
        return ""
    if has_aux:
        return "the pair of the value and what goes with it" if _is_pair(value) else ""
    return "the value, without the gradients" if type(value) is Arr and value.rank == 0 else ""


def _is_pair(value: Value) -> bool:
    return type(value) is Tup and value.cls is None and len(value.items) == 2


def _derivative(m: Machine, f: Frame, func: ir.Node) -> tuple[str, bool]:
    """What sort of derivative of a library is called, and whether it gives something besides; "" if that is none."""
    if type(func) is ir.Call:
        given = {arg.name: arg.value for arg in func.args}
        wrap, aux = m.transforms.wraps.get(paths.dotted(m, f, func.func)), given.get("has_aux")
        return "" if wrap is None else wrap.result, type(aux) is ir.Const and aux.value is True
    made = scopes.lookup(f, func.id) if type(func) is ir.Name else None
    if type(made) is not Xform:
        return "", False
    told = made.options.get("has_aux")
    return made.spec.result, type(told) is Py and told.const is True
