"""What a transformed function surely does when the program calls it, with no map around that names its axis (layer: ``link``, room ``domains``).

What it does: follows the statements that always run, from the function that is called to those that it calls by their
names, to methods of the same object and of those that it holds, and past tests whether a setting of theirs is there. What it does not:
guess what another test decides, follow methods of other objects, or functions that transforms call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.places import Step
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import NO_CONST, Bound, Func, Inst, Partial, Py, Value, alternatives
from jitlint.link.domains.misuse.helpers import inside
from jitlint.link.engine.machine import Machine
from jitlint.link.values import paths
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir
from jitlint.syntax.children import below

_SIMPLE: Final = (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.ExprStmt, ir.Return)
_PERHAPS: Final = (ir.IfExp, ir.BoolOp, ir.Comp, ir.Lambda)
_AXIS_NAME: Final = "axis_name"
_DEPTH: Final = 6
"""Functions that call each other."""


def reaches(m: Machine, call: Step, place: tuple[str, int]) -> bool:
    """Whether a call of a compiled or mapped function always leads to another call, without a map between that names its axis:
    ``place``, its module and origin."""
    noted = m.host_calls.calls.get((call.module, call.at))
    callee = noted.only if noted is not None else None
    if callee is None or _AXIS_NAME in callee.options or callee.spec.specs:
        return False
    target: Value = callee.target
    if type(target) is Partial:
        target = target.func
    owner: Inst | None = None
    if isinstance(target, Bound) and isinstance(target.recv, Inst):
        owner = target.recv
        target = target.func
    return type(target) is Func and _leads(m, target, owner, place, _DEPTH)


def _leads(m: Machine, func: Func, owner: Inst | None, place: tuple[str, int], depth: int) -> bool:
    """owner: the object of which the function is a method."""
    fn = func.fn
    for call in _with_mapped(m, func, _always(fn, owner, fn.body)):
        if (fn.module.name, call.at) == place:
            return True
        callees = _callees(m, func, owner, call.func) if depth else []
        if callees and all(_leads_on(m, callee, of, place, depth - 1) for callee, of in callees):
            return True
    return False


def _leads_on(
    m: Machine, callee: Value | None, owner: Inst | None, place: tuple[str, int], depth: int
) -> bool:
    return type(callee) is Func and not callee.fn.node.decorators and _leads(m, callee, owner, place, depth)


def _callees(
    m: Machine, func: Func, owner: Inst | None, node: ir.Node | None
) -> list[tuple[Value | None, Inst | None]]:
    """What a call in a function may run: a global function, or a method of its own object or of one held there, or one of several
    objects that may be held there; each with the object."""
    if _is_global(func.fn, node):
        return [(paths.peek(m, inside(func), node), None)]
    of = _held(func.fn, owner, node.obj) if type(node) is ir.Attr else None
    if of is None or type(node) is not ir.Attr:
        return []
    held = of.attrs.get(node.name)
    objects = alternatives(held) if held is not None else []
    if objects and all(type(one) is Inst for one in objects):
        return [(find_method(one, "__call__"), one) for one in objects if type(one) is Inst]
    return [(held or find_method(of, node.name), of)]


def _held(fn: FuncInfo, owner: Inst | None, node: ir.Node | None) -> Inst | None:
    """The object that a path from the receiver leads to, ``self`` or ``self.agent``; None if that is not known."""
    if type(node) is ir.Attr:
        holder = _held(fn, owner, node.obj)
        held = holder.attrs.get(node.name) if holder is not None else None
        return held if type(held) is Inst else None
    is_receiver = type(node) is ir.Name and fn.first == node.id
    return owner if is_receiver else None


def _with_mapped(m: Machine, func: Func, calls: Iterator[ir.Call]) -> Iterator[ir.Call]:
    """Calls, and those in a ``lambda`` that is mapped over the leaves of a tree, which has some."""
    for call in calls:
        yield call
        given = call.args[0].value if call.args else None
        mapped = (
            type(given) is ir.Lambda
            and paths.dotted(m, inside(func), call.func) in lexicon().arrays.pure_maps
        )
        for part in (
            func.fn.module.functions[given.function].body if mapped and type(given) is ir.Lambda else ()
        ):
            yield from _calls(part)


def _is_global(fn: FuncInfo, node: ir.Node | None) -> bool:
    while type(node) is ir.Attr:
        node = node.obj
    return type(node) is ir.Name and node.id not in fn.node.local_names


def _always(fn: FuncInfo, owner: Inst | None, block: Sequence[ir.Node]) -> Iterator[ir.Call]:
    """The calls that run whenever a block does, until something may end it early."""
    for statement in block:
        side = _side(fn, owner, statement) if type(statement) is ir.If else None
        if side is not None or type(statement) is ir.With:
            inner = statement.body if side is None and type(statement) is ir.With else side or ()
            yield from _always(fn, owner, inner)
            if inner and isinstance(inner[-1], (ir.Return, ir.Raise)):
                return
        elif not isinstance(statement, _SIMPLE):
            if any(isinstance(part, (ir.Return, ir.Raise)) for part in below(statement)):
                return
            continue
        yield from _calls(statement)


def _side(fn: FuncInfo, owner: Inst | None, node: ir.If) -> Sequence[ir.Node] | None:
    """The side of a test for a setting of the object, ``self.axis_name is None``, that runs; None if that is not known."""
    test = node.test
    asked = test.left if type(test) is ir.Compare and test.ops in (["is"], ["is not"]) else None
    if type(test) is not ir.Compare or type(asked) is not ir.Attr:
        return None
    right = test.rights[0]
    of = _held(fn, owner, asked.obj) if type(right) is ir.Const and right.kind == "none" else None
    value = of.attrs.get(asked.name) if of is not None else None
    if type(value) is not Py or value.const is NO_CONST:
        return None
    return node.body if (value.const is None) is (test.ops == ["is"]) else node.orelse


def _calls(statement: ir.Node) -> list[ir.Call]:
    parts = below(statement)
    perhaps = {id(each) for part in parts if isinstance(part, _PERHAPS) for each in below(part)}
    return [part for part in parts if type(part) is ir.Call and id(part) not in perhaps]
