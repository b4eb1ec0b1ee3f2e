"""Weights of Equinox that two layers share as their module is made, and at no time after (layer: ``link``, room ``domains``).

``self.head = eqx.tree_at(lambda l: l.weight, head, self.embed.weight)``: arrays never change, so both fields hold the same one until the
first step of training, which gives each a new one of its own. What it does: reads constructors. What it does not: speak where nothing
trains, or where other code puts the weights together again.
Source: https://docs.kidger.site/equinox/api/nn/shared/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import SharedModule
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import Class
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import last_name, path_text
from jitlint.link.values import paths
from jitlint.syntax import ir

_ROLE: Final = "eqx"
_LAYERS: Final = "equinox.nn."
_REPLACES: Final = "equinox.tree_at"
_TRAINS: Final = "equinox.apply_updates"
_SHARED: Final = "Shared"
_WEIGHT: Final = ".weight"


def check(m: Machine) -> None:
    """Record the assignments that give a field the weights, or the layer, of another one."""
    found = [one for info in m.classes if info.role == _ROLE and not info.extern for one in _ties(m, info)]
    if found and _is_trained(m):
        for init, field, other, at in found:
            if not _is_tied_again(m, init, field):
                m.emit(
                    Frame(init.module, init.module.scope, HOST), SharedModule, at, None, Confidence.LIKELY,
                    (init.module.name, init.qualname), behind=field, other=other, by_value=True,
                )  # fmt: skip


def _ties(m: Machine, info: ClassInfo) -> Iterator[tuple[FuncInfo, str, str, int]]:
    """The constructor, the field, what it has in common with it, and the place."""
    for init in info.module.namesakes(f"{info.qualname}.__init__"):
        f = Frame(init.module, init.module.scope, HOST)
        names = {last_name(part.func) for part in init.parts if type(part) is ir.Call}
        assigns = [part for part in init.parts if type(part) is ir.Assign and len(part.targets) == 1]
        for part in assigns if _SHARED not in names else ():
            field, other = path_text(part.targets[0]), _source(m, f, part.value)
            own = f"{init.first}."
            if not field.startswith(own) or not other.startswith(own) or other.startswith(f"{field}."):
                continue
            if other.endswith(_WEIGHT) or _is_layer(m, f, init, other):
                yield init, field, other, part.at


def _source(m: Machine, f: Frame, node: ir.Node | None) -> str:
    """What an expression takes over as it is."""
    if type(node) is ir.Call and len(node.args) == 3 and paths.dotted(m, f, node.func) == _REPLACES:
        place = path_text(node.args[2].value)
        return place if place.endswith(_WEIGHT) else ""
    return path_text(node) if type(node) is ir.Attr else ""


def _is_layer(m: Machine, f: Frame, init: FuncInfo, path: str) -> bool:
    """Whether a constructor makes a layer, or a module, for a field."""
    assigns = [part for part in init.parts if type(part) is ir.Assign]
    made = [part.value for part in assigns if [path_text(one) for one in part.targets] == [path]]
    call = bound_once.written(init, made[0]) if len(made) == 1 else None
    func = call.func if type(call) is ir.Call else None
    value = paths.peek(m, f, func) if func is not None else None
    if type(value) is Class:
        return value.info.role == _ROLE
    return func is not None and paths.dotted(m, f, func).startswith(_LAYERS)


def _is_trained(m: Machine) -> bool:
    """Whether the program gives modules new weights."""
    for fn in m.functions:
        f = Frame(fn.module, fn.module.scope, HOST)
        calls = (part.func for part in fn.parts if type(part) is ir.Call)
        if any(last_name(func) == "apply_updates" and paths.dotted(m, f, func) == _TRAINS for func in calls):
            return True
    return False


def _is_tied_again(m: Machine, init: FuncInfo, field: str) -> bool:
    """Whether other code replaces what a field holds."""
    name = field.rpartition(".")[2]
    calls = ((fn, part) for fn in m.functions if fn is not init for part in fn.parts if type(part) is ir.Call)
    return any(last_name(call.func) == "tree_at" and _names(fn, call, name) for fn, call in calls)


def _names(fn: FuncInfo, call: ir.Call, name: str) -> bool:
    """Whether a call is given a function that reads an attribute."""
    given = [arg.value for arg in call.args]
    parts = [fn.module.functions[one.function].parts for one in given if type(one) is ir.Lambda]
    return any(type(one) is ir.Attr and one.name == name for part in parts for one in part)
