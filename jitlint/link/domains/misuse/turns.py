"""The new version of what the next turn of a loop is given as it was (layer: ``link``, room ``domains``).

``params, _ = step(params, opt_state)`` in a loop: the state of the optimiser never moves on. What it does: reads what the
function returns that is called, or what that calls for it, and which variables and attributes it is given. What it does not: speak
of an attribute that other code of the module may set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import DroppedUpdate
from jitlint.infer.objects import unwrapped
from jitlint.infer.values import Bound, Func
from jitlint.link.domains.misuse import carried
from jitlint.link.domains.misuse.helpers import inside
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import by_parameter, changed_in, last_name, path_text
from jitlint.link.tables.results import only_returned
from jitlint.link.tables.storing import stored
from jitlint.link.values import paths
from jitlint.syntax import ir

_CONSTRUCTOR: Final = "__init__"
_UNBOUND: Final = frozenset({"classmethod", "staticmethod"})
_DEPTH: Final = 2


def check(m: Machine, f: Frame, node: ir.Assign, call: ir.Call, gone: Sequence[str]) -> None:
    """A turn throws away the new version of what the next turn is given as it was; so does a method that is called turn by turn,
    and stores another result in its object."""
    target, loop = node.targets[0], f.loops[-1] if f.loops else None
    if not gone or type(target) is not ir.Tuple or (f.fn is None and loop is None):
        return
    callee = _called(m, f, call)
    given = _given(callee, call) if callee is not None else {}
    bound = {path_text(one) for one in target.elts if _is_place(one)}
    if callee is None or bound.isdisjoint(map(path_text, given.values())):
        return
    for param in _thrown_away(m, callee, target, gone):
        if param in given and not _is_set(f, loop, target.elts, given[param]):
            m.emit(f, DroppedUpdate, node.at, None, Confidence.LIKELY, kept=path_text(given[param]))


_Callee = tuple[Func, list[ir.Param]]
"""A function of the project, and the parameters that a call fills."""


def _called(m: Machine, f: Frame, call: ir.Call) -> _Callee | None:
    value = paths.peek(m, f, call.func)
    if any(arg.star for arg in call.args):
        return None
    if value is None or type(value) is Bound:
        method = unwrapped(paths.method(m, f, call.func)[0] if value is None else value.func)
        takes_self = type(method) is Func and all(
            last_name(d) not in _UNBOUND for d in method.fn.node.decorators
        )
        return (method, method.fn.node.params[1:]) if type(method) is Func and takes_self else None
    value = unwrapped(value)
    return (value, value.fn.node.params) if type(value) is Func and value.owner is None else None


def _thrown_away(m: Machine, callee: _Callee, target: ir.Tuple, gone: Sequence[str]) -> Iterator[str]:
    """The parameters, but keys, of which a function gives the new version to a variable that nobody reads."""
    for i, part in enumerate(target.elts):
        if type(part) is ir.Name and part.id in gone:
            param = _renewed(m, callee, i, len(target.elts), _DEPTH)
            if param not in (callee[0].fn.keys or ()):
                yield param


def _same_owner(one: ir.Expr, other: ir.Expr) -> bool:
    """Whether both are attributes of one variable."""
    owners = [node.obj if type(node) is ir.Attr else None for node in (one, other)]
    names = [owner.id if type(owner) is ir.Name else "" for owner in owners]
    return names[0] == names[1] != ""


def _is_place(node: ir.Node) -> bool:
    return type(node) is ir.Name or (type(node) is ir.Attr and type(node.obj) is ir.Name)


def _given(callee: _Callee, call: ir.Call) -> dict[str, ir.Expr]:
    """The variables and attributes that a call hands over, by the parameters that get them."""
    return {name: value for name, value in by_parameter(call, callee[1]) if name and _is_place(value)}


def _renewed(m: Machine, callee: _Callee, place: int, results: int, depth: int) -> str:
    """The parameter of which a function, or the one that it calls for its results, gives the new version at a place."""
    func, params = callee
    returned = only_returned(func.fn.parts)
    if type(returned) is not ir.Call or not depth:
        return carried.renewed_name(func.fn, carried.result_at(func.fn, place, results))
    inner = _called(m, inside(func), returned)
    if inner is None:
        return ""
    name = _renewed(m, inner, place, results, depth - 1)
    handed = (
        dict(by_parameter(returned, inner[1])).get(name) if name not in (inner[0].fn.keys or ()) else None
    )
    own = handed.id if type(handed) is ir.Name else ""
    return own if any(param.name == own for param in params) else ""


def _is_set(f: Frame, loop: ir.Node | None, stored_here: Sequence[ir.Expr], place: ir.Expr) -> bool:
    """Whether a loop gives a variable another value, or code of the module an attribute, but where an object is made. Without a
    loop it is an attribute of an object of which others are stored here."""
    if isinstance(loop, (ir.For, ir.While)):
        if type(place) is ir.Name:
            return place.id in changed_in(loop)
    elif not any(_same_owner(place, one) for one in stored_here):
        return True
    name = place.name if type(place) is ir.Attr else ""
    others = (fn for fn in f.module.functions if fn.name != _CONSTRUCTOR)
    return any(one.name == name for fn in others for node in fn.parts for one in stored(node))
