"""Fields of a class whose default is a PRNG key: one key for all objects that are made without their own (layer: ``link``, room ``domains``).

What it does: finds such fields, the places where an object is made that leaves them out, and the places where what they
hold is consumed. What it does not: speak where the program puts a key into the field later, where every object gets its
own, or where nobody is seen to consume it. Nothing is looked at in a program without such a field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import KeyReuse
from jitlint.infer.places import Step
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import UNKNOWN, Arr, Class, Ext
from jitlint.link.domains.keys import parameters as key_parameters
from jitlint.link.domains.keys.ledger import RANDOM
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import written_at
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import children, ir


@dataclass(slots=True)
class _Default:
    """A field of a class whose default is a key. at: where the default is written. exact: whether what uses the key has
    the very name of the class."""

    info: ClassInfo
    name: str
    at: int
    place: int
    made: Step | None = None
    used: Step | None = None
    replaced: bool = False
    exact: bool = False


def check(m: Machine) -> None:
    """Record the keys that are shared because a class has one for everybody."""
    found = [default for info in m.classes for default in _defaults(info)]
    if not found:
        return
    for fn in m.functions:
        if not fn.module.is_test:
            _look(m, fn, found)
    for default in found:
        if default.replaced or default.made is None or default.used is None:
            continue
        info = default.info.module
        frame = Frame(info, info.scope, HOST, ground="jit")
        also = (default.made, default.used)
        m.emit(
            frame, KeyReuse, default.at, None, Confidence.LIKELY, (info.name, default.info.qualname),
            api="", how="default", also=also,
        )  # fmt: skip


def _defaults(info: ClassInfo) -> list[_Default]:
    if info.module.is_test or not (info.shape or info.pytree or info.role):
        return []
    out = []
    for place, (name, (_, value)) in enumerate(info.fields.items()):
        if type(value) is Arr and value.dtype == "key":
            at = written_at(info.module.tree.body, info.qualname, name)
            if at:
                out.append(_Default(info, name, at, place))
    return out


def _look(m: Machine, fn: FuncInfo, found: list[_Default]) -> None:
    for node in children.below(fn.body):
        if type(node) is ir.Call:
            for default in found:
                _call(m, fn, node, default)
        elif isinstance(node, (ir.Assign, ir.AugAssign, ir.AnnAssign)):
            for target in node.targets if isinstance(node, ir.Assign) else [node.target]:
                for default in found:
                    default.replaced |= _stores(fn, target, default)


def _call(m: Machine, fn: FuncInfo, node: ir.Call, default: _Default) -> None:
    name = node.func.name if type(node.func) is ir.Attr else getattr(node.func, "id", "")
    if name in lexicon().keys.replacing:
        _note_change(m, fn, node, default)
        return
    if name == default.info.name and default.made is None:
        _note_making(m, fn, node, default)
    if not default.exact and node.args and _holds(m, fn, node.args[0].value, default):
        _note_use(m, fn, node, default)


def _note_change(m: Machine, fn: FuncInfo, node: ir.Call, default: _Default) -> None:
    """A changed copy of an object gets another key."""
    changes = any(a.name == default.name or a.star == 2 or _names(fn, a.value, default) for a in node.args)
    changed = node.func.obj if type(node.func) is ir.Attr else None
    if changed is None or type(key_parameters.resolve(m, fn, changed)) is Ext:
        changed = node.args[0].value if node.args else None  # `dataclasses.replace(state, key=key)`
    default.replaced |= changes and _may_be(_class_of(m, fn, changed), default.info)


def _note_making(m: Machine, fn: FuncInfo, node: ir.Call, default: _Default) -> None:
    """An object is made, perhaps with the key that is the default."""
    callee = key_parameters.resolve(m, fn, node.func)
    positional = sum(a.name is None for a in node.args)
    left_out = positional <= default.place and not any(a.star or a.name == default.name for a in node.args)
    if type(callee) is Class and callee.info is default.info and left_out:
        text = f"`{default.info.name}` is made without a `{default.name}` here"
        default.made = Step(fn.module.name, node.at, text)


def _note_use(m: Machine, fn: FuncInfo, node: ir.Call, default: _Default) -> None:
    """A function is given the field; what draws from it counts."""
    callee = key_parameters.resolve(m, fn, node.func)
    owner: Any = node.args[0].value
    exact = owner.obj.id.lower() in (default.info.name.lower(), "self")
    if type(callee) is Ext and callee.dotted.startswith(RANDOM) and (exact or default.used is None):
        default.exact = exact
        default.used = Step(fn.module.name, node.at, f"its `{default.name}` is used here")


def _names(fn: FuncInfo, node: ir.Node | None, default: _Default) -> bool:
    """Whether a function written on the spot reads the field: ``tree_at(lambda s: s.key, state, key)``."""
    if type(node) is not ir.Lambda:
        return False
    body = fn.module.functions[node.function].body
    return any(type(part) is ir.Attr and part.name == default.name for part in children.below(body))


def _class_of(m: Machine, fn: FuncInfo, node: ir.Node | None) -> ClassInfo | None:
    """The class of an object that is made on the spot, or of a parameter that declares it; None when it is not known."""
    if type(node) is ir.Call:
        made = key_parameters.resolve(m, fn, node.func)
    elif type(node) is ir.Name:
        declared = next((p.annotation for p in fn.node.params if p.name == node.id), None)
        around = fn.module.scope.vars.get(fn.qualname.partition(".")[0], UNKNOWN)
        made = around if node.id == "self" else key_parameters.resolve(m, fn, declared)
    else:
        return None
    return made.info if type(made) is Class else None


def _may_be(known: ClassInfo | None, info: ClassInfo) -> bool:
    return known is None or info in mro(known) or known in mro(info)


def _stores(fn: FuncInfo, target: ir.Node | None, default: _Default) -> bool:
    """Whether an assignment may give an object of the class another key."""
    if type(target) is not ir.Attr or target.name != default.name:
        return False
    owner = target.obj
    return not (type(owner) is ir.Name and owner.id == "self") or _inside(fn, default)


def _inside(fn: FuncInfo, default: _Default) -> bool:
    return fn.module is default.info.module and fn.qualname.startswith(f"{default.info.qualname}.")


def _holds(m: Machine, fn: FuncInfo, node: ir.Node | None, default: _Default) -> bool:
    """Whether an expression reads the field of what is, by its name, an object of that class."""
    if type(node) is not ir.Attr or node.name != default.name or type(node.obj) is not ir.Name:
        return False
    owner, cls = node.obj.id.lower(), default.info.name.lower()
    if owner == "self":
        return _inside(fn, default)
    known = _class_of(m, fn, node.obj)
    if known is not None:
        return default.info in mro(known)
    return owner in cls or cls in owner
