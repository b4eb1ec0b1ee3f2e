"""The new version of what a loop carries is thrown away, and the old one goes on (layer: ``link``, room ``domains``).

``logits, _ = decode(params, cache, token)`` in a function that returns ``(cache, token)``: each turn begins with the cache that
the first one had. What it does: reads what the function that is called returns, and whether the one around returns what that
was given. What it does not: speak of a part that does not come out of an argument of the function around.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import DroppedUpdate
from jitlint.infer.objects import unwrapped
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Class, ExtInst, Func, Inst, Tup
from jitlint.link.domains.misuse.helpers import inside
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_by, bound_names, by_parameter, last_name, path_text, same_text
from jitlint.link.tables.results import only_returned
from jitlint.link.values import paths
from jitlint.link.values.library_objects import COPIES
from jitlint.link.values.questions import derivatives
from jitlint.syntax import ir
from jitlint.syntax.children import below

_DEPTH: Final = 3
_ZEROS: Final = "zeros"
SCAN: Final = "jax.lax.scan"


def check(m: Machine, f: Frame, fn: FuncInfo, node: ir.Assign, call: ir.Call, gone: list[str]) -> None:
    """Record what one of the results of a call is the new version of, if nobody reads it and the old one is returned."""
    target, returned = node.targets[0], only_returned(fn.parts)
    if type(target) is not ir.Tuple or type(returned) not in (ir.Tuple, ir.Call):
        return
    for before in map(_old_of, gone):
        if _is_carried_on(fn, returned, before) or _is_handed_back(fn, returned, before):
            m.emit(f, DroppedUpdate, node.at, None, Confidence.LIKELY, kept=before)
            return
    func = called(m, f, call)
    for i, part in enumerate(target.elts):
        if type(part) is not ir.Name or part.id not in gone:
            continue
        if func is None:
            old = _optimiser_state(m, f, call) if i == len(target.elts) - 1 == 1 else None
        else:
            old = _renewed(m, f, func, call, i, len(target.elts))
        if (
            old is not None
            and _comes_in(fn, old)
            and any(same_text(old, one) for one in _put_together(returned))
        ):
            m.emit(f, DroppedUpdate, node.at, None, Confidence.LIKELY, kept=path_text(old))


def turned(m: Machine, f: Frame, library: Library) -> None:
    """Record that the body of a scan from zeros, or from its first element, only collects what is the next carry by its name:
    ``return total, new_total``."""
    body = library.args.get(0, "f")
    if type(body) is not Func or body.owner is not None or f.module.is_test:
        return
    init = derivatives.argument(m.texts.table(f).calls.get(library.at), 1, "init")
    carry, new = _collected(body.fn) if _is_a_beginning(init) else (None, "")
    if carry is not None:
        m.emit(
            inside(body), DroppedUpdate, carry.at, None, Confidence.LIKELY,
            where=(body.fn.module.name, body.fn.qualname), kept=path_text(carry), unread=new,
        )  # fmt: skip


def _collected(fn: FuncInfo) -> tuple[ir.Expr | None, str]:
    """The carry that a body hands on as it came, and the variable that it stacks instead, called the new version of it."""
    results = _elements(only_returned(fn.parts))
    if (
        len(results) != 2
        or not _comes_in(fn, results[0])
        or not fn.first
        or path_text(results[0]) != fn.first
    ):
        return None, ""
    stacked = [results[1]] if type(results[1]) is ir.Name else _elements(results[1])
    names = [
        part.id for part in stacked if type(part) is ir.Name and _old_of(part.id) == path_text(results[0])
    ]
    return (results[0], names[0]) if names else (None, "")


def _is_a_beginning(node: ir.Expr | None) -> bool:
    """Whether a value is one that a recurrence begins with: a number, zeros, the first element."""
    if type(node) is ir.Call:
        return last_name(node.func).startswith(_ZEROS)
    return type(node) is ir.Const or (type(node) is ir.Sub and type(node.index) is ir.Const)


def _is_handed_back(fn: FuncInfo, returned: ir.Expr | None, name: str) -> bool:
    """Whether a function returns an argument, beside others, as it came."""
    params = {param.name for param in fn.node.params}
    return name in params and any(_is_name(one, name) and _comes_in(fn, one) for one in _elements(returned))


def _old_of(name: str) -> str:
    """What the old version is called of what a variable is called the new version of, or ""."""
    word, _, rest = name.partition("_")
    return rest if word in NEW else ""


def _is_carried_on(fn: FuncInfo, returned: ir.Expr | None, name: str) -> bool:
    """Whether a function takes a variable out of what a loop carries, and hands it on in its old place as it was."""
    params = {param.name for param in fn.node.params}
    binds = [part for part in fn.parts if name and name in bound_by(part)]
    unpacked = binds[0] if len(binds) == 1 else None
    if (
        type(unpacked) is not ir.Assign
        or type(unpacked.value) is not ir.Name
        or unpacked.value.id not in params
    ):
        return False
    before = _elements(unpacked.targets[0])
    after = _elements(returned)
    return any(
        _is_name(one, name) and _is_name(other, name)
        for carry in (after, _elements(after[0] if after else None))
        if len(before) == len(carry)
        for one, other in zip(before, carry)
    )


def _elements(node: ir.Node | None) -> list[ir.Expr]:
    return node.elts if type(node) is ir.Tuple else []


def _is_name(node: ir.Node, name: str) -> bool:
    return type(node) is ir.Name and node.id == name


def _optimiser_state(m: Machine, f: Frame, call: ir.Call) -> ir.Expr | None:
    """The variable with the state that an optimiser is given, if one that remembers something updates here."""
    old = call.args[1].value if len(call.args) > 1 else None
    return old if type(old) is ir.Name and is_optimiser(m, f, call.func) else None


def is_optimiser(m: Machine, f: Frame, func: ir.Expr) -> bool:
    """Whether a method is the ``update`` of an optimiser that remembers something, or of one that a function makes."""
    if type(func) is not ir.Attr or func.name != "update":
        return False
    if type(func.obj) is ir.Call:
        maker = paths.peek(m, f, func.obj.func)
        made = only_returned(maker.fn.parts) if type(maker) is Func else None
        dotted = (
            paths.dotted(m, inside(maker), made.func) if type(maker) is Func and type(made) is ir.Call else ""
        )
        return dotted in lexicon().compilation.of_closures
    value = paths.peek(m, f, func.obj)
    return type(value) is ExtInst and COPIES in value.attrs


NEW: Final = ("new", "next", "updated")
"""What the new version of something is called, before its name."""


def called(m: Machine, f: Frame, call: ir.Call) -> Func | None:
    """The function of the project that a call runs, compiled or not, or the method of an object."""
    value = unwrapped(paths.peek(m, f, call.func))
    method, owner = paths.method(m, f, call.func) if value is None else (None, None)
    if owner is not None:
        value = unwrapped(method)
        plain = type(value) is Func and not value.fn.node.decorators
    else:
        plain = type(value) is Func and value.owner is None
    return value if plain and type(value) is Func and all(not arg.star for arg in call.args) else None


def renewed_name(callee: FuncInfo, result: ir.Expr | None) -> str:
    """The parameter that a function returns, computed anew by a call from what it was; "" if that is none."""
    name = result.id if type(result) is ir.Name else ""
    params = {param.name for param in callee.node.params}
    if name in params:
        return name if any(_updates(part, name) for part in callee.parts) else ""
    return _successor(callee, name, params) if name else ""


def _successor(callee: FuncInfo, name: str, params: set[str]) -> str:
    """The parameter of which a variable has the next version, by its name or as an optimiser gives it."""
    made = [part for part in callee.parts if type(part) is ir.Assign and name in bound_by(part)]
    if len(made) != 1 or type(made[0].value) is not ir.Call:
        return ""
    called_for = [param for param in params if name in {f"{word}_{param}" for word in NEW}]
    return called_for[0] if called_for else _optimised(made[0], made[0].value, name, params)


def _optimised(node: ir.Assign, call: ir.Call, name: str, params: set[str]) -> str:
    """The parameter that an optimiser is given as its state, if this is the state that it gives back."""
    target = node.targets[0]
    second = target.elts[1] if type(target) is ir.Tuple and len(target.elts) == 2 else None
    updates = type(call.func) is ir.Attr and call.func.name == "update" and len(call.args) > 1
    state = call.args[1].value if updates else None
    is_pair = type(second) is ir.Name and second.id == name
    return state.id if is_pair and type(state) is ir.Name and state.id in params else ""


def result_at(callee: FuncInfo, place: int, results: int) -> ir.Expr | None:
    """What a function that gives so many results gives at a place."""
    value = only_returned(callee.parts)
    return value.elts[place] if type(value) is ir.Tuple and len(value.elts) == results else None


def _updates(node: ir.Node, name: str) -> bool:
    """Whether a statement computes a variable, by a call, from what it was."""
    call = node.value if type(node) is ir.Assign and name in bound_by(node) else None
    return type(call) is ir.Call and any(type(p) is ir.Name and p.id == name for p in below(call))


def _renewed(m: Machine, f: Frame, func: Func, call: ir.Call, place: int, results: int) -> ir.Expr | None:
    """The argument of which the result at a place is the new version: by its name, or as the only other object of its class."""
    result = result_at(func.fn, place, results)
    given = dict(by_parameter(call, func.fn.node.params[0 if func.owner is None else 1 :]))
    name = renewed_name(func.fn, result)
    if name:
        return given.get(name)
    made = paths.peek(m, inside(func), result.func) if type(result) is ir.Call else None
    if type(made) is not Class:
        return None
    alike = []
    for value in given.values():
        held = paths.peek(m, f, value)
        if isinstance(held, (Inst, Tup)) and held.cls is made.info:
            alike.append(value)
    return alike[0] if len(alike) == 1 else None


def _comes_in(fn: FuncInfo, node: ir.Expr) -> bool:
    """Whether an expression is a part of what a function is given, which it gives no other value."""
    params = {param.name for param in fn.node.params}
    unpacked = {
        name.id
        for part in fn.parts
        if type(part) is ir.Assign and type(part.value) is ir.Name and part.value.id in params
        for name in bound_names(part.targets)
    }
    root = node
    while type(root) is ir.Attr:
        root = root.obj
    if type(root) is not ir.Name or root.id not in params | unpacked:
        return False
    bindings = [part for part in fn.parts if root.id in bound_by(part)]
    return len(bindings) == (0 if root.id in params else 1)


def _put_together(node: ir.Expr | None, depth: int = _DEPTH) -> Iterator[ir.Expr]:
    """What a result is put together from: elements of tuples, arguments of what makes an object."""
    parts = node.elts if type(node) is ir.Tuple else []
    if type(node) is ir.Call:
        parts = [arg.value for arg in node.args]
    for part in parts if depth else ():
        yield part
        yield from _put_together(part, depth - 1)
