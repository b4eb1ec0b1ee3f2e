"""Tests that come again in what is called: of variables that it closes over, of its receiver, of its arguments (layer: ``link``, room ``core``).

What it does: says which functions that a statement calls ask the same again, and hands them the sides that tests have taken. What it does
not: look at calls whose function is not known by a name or a path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.infer.program import FuncInfo
from jitlint.infer.values import FALSE, TRUE, Func, Scope, Value, Xform
from jitlint.link.core import flags
from jitlint.link.engine import scopes
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import ir_walk
from jitlint.link.values import paths
from jitlint.syntax import ir

DEPTH: Final = 3
"""Through so many functions a test is looked for."""

_INSIDE: Final = ".<locals>."
_TESTS: Final = (ir.If, ir.While, ir.IfExp, ir.Assert)

Side = tuple[str, Value]
"""Under what a test is remembered, and whether it held."""


def handed(m: Machine, f: Frame, at: int, func: Func) -> tuple[Side, ...]:
    """The sides that tests took of what a called function reads as well, under the names that this has there."""
    variables = f.scope.vars
    if "$paths" not in variables:
        return ()
    taken = [(k, side) for k, side in variables.items() if ".?" in k and (side is TRUE or side is FALSE)]
    if not taken:
        return ()
    captured = [(key, side) for key, side in taken if _closes_over(func, f.scope, flags.variable(key))]
    given = _given(m, f, m.texts.table(f).calls.get(at), func)
    told = [(renamed, side) for key, side in taken for renamed in _renamed(key, given)]
    if not captured and not told:
        return ()
    inner = _inside(m, f, func, given)
    return tuple([(key, side) for key, side in (*captured, *told) if _is_asked(m, inner, func.fn, key)])


def _is_asked(m: Machine, inner: Frame, fn: FuncInfo, key: str) -> bool:
    """Whether a function, or one that it calls, tests the same."""
    place = (fn.module.name, fn.node.at, frozenset((key,)), DEPTH)
    known = m.retests.get(place)
    if known is None:
        known = m.retests[place] = int(asks(m, inner, fn.parts, place[2]))
    return bool(known)


def asks(m: Machine, f: Frame, parts: Sequence[ir.Node], asked: frozenset[str], depth: int = DEPTH) -> bool:
    """Whether code tests the same, or runs a function that is written beside it and does, or calls one that does of what it is
    given."""
    if any(isinstance(part, _TESTS) and asked & flags.keys(m, part.test) for part in parts):
        return True
    if not depth:
        return False
    calls = [part for part in parts if type(part) is ir.Call]
    beside = _beside(f) if calls else {}
    run = {name for call in calls for name in _run_by(m, f, call)} if beside else set()
    if any(asks(m, f, beside[name].parts, asked, depth - 1) for name in run & beside.keys()):
        return True
    return any(_asks_of_arguments(m, f, call, asked, depth) for call in calls)


def _run_by(m: Machine, f: Frame, call: ir.Call) -> Iterator[str]:
    """The names of what a call runs at once: its function, that under a transform, those that a loop or a branch of a library gets."""
    func = call.func
    if type(func) is ir.Name:
        yield func.id
    runs = paths.dotted(m, f, func) in m.transforms.calls
    for arg in func.args if type(func) is ir.Call else call.args if runs else ():
        if type(arg.value) is ir.Name:
            yield arg.value.id


def as_statement(m: Machine, f: Frame, node: ir.Assign, rest: Sequence[ir.Node]) -> ir.Assign | ir.If:
    """``x = a if test else b`` as the ``if`` statement that it stands for, when the same is tested again."""
    value = node.value
    asked = frozenset(flags.keys(m, value.test)) if type(value) is ir.IfExp else frozenset[str]()
    if type(value) is not ir.IfExp or not asked or not last(m, f, node, asked, rest):
        return node
    if isinstance(value.test, (ir.Name, ir.Attr)) and not flags.is_open(paths.peek(m, f, value.test)):
        return node
    then, otherwise = (ir.Assign(node.at, node.targets, side) for side in (value.body, value.orelse))
    return ir.If(node.at, value.test, [then], [otherwise])


def last(
    m: Machine, f: Frame, node: ir.Node, asked: frozenset[str], rest: Sequence[ir.Node], depth: int = DEPTH
) -> int:
    """How many of the statements after an ``if`` it takes to come to the last one that tests the same again.

    depth: through so many functions.
    """
    place = (f.module.name, node.at, asked, depth)
    known = m.retests.get(place)
    if known is None:
        known = 0
        for i, statement in enumerate(rest, 1):
            if asks(m, f, list(ir_walk.nodes(statement)), asked, depth):
                known = i
        m.retests[place] = known
    return known


def _asks_of_arguments(m: Machine, f: Frame, call: ir.Call, asked: frozenset[str], depth: int) -> bool:
    func, _ = _called(m, f, call)
    if func is None:
        return False
    given = _given(m, f, call, func)
    again = frozenset([renamed for key in asked for renamed in _renamed(key, given)])
    if not again:
        return False
    return asks(m, _inside(m, f, func, given), func.fn.parts, again, depth - 1)


def _inside(m: Machine, f: Frame, func: Func, given: Sequence[tuple[ir.Expr, str]]) -> Frame:
    """A frame to look at the code of a function in, as far as what it is given is known."""
    known = {name: value for path, name in given if (value := paths.peek(m, f, path)) is not None}
    return Frame(func.fn.module, Scope(known, func.scope, func.fn, 0, 0, None), HOST, func.fn)


def _renamed(key: str, given: Sequence[tuple[ir.Expr, str]]) -> list[str]:
    """A test under the names that what it asks has in a called function."""
    paths_of = [(paths.path_key(value), name) for value, name in given]
    return [f"path:{name}{key.removeprefix(path)}" for path, name in paths_of if key.startswith(f"{path}.")]


def _called(m: Machine, f: Frame, call: ir.Call) -> tuple[Func | None, bool]:
    """The function of the program that a call certainly calls, perhaps through a transform that hands its arguments on; and
    whether it is a method of what stands before the dot."""
    callee = paths.peek(m, f, call.func)
    method = paths.method(m, f, call.func)[0] if callee is None else None
    callee = method if method is not None else callee
    callee = callee.target if type(callee) is Xform else callee
    return (callee if type(callee) is Func else None), method is not None


def _given(m: Machine, f: Frame, call: ir.Call | None, func: Func) -> list[tuple[ir.Expr, str]]:
    """The names and paths that a call hands over, its receiver among them, each with the parameter that gets it."""
    called, is_method = _called(m, f, call) if call is not None else (None, False)
    if call is None or called is None or called.fn is not func.fn or any(arg.star for arg in call.args):
        return []
    params = func.fn.node.params
    first = int(is_method and bool(params))
    receiver = [(call.func.obj, params[0].name)] if first and type(call.func) is ir.Attr else []
    given = [(value, name) for name, value in ir_walk.by_parameter(call, params[first:]) if name]
    return [(value, name) for value, name in [*receiver, *given] if paths.path_key(value)]


def _closes_over(func: Func, scope: Scope | None, name: str) -> bool:
    """Whether a variable of this name is the same for a function as for who is in this scope, and lives in a function."""
    if name in func.fn.node.local_names:
        return False
    scope = scopes.holder(scope, name)
    around: Scope | None = func.scope
    while around is not None and around is not scope:
        around = around.parent
    return around is not None and around.fn is not None


def _beside(f: Frame) -> dict[str, FuncInfo]:
    """The functions, by name, that are written in a function, or in one around it."""
    if f.fn is None:
        return {}
    inside = f"{f.fn.qualname.partition(_INSIDE)[0]}{_INSIDE}"
    return {fn.name: fn for fn in f.module.functions if fn.qualname.startswith(inside)}
