"""Collections that a differentiated function hands out beside its value, and nobody takes (layer: ``link``, room ``domains``).

``(loss, _), grads = value_and_grad(loss_fn, has_aux=True)(state.params, state.stats, x)``, where the loss gives what the model has
made of its statistics: ``state`` goes on with the old ones. What it does: reads the loss, and finds which argument is the old
version. What it does not: say whether the state keeps that; it answers which part to ask for.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Func
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import bound_by, by_parameter, last_name
from jitlint.link.tables.results import only_returned
from jitlint.link.values import paths
from jitlint.syntax import ir
from jitlint.syntax.children import below

_MUTABLE: Final = "mutable"
_VALUED: Final = "value_and_grad"
_APPLY: Final = "apply_fn"
_AUX: Final = "has_aux"


def old_part(m: Machine, f: Frame, node: ir.Assign, call: ir.Call, gone: list[str]) -> ir.Attr | None:
    """The attribute that has the old version of what an assignment throws away, if it is given to the call."""
    loss = _differentiated(m, f, call.func) if _throws_away(node, gone) else None
    if loss is None:
        return None
    given = _given(call, loss)
    for name in _changed(loss):
        part = given.get(name)
        if type(part) is ir.Attr and type(part.obj) is ir.Name:
            return part
    return _of_state(loss, given)


def old_variable(m: Machine, f: Frame, node: ir.Assign, call: ir.Call, gone: list[str]) -> str:
    """The same of a parameter that the function gives back as it was, or ""."""
    loss = _differentiated(m, f, call.func) if _throws_away(node, gone) else None
    result = only_returned(f.fn.parts) if f.fn is not None and loss is not None else None
    if f.fn is None or loss is None or type(result) is not ir.Tuple:
        return ""
    kept = {part.id for part in result.elts if type(part) is ir.Name}
    kept &= {param.name for param in f.fn.node.params}.difference(*map(bound_by, f.fn.parts))
    given = _given(call, loss)
    old = (given.get(name) for name in _changed(loss))
    return next((part.id for part in old if type(part) is ir.Name and part.id in kept), "")


def _throws_away(node: ir.Assign, gone: list[str]) -> bool:
    """Whether nobody reads what comes beside the value: ``(loss, _), grads = ...``."""
    target = node.targets[0]
    pair = target.elts[0] if type(target) is ir.Tuple and target.elts else None
    second = pair.elts[1] if type(pair) is ir.Tuple and len(pair.elts) == 2 else None
    return type(second) is ir.Name and second.id in gone


def _given(call: ir.Call, loss: FuncInfo) -> dict[str, ir.Expr]:
    """What a call gives to the parameters of a function, or of a method of the object that it is asked of."""
    is_method = bool(loss.values) and loss.values[0].owner is not None
    return dict(by_parameter(call, loss.node.params[1 if is_method else 0 :]))


def _of_state(loss: FuncInfo, given: dict[str, ir.Expr]) -> ir.Attr | None:
    """The old version in a state that the function gets as a whole, and whose model it applies."""
    for made in _made(loss):
        func = made.func
        owner = func.obj if type(func) is ir.Attr and func.name == _APPLY else None
        state = given.get(owner.id) if type(owner) is ir.Name else None
        changed = changed_by(made)
        if type(state) is ir.Name and len(changed) == 1:
            return ir.Attr(state.at, state, changed.pop())
    return None


def _differentiated(m: Machine, f: Frame, func: ir.Expr) -> FuncInfo | None:
    """The function of which ``value_and_grad(loss, has_aux=True)`` takes the gradient, written there or bound before."""
    made = bound_once.written(f.fn, func)
    if type(made) is not ir.Call or last_name(made.func) != _VALUED or not made.args:
        return None
    value = made.args[0].value
    loss = paths.method(m, f, value)[0] or paths.peek(m, f, value)
    return loss.fn if type(loss) is Func and any(arg.name == _AUX for arg in made.args) else None


def _changed(loss: FuncInfo) -> list[str]:
    """The parameters that hold collections which a model changes, where the function gives the new ones as its second result."""
    params = {param.name for param in loss.node.params}
    return [name for call in _made(loss) for name in _mutable(loss, call) if name in params]


def _made(loss: FuncInfo) -> list[ir.Call]:
    """The calls of which a function gives a result as the second of its own."""
    result = only_returned(loss.parts)
    aux = result.elts[1] if type(result) is ir.Tuple and len(result.elts) == 2 else None
    names = {part.id for part in below(aux) if type(part) is ir.Name}
    bound = [part for part in loss.parts if type(part) is ir.Assign and not names.isdisjoint(bound_by(part))]
    return [part.value for part in bound if type(part.value) is ir.Call]


def changed_by(call: ir.Call) -> set[str]:
    """The collections that a call lets a model change, where they are written out."""
    given = [arg.value for arg in call.args if arg.name == _MUTABLE]
    parts = [part for node in given for part in below(node)]
    return {part.value for part in parts if type(part) is ir.Const and isinstance(part.value, str)}


def changed_through(m: Machine, f: Frame, call: ir.Call) -> set[str]:
    """The same of a call of the project's, which gives what such a call gives."""
    func = paths.peek(m, f, call.func)
    result = only_returned(func.fn.parts) if type(func) is Func else None
    return changed_by(call) or (changed_by(result) if type(result) is ir.Call else set())


def _mutable(loss: FuncInfo, call: ir.Call) -> list[str]:
    """The variables with collections that a call lets a model change."""
    changed = changed_by(call)
    return [name for key, name in _collections(loss, call) if key in changed]


def _collections(loss: FuncInfo, call: ir.Call) -> list[tuple[object, str]]:
    """The variables in a dict that comes first, by their keys; it may have a name."""
    first = bound_once.written(loss, call.args[0].value) if call.args else None
    if type(first) is not ir.Dict:
        return []
    pairs = zip(first.keys, first.values)
    return [(key.value, value.id) for key, value in pairs if type(key) is ir.Const and type(value) is ir.Name]
