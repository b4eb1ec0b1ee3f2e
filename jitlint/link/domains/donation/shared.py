"""Objects that hold one array at two places, which cannot be given away as a whole (layer: ``link``, room ``domains``).

``AdamState(count, zeros, zeros)``, ``[layer] * n`` and ``state.replace(ema=state.params)`` hold each buffer of ``zeros``, ``layer``
and ``state.params`` more than once: JAX refuses to donate it twice. What it does: reads how the object is written, in the functions
that return it as well. What it does not: follow what is done to it in between; a compiled function gives buffers of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from jitlint.infer.program import ClassInfo, FuncInfo, ModuleInfo
from jitlint.infer.values import Class, Ext, Func
from jitlint.link.domains.donation.walker import Known, Walker
from jitlint.link.engine.machine import Machine
from jitlint.link.models.frameworks.train_states import STATE, is_state
from jitlint.link.tables.ir_walk import bound_by, by_parameter, code_of, path_text
from jitlint.syntax import ir
from jitlint.syntax.children import below

_DEPTH: Final = 6
_CLS: Final = "cls"


class _Code(NamedTuple):
    """Code in which an expression stands: a function's, a method's of ``cls``, or a module's. given: what a call gives to the
    parameters of the function, and where that stands."""

    m: Machine
    known: Known
    module: ModuleInfo
    parts: Sequence[ir.Node]
    cls: ClassInfo | None = None
    given: Mapping[str, tuple[_Code, ir.Node]] = MappingProxyType({})

    def last_value(self, name: str, before: int) -> ir.Node | None:
        """What a variable was set to last, above a place; None if that is not written as one expression."""
        found = [
            (node.at, node.value if type(node) is ir.Assign and _is_plain(node) else None)
            for node in self.parts
            if name in bound_by(node) and node.at < before and not _contains(node, before)
        ]
        return max(found, key=lambda one: one[0])[1] if found else None

    def last_attribute(self, path: str, before: int) -> ir.Node | None:
        """What an attribute was set to last, above a place, with no call on the way that may set it, too."""
        set_before = [
            node
            for node in self.parts
            if type(node) is ir.Assign
            and node.at < before
            and [path_text(target) for target in node.targets] == [path]
            and not _contains(node, before)
        ]
        value = set_before[-1].value if set_before else None
        return None if value is None or _calls_between(self.parts, value, before) else value


def _calls_between(parts: Sequence[ir.Node], value: ir.Node, before: int) -> bool:
    """Whether something is called after a value was computed, and before a place."""
    own = {id(part) for part in below(value)}
    calls = (node.at for node in parts if type(node) is ir.Call and id(node) not in own)
    return any(value.at < at < before for at in calls)


def name_of(w: Walker, node: ir.Node, before: int) -> str:
    """The variable whose arrays an object holds twice, "" if that is not certain. before: where the object is given away."""
    method = w.fn.values[0] if w.fn is not None and w.fn.values else None
    owner = method.owner if method is not None else None
    return _shared(_Code(w.m, w.known, w.module, code_of(w.module, w.fn), owner), node, before, _DEPTH)


def _shared(code: _Code, node: ir.Node | None, before: int, depth: int) -> str:
    if not depth or node is None:
        return ""
    if type(node) is ir.Name:
        return _shared(code, code.last_value(node.id, before), before, depth - 1)
    if type(node) is ir.Attr:
        value = code.last_attribute(path_text(node), before)
        return _begun(code, node, depth) if value is None else _shared(code, value, value.at, depth - 1)
    if type(node) is ir.BinOp and node.op == "*" and type(node.left) is ir.List and len(node.left.elts) == 1:
        once = type(node.right) is ir.Const and node.right.value == 1
        return "" if once else next(_arrays(code, node.left.elts, before), "")
    state = _of_state(code, node) or _replaced(code, node)
    return state or _twice(code, node, before) or _returned(code, node, depth)


def _twice(code: _Code, node: ir.Node, before: int) -> str:
    """The variable that a container, or an object that is made of its arguments, holds more than once."""
    names = list(_arrays(code, _held(code, node), before))
    return next((name for name in names if names.count(name) > 1), "")


def _begun(code: _Code, node: ir.Attr, depth: int) -> str:
    """What an attribute of ``self`` holds twice from the beginning, as the constructor writes it."""
    info = code.cls
    init = info.namespace.get("__init__") if info is not None else None
    if type(init) is not Func or type(node.obj) is not ir.Name or node.obj.id != "self":
        return ""
    values = [
        part.value
        for part in init.fn.parts
        if type(part) is ir.Assign
        and any(path_text(target) == f"self.{node.name}" for target in part.targets)
    ]
    inner = _Code(code.m, code.known, init.fn.module, init.fn.parts, info)
    return _shared(inner, values[0], values[0].at, depth - 1) if len(values) == 1 else ""


def _of_state(code: _Code, node: ir.Node) -> str:
    """The parameters of a training state, as a variable, that something else in it is too: ``create(params=p, ema=p)``."""
    if type(node) is not ir.Call or type(node.func) is not ir.Attr or node.func.name != "create":
        return ""
    made = code.module.scope.vars.get(path_text(node.func.obj))
    known = (type(made) is Ext and made.dotted == STATE) or (type(made) is Class and is_state(made.info))
    if not known:
        return ""
    given = {arg.name: arg.value.id for arg in node.args if type(arg.value) is ir.Name}
    params = given.pop("params", "")
    return params if params in given.values() else ""


def _replaced(code: _Code, node: ir.Node) -> str:
    """The field of an object that its successor has as another one, too: ``state.replace(ema=state.params)``."""
    if type(node) is not ir.Call or (code.module.name, node.at) not in code.known.repeating:
        return ""
    if type(node.func) is not ir.Attr or node.func.name != "replace":
        return ""
    owner, given = path_text(node.func.obj), {arg.name: arg.value for arg in node.args}
    fields = [value for value in given.values() if type(value) is ir.Attr and path_text(value.obj) == owner]
    return next((path_text(value) for value in fields if value.name not in given), "")


def _held(code: _Code, node: ir.Node) -> Sequence[ir.Node]:
    """What a container, or an object that is made of its arguments, holds."""
    if isinstance(node, (ir.Tuple, ir.List)):
        return node.elts
    if type(node) is ir.Dict:
        return node.values
    if type(node) is not ir.Call or type(node.func) is not ir.Name or any(a.star for a in node.args):
        return ()
    made = code.module.scope.vars.get(node.func.id)
    info = made.info if type(made) is Class else code.cls if node.func.id == _CLS else None
    plain = info is not None and info.shape and "__init__" not in info.namespace
    return [arg.value for arg in node.args] if plain else ()


def _arrays(code: _Code, held: Sequence[ir.Node], before: int) -> Iterator[str]:
    """The variables among some expressions that certainly hold arrays which JAX has made."""
    for node in held:
        if type(node) is ir.Name and (
            _is_of_arrays(code, node, before, _DEPTH) or _is_optimised(code, node.id)
        ):
            yield node.id


def _is_optimised(code: _Code, name: str) -> bool:
    """Whether an optimiser makes its state for a variable: ``optim.init(params)``."""
    return any(
        type(node) is ir.Call
        and (code.module.name, node.at) in code.known.optimising
        and any(path_text(arg.value) == name for arg in node.args[:1])
        for node in code.parts
    )


def _is_of_arrays(code: _Code, node: ir.Node | None, before: int, depth: int) -> bool:
    if not depth:
        return False
    if type(node) is ir.Name:
        return _holds_arrays(code, node.id, before, depth)
    if type(node) is ir.Dict:
        return any(_is_of_arrays(code, value, before, depth) for value in node.values)
    if isinstance(node, (ir.Tuple, ir.List)):
        return any(_is_of_arrays(code, value, before, depth) for value in node.elts)
    if type(node) is ir.BinOp:
        return any(_is_of_arrays(code, side, before, depth - 1) for side in (node.left, node.right))
    if type(node) is ir.Sub:
        return _is_made(code, node.obj, before)
    if type(node) is not ir.Call:
        return False
    if _is_made(code, node, before):
        return True
    fn, returned = _only_return(code, node)
    if fn is not None and returned is not None:
        inner = _Code(code.m, code.known, fn.module, fn.parts)
        return _is_of_arrays(inner, returned.value, returned.at, depth - 1)
    return _dotted(code, node.func).startswith(("jax.numpy.", "jax.random.", "jax.tree."))


def _is_made(code: _Code, node: ir.Node | None, before: int) -> bool:
    """Whether an expression is what a layer makes as its parameters."""
    if type(node) is ir.Name:
        node = code.last_value(node.id, before)
    return type(node) is ir.Call and (code.module.name, node.at) in code.known.making


def _holds_arrays(code: _Code, name: str, before: int, depth: int) -> bool:
    """Whether a variable does, or what a call gives for the parameter."""
    value = code.last_value(name, before)
    if value is None and name in code.given:
        outer, value = code.given[name]
        return _is_of_arrays(outer, value, value.at, depth - 1)
    found = _is_of_arrays(code, value, before, depth - 1)
    return found or (type(value) is ir.List and _is_filled(code, name, before, depth))


def _is_filled(code: _Code, name: str, before: int, depth: int) -> bool:
    """Whether arrays are put into a list that is empty at first."""
    return any(
        type(node) is ir.Call
        and type(node.func) is ir.Attr
        and node.func.name == "append"
        and path_text(node.func.obj) == name
        and node.at < before
        and any(_is_of_arrays(code, arg.value, node.at, depth - 1) for arg in node.args)
        for node in code.parts
    )


def _dotted(code: _Code, node: ir.Node) -> str:
    if type(node) is ir.Attr:
        owner = _dotted(code, node.obj)
        return code.m.catalogue.canonical(f"{owner}.{node.name}") if owner else ""
    value = code.module.scope.vars.get(node.id) if type(node) is ir.Name else None
    return value.dotted if type(value) is Ext else ""


def _returned(code: _Code, node: ir.Node, depth: int) -> str:
    """What the result of a call holds twice, as the function writes it."""
    fn, returned = _only_return(code, node)
    if fn is None or returned is None:
        return ""
    method = fn.values[0] if fn.values else None
    owner = method.owner if method is not None else None
    params = fn.node.params[1:] if owner is not None else fn.node.params
    pairs = by_parameter(node, params) if type(node) is ir.Call else ()
    given = {name: (code, value) for name, value in pairs if name}
    inner = _Code(code.m, code.known, fn.module, fn.parts, owner, given)
    return _shared(inner, returned.value, returned.at, depth - 1)


def _only_return(code: _Code, node: ir.Node) -> tuple[FuncInfo | None, ir.Return | None]:
    """The only function that a call reaches, and what it returns, if that is written at one place."""
    noted = code.m.host_calls.calls.get((code.module.name, node.at)) if type(node) is ir.Call else None
    if noted is None or noted.jitted or noted.others or len(noted.functions) != 1:
        return None, None
    fn = next(iter(noted.functions))
    returns = [part for part in fn.parts if type(part) is ir.Return]
    return (fn, returns[0]) if len(returns) == 1 and not fn.node.is_generator else (None, None)


def _contains(node: ir.Node, at: int) -> bool:
    """Whether a call stands in an assignment, which comes after it."""
    return type(node) is ir.Assign and any(
        type(part) is ir.Call and part.at == at for part in below(node.value)
    )


def _is_plain(node: ir.Assign) -> bool:
    return len(node.targets) == 1 and type(node.targets[0]) is ir.Name
