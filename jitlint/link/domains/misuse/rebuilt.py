"""States that are made again of nothing but their own parts (layer: ``link``, room ``domains``).

``return updates, ScheduleState(state.count)`` gives the state that came in: the count that somebody meant to raise stands still.
What it does: compares the parts with the fields of the class, in what a function gives beside something else. What it does not: speak
of a class that has another origin than the parts.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import DroppedUpdate
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import UNKNOWN, Tree, Tup, Value
from jitlint.link.engine import surroundings
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import fields
from jitlint.syntax import ir


def made(m: Machine, f: Frame, at: int, value: Value) -> None:
    """A tuple with names is made."""
    if type(value) is not Tup or value.cls is None or f.fn is None or f.module.is_test:
        return
    call = m.texts.table(f).calls.get(at)
    owner = _source(call, list(fields.ordered_fields(value.cls))) if call is not None else ""
    given = any(param.name == owner for param in f.fn.node.params)
    if given and _is_beside(f, call) and _may_be(f.scope.vars.get(owner, UNKNOWN), value.cls):
        m.emit(f, DroppedUpdate, at, None, Confidence.LIKELY, rebuilt=value.cls.name, kept=owner)


def _is_beside(f: Frame, call: ir.Call | None) -> bool:
    """Whether a function gives what a call makes beside something else."""
    statement = surroundings.statement(f)
    given = statement.value if type(statement) is ir.Return else None
    return type(given) is ir.Tuple and len(given.elts) > 1 and any(part is call for part in given.elts)


def _may_be(value: Value, cls: ClassInfo) -> bool:
    return type(value) is Tree or value is UNKNOWN or (type(value) is Tup and value.cls is cls)


def _source(call: ir.Call, names: list[str]) -> str:
    """The variable of which all arguments of a call are the attributes of these names, in this order, or ""."""
    owners = set()
    for place, arg in enumerate(call.args):
        part = arg.value
        wanted = names[place] if not arg.star and arg.name is None and place < len(names) else arg.name
        if type(part) is not ir.Attr or type(part.obj) is not ir.Name or part.name != wanted:
            return ""
        owners.add(part.obj.id)
    return owners.pop() if len(owners) == 1 and len(call.args) == len(names) else ""
