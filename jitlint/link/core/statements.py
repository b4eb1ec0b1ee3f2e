"""Executes statements on abstract values (layer: ``link``, room ``core``).

`run_block` answers whether execution can fall through its end. Branches that may go either way run on copies
of the variables that are joined afterwards. Loops are in `loops`.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer import changes
from jitlint.infer.events import ArrayStore
from jitlint.infer.grounds import at_most, weaken
from jitlint.infer.keys import USES
from jitlint.infer.lattice import join, seq_element
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import NONE, UNKNOWN, Arr, ExtInst, Inst, Map, Seq, Value, Xform, alternatives, py
from jitlint.link.core import asking, branches, calls, flags, host_calls, loops, managed, matching, retests
from jitlint.link.core.expressions import evaluate
from jitlint.link.engine import evaluator, imports, regions
from jitlint.link.engine.domain import Change, Store
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import is_class_variable, path_text, written_out
from jitlint.link.values import (
    attributes,
    boxes,
    callbacks,
    classes,
    iteration,
    operators,
    paths,
    subscripts,
)
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir

Executor = Callable[[Machine, Frame, Any], bool]


def run_block(m: Machine, f: Frame, block: Sequence[ir.Node]) -> bool:
    """Run statements in order. False when the end cannot be reached."""
    for i, node in enumerate(block):
        f.at = node.at
        if node.__class__ is ir.Assign and node.value.__class__ is ir.IfExp:
            node = retests.as_statement(m, f, node, block[i + 1 :])
        f.sides = None
        if not EXECUTORS[node.__class__](m, f, node):
            return False
        if f.sides is None:
            continue
        if node.__class__ is not ir.If:
            f.sides = None
        elif flags.have_room(f, f.sides):
            sides, rest = f.sides, block[i + 1 :]
            count = retests.last(m, f, node, sides.asked, rest, 0)
            if not count and f.apart == 1 and flags.are_simple(sides):
                count = retests.last(m, f, node, sides.asked, rest)
                sides = flags.of_what_is_known(sides)
            if count:
                return _run_apart(m, f, sides, rest[:count]) and run_block(m, f, rest[count:])
    return True


def _run_apart(m: Machine, f: Frame, sides: flags.Sides, block: Sequence[ir.Node]) -> bool:
    """Run statements on each of the states that an ``if`` left, and join what they end with."""
    reached: list[tuple[flags.State, flags.Sides | None]] = []
    token, f.token = f.token, object()
    before, f.apart = f.apart, f.apart * len(sides.states)
    sided, f.sided = f.sided, True
    for number, (variables, level) in enumerate(sides.states):
        m.domains.on_side(number)
        f.scope.vars = dict(variables)
        with _doubting(f, level):
            if run_block(m, f, block):
                reached.append((flags.State(f.scope.vars, level), f.sides))
    m.domains.on_side(None)
    f.apart, f.sided = before, sided
    f.token = token
    f.sides = flags.apart(reached, sides.asked)
    if reached:
        f.scope.vars = functools.reduce(branches.join_vars, [state.variables for state, _ in reached])
    return bool(reached)


@contextlib.contextmanager
def _doubting(f: Frame, level: Confidence) -> Iterator[None]:
    """What is found in here is no surer than that."""
    before, entry = f.confidence, f.entry
    if before.rank <= level.rank:
        yield
        return
    f.confidence, f.entry = level, at_most(entry, Confidence.LIKELY)
    yield
    f.confidence, f.entry = before, entry


def _expr(m: Machine, f: Frame, node: ir.ExprStmt) -> bool:
    value = evaluate(m, f, node.value)
    if type(value) is Xform:
        value.called = True  # thrown away: nobody will ever call it
    m.domains.on_run(f, node, value)
    return not (f.module.is_test and _ends_test(node.value))


def _ends_test(node: ir.Expr) -> bool:
    """Whether a statement leaves the test that it stands in: ``self.skipTest("no devices")``."""
    return type(node) is ir.Call and path_text(node.func) in lexicon().tests.leaving


def _assign(m: Machine, f: Frame, node: ir.Assign) -> bool:
    value = evaluate(m, f, node.value)
    f.at = node.at
    regions.note_flag(m, node)
    if type(node.value) is ir.Call:
        m.domains.on_run(f, node, value)
    for target in node.targets:
        iteration.bind(m, f, target, value)
    return True


def _aug_assign(m: Machine, f: Frame, node: ir.AugAssign) -> bool:
    target: ir.Node | None = node.target
    if type(target) is ir.Name:
        left = evaluate(m, f, target)
        m.domains.on_target(f, target.at, None)
        right = evaluate(m, f, node.value)
        m.domains.on_change(f, Change(node.at, left, "in-place"))
        iteration.assign_name(m, f, target.id, _augmented(m, f, node, left, right))
    elif type(target) is ir.Attr:
        obj = evaluate(m, f, target.obj)
        left = attributes.get(m, f, target.at, obj, target.name)
        m.domains.on_target(f, target.at, None)
        if obj is UNKNOWN or type(obj) is ExtInst:
            paths.store_part(m, f, target, None)
        right = evaluate(m, f, node.value)
        m.domains.on_change(f, Change(node.at, left, "in-place"))
        f.at = node.at
        attributes.store(m, f, target.at, obj, target.name, _augmented(m, f, node, left, right))
    elif type(target) is ir.Sub:
        obj = evaluate(m, f, target.obj)
        m.domains.on_target(f, target.obj.at, None)
        index = evaluate(m, f, target.index)
        right = evaluate(m, f, node.value)
        left = UNKNOWN if _is_jax_array(obj) else subscripts.get(m, f, target.at, obj, index, target.index)
        value = operators.binary(m, f, node.at, node.op, left, right)
        subscripts.store(m, f, target.at, obj, index, value, "augmented")
    return True


def _is_jax_array(value: Value) -> bool:
    return any(type(a) is Arr and not a.host for a in alternatives(value))


def _augmented(m: Machine, f: Frame, node: ir.AugAssign, left: Value, right: Value) -> Value:
    if type(left) is Seq and left.kind == "list" and node.op == "+":
        element = iteration.element(m, f, node.at, right, quiet=True)
        m.domains.on_store(f, Store(node.at, "append", left, None, element, form="+="))
        if f.world.floor:
            m.domains.on_change(f, Change(node.at, left, "extend"))
        items = iteration.known_items(right)
        if items is not None and left.items is not None and left.token is f.token:
            left.items.extend(items)
        elif items != []:
            changes.widen(left, element)
        return left
    value = operators.binary(m, f, node.at, node.op, left, right)
    return m.domains.on_operator(f, written_out(node), (left, right), value)


def _ann_assign(m: Machine, f: Frame, node: ir.AnnAssign) -> bool:
    if f.cls is not None or f.fn is None:
        m.domains.on_run(f, node, UNKNOWN)
    if f.cls is not None and type(node.target) is ir.Name:
        default = evaluate(m, f, node.value) if node.value is not None else None
        if not is_class_variable(node.annotation):
            f.cls.fields[node.target.id] = (node.annotation, default)
        if default is not None:
            f.scope.vars[node.target.id] = default
        return True
    if node.value is not None:
        iteration.bind(m, f, node.target, evaluate(m, f, node.value))
    return True


def _if(m: Machine, f: Frame, node: ir.If) -> bool:
    if branches.only_for_type_checkers(f, node.test):
        # annotations need the imported names; nothing in the block ever runs
        with regions.prepared(m):
            run_block(m, f, [part for part in node.body if isinstance(part, (ir.Import, ir.ImportFrom))])
        reached = run_block(m, f, node.orelse)
        f.sides = None
        return reached
    outcome = branches.condition(m, f, node.test, "elif" if node.is_elif else "if", node.at)
    if outcome is None and regions.asks_version(m, node.test):
        with regions.prepared(m):
            return _either_side(m, f, node, outcome)
    _tell_test(m, f, node, outcome)
    return _either_side(m, f, node, outcome)


def _tell_test(m: Machine, f: Frame, node: ir.If | ir.Assert, outcome: bool | None) -> None:
    """A test was evaluated in a trace."""
    if f.world.level:
        m.domains.on_run(f, node, UNKNOWN if outcome is None else py(outcome))


def _either_side(m: Machine, f: Frame, node: ir.If, outcome: bool | None) -> bool:
    saved = f.scope.vars
    token, before, entry, dispatched, sided = f.token, f.confidence, f.entry, f.dispatched, f.sided
    apart = asking.told_apart(m, f, node.test, outcome)
    levels = branches.doubted(m, f, node.test, outcome)
    even = levels[True] is levels[False]  # one of two sides runs, however little is known of which
    reached: list[tuple[flags.State, flags.Sides | None]] = []
    for side, block in ((True, node.body), (False, node.orelse)):
        if outcome is (not side):
            continue
        f.confidence = levels[side]
        f.entry = entry if levels[side] is before else at_most(entry, Confidence.LIKELY)
        f.scope.vars = dict(saved)
        if outcome is None:
            f.token = object()
        f.sides = None
        f.dispatched = apart
        f.sided = f.beside(outcome)
        if branches.narrow(m, f, node.test, side) and run_block(m, f, block):
            reached.append((flags.State(f.scope.vars, before if even else levels[side]), f.sides))
    f.token, f.confidence, f.entry = token, before, entry
    if levels is branches.GUESSED and len(reached) == 1:
        f.confidence = Confidence.POSSIBLE  # the other side has ended: the answer decides about the rest
    one = len(reached) == 1 and not _is_check(node)
    f.dispatched, f.sided = (apart, f.sided) if one else (dispatched, sided)
    f.sides = flags.apart(reached, flags.asked_by(m, node) if len(reached) == 2 else frozenset())
    states = [state.variables for state, _ in reached]
    f.scope.vars = functools.reduce(branches.join_vars, states) if states else saved
    return bool(reached)


def _is_check(node: ir.If) -> bool:
    """Whether one side refuses what gets there: the rest is for everything that the program gives."""
    return any(block and type(block[-1]) is ir.Raise for block in (node.body, node.orelse))


def _guarded(m: Machine, f: Frame, node: ir.Try, fallback: bool) -> bool:
    """Run what a ``try`` guards."""
    world, caught = f.world, f.caught
    f.world = regions.guarded(f, node.handlers)
    catch = regions.catching(f, node.handlers, node.body)
    f.caught = catch or caught
    m.guards += fallback
    reached = run_block(m, f, node.body)
    m.guards -= fallback
    f.world, f.caught = world, caught
    return reached and not (catch is not None and catch.failed)


def _handled(m: Machine, f: Frame, handler: ir.Handler, body: Sequence[ir.Stmt]) -> bool:
    """Run a handler of what stands in a ``try``."""
    if handler.name:
        f.scope.vars[handler.name] = UNKNOWN
    confidence = f.confidence
    if regions.is_for_others(f, handler, body):
        f.confidence = weaken(confidence, 2)
    reached = run_block(m, f, handler.body)
    f.confidence = confidence
    return reached


def _try(m: Machine, f: Frame, node: ir.Try) -> bool:
    before = dict(f.scope.vars)
    token, f.token = f.token, object()
    fallback = regions.catches_missing_names(node.handlers)
    reached = _guarded(m, f, node, fallback)
    m.domains.on_run(f, node, UNKNOWN)
    if reached and node.orelse:
        reached = run_block(m, f, node.orelse)
    out: dict[str, Value] | None = f.scope.vars if reached else None
    start = branches.join_vars(before, f.scope.vars)
    start.pop(USES, None)
    if USES in before:
        start[USES] = before[USES]  # what failed consumed nothing
    m.guards += fallback
    for handler in node.handlers:
        if regions.never_runs(f, handler):
            continue
        f.scope.vars = dict(start)
        if _handled(m, f, handler, node.body):
            out = f.scope.vars if out is None else branches.join_vars(out, f.scope.vars)
    m.guards -= fallback
    f.token = token
    f.scope.vars = out if out is not None else start
    if node.final and not run_block(m, f, node.final):
        return False
    return out is not None


def _with(m: Machine, f: Frame, node: ir.With) -> bool:
    world = f.world
    swallows = False
    managers: list[Inst] = []
    put_back = managed.set_for_a_time(m, f, node)
    for item in node.items:
        value = evaluate(m, f, item.value)
        managers += host_calls.managed(m, f, item.value.at, value)
        region = regions.entered(f, value, item.value)
        if region is not None:
            f.world = region
            swallows = swallows or region.excused
        if item.target is not None:
            iteration.bind(m, f, item.target, _entered_value(m, f, item.value.at, value))
        else:
            callbacks.run_implied(m, f, item.value.at, value, ("__enter__",))
    before = dict(f.scope.vars) if swallows else None
    with managed.changed(m, f, node):
        reached = run_block(m, f, node.body)
    put_back()
    f.world = world
    for manager in managers:
        callbacks.run_protocol(m, f, node.at, manager, "__exit__", [UNKNOWN, UNKNOWN, UNKNOWN])
    if before is not None:
        f.scope.vars = branches.join_vars(before, f.scope.vars)
        return True
    return reached


def _entered_value(m: Machine, f: Frame, at: int, value: Value) -> Value:
    if type(value) is Inst:
        method = find_method(value, "__enter__")
        return evaluator.call(m, f, at, method, Args([value])) if method is not None else UNKNOWN
    if type(value) is Seq and value.kind == "iter":
        return seq_element(value) or UNKNOWN  # a generator made into a context manager
    return value if type(value) is ExtInst else UNKNOWN


def left_behind(fn: FuncInfo, variables: dict[str, Value], before: dict[str, Value]) -> dict[str, Value]:
    """What functions inside another find in its variables when it is over, if it may end like this as well as before."""
    out = dict(before)
    for name in fn.captured:
        value = variables.get(name)
        if value is not None:
            old = before.get(name)
            out[name] = value if old is None else join(old, value)
    return out


def _return(m: Machine, f: Frame, node: ir.Return) -> bool:
    value = evaluate(m, f, node.value) if node.value is not None else NONE
    f.returns = value if f.returns is None else join(f.returns, value)
    if f.fn is not None:
        seen = f.fn.returned.get(node.at)
        f.fn.returned[node.at] = value if seen is None else join(seen, value)
        if f.fn.captured:
            f.exits = left_behind(f.fn, f.scope.vars, f.exits)
    return False


def _raise(m: Machine, f: Frame, node: ir.Raise) -> bool:
    if node.exc is not None:
        evaluate(m, f, node.exc)
    return False


def _assert(m: Machine, f: Frame, node: ir.Assert) -> bool:
    outcome = branches.condition(m, f, node.test, "assert", node.at)
    _tell_test(m, f, node, outcome)
    if outcome is False:
        return False
    f.scope.vars = dict(f.scope.vars)
    return branches.narrow(m, f, node.test, True)


def _del(m: Machine, f: Frame, node: ir.Del) -> bool:
    for target in node.targets:
        if type(target) is ir.Name:
            f.scope.vars.pop(target.id, None)
        elif type(target) is ir.Sub:
            obj = evaluate(m, f, target.obj)
            index = evaluate(m, f, target.index)
            if f.world.floor:
                m.domains.on_change(f, Change(target.at, obj, "del", index))
            for alt in alternatives(obj):
                if type(alt) is Arr and not alt.host:
                    m.emit(f, ArrayStore, target.at, alt, op="delitem")
                elif isinstance(alt, (Map, Seq)):
                    boxes.remove(m, f, target.at, alt, index)
                callbacks.run_implied(m, f, target.at, alt, ("__delitem__",), index)
        elif type(target) is ir.Attr and f.world.floor:
            m.domains.on_change(f, Change(target.at, evaluate(m, f, target.obj), "del"))
    return True


def _import(m: Machine, f: Frame, node: ir.Import) -> bool:
    for name in node.names:
        if name.asname:
            f.scope.vars[name.asname] = imports.module(m, f, name.at, name.name)
        else:
            imports.module(m, f, name.at, name.name)
            top = name.name.split(".")[0]
            f.scope.vars[top] = imports.module(m, f, name.at, top)
    m.domains.on_run(f, node, UNKNOWN)
    return True


def _import_from(m: Machine, f: Frame, node: ir.ImportFrom) -> bool:
    base = imports.absolute(f.module, node.module, node.level)
    for name in node.names:
        if name.name == "*":
            imports.star(m, f, base)
        else:
            f.scope.vars[name.asname or name.name] = imports.member(m, f, name.at, base, name.name)
    m.domains.on_run(f, node, UNKNOWN)
    return True


def _nothing(m: Machine, f: Frame, node: ir.Node | None) -> bool:
    return True


def _break(m: Machine, f: Frame, node: ir.Break) -> bool:
    f.breaks.append(f.scope.vars)
    return False


def _continue(m: Machine, f: Frame, node: ir.Continue) -> bool:
    f.continues.append(f.scope.vars)
    return False


def _func_def(m: Machine, f: Frame, node: ir.FuncDef) -> bool:
    value = calls.make_function(m, f, node.function)
    iteration.assign_name(m, f, node.name, calls.decorated(m, f, value))
    return True


def _class_def(m: Machine, f: Frame, node: ir.ClassDef) -> bool:
    iteration.assign_name(m, f, node.name, classes.define(m, f, node))
    return True


def _match(m: Machine, f: Frame, node: ir.Match) -> bool:
    return matching.run(m, f, node, run_block)


EXECUTORS: dict[type, Executor] = {
    ir.ExprStmt: _expr,
    ir.Assign: _assign,
    ir.AugAssign: _aug_assign,
    ir.AnnAssign: _ann_assign,
    ir.If: _if,
    ir.For: loops.run_for,
    ir.While: loops.run_while,
    ir.Try: _try,
    ir.With: _with,
    ir.Return: _return,
    ir.Raise: _raise,
    ir.Assert: _assert,
    ir.Del: _del,
    ir.Import: _import,
    ir.ImportFrom: _import_from,
    ir.Global: _nothing,
    ir.Pass: _nothing,
    ir.Break: _break,
    ir.Continue: _continue,
    ir.FuncDef: _func_def,
    ir.ClassDef: _class_def,
    ir.Match: _match,
}
