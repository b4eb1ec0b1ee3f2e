"""Evaluates expressions to abstract values (layer: ``link``, room ``core``).

Each evaluator takes ``(machine, frame, node)``. Names, literals, containers, conditionals and comprehensions
live here; operators, attributes, subscripts and calls are handed to their own modules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer import changes
from jitlint.infer.keys import USES
from jitlint.infer.lattice import join
from jitlint.infer.values import (
    NONE,
    STR,
    UNKNOWN,
    Arr,
    At,
    Class,
    Ext,
    ExtInst,
    Map,
    Mod,
    Py,
    Scope,
    Seq,
    SliceVal,
    Tree,
    Tup,
    Union,
    Value,
    py,
)
from jitlint.link.core import branches, calls, choices, guesses, host_calls, interpolation, unlike
from jitlint.link.engine import reading, status
from jitlint.link.engine.budgets import UNROLLED
from jitlint.link.engine.domain import Called, Change, Load
from jitlint.link.engine.events import STAGED_OR_BATCHED, hurt
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.builtin_names import BUILTINS
from jitlint.link.values import (
    attributes,
    callbacks,
    fields,
    hashing,
    iteration,
    operators,
    paths,
    subscripts,
)
from jitlint.link.values.questions import outside, sorting, truths
from jitlint.syntax import ir

Evaluator = Callable[[Machine, Frame, Any], Value]


def evaluate(m: Machine, f: Frame, node: ir.Node | None) -> Value:
    """The abstract value of an expression, with all its effects."""
    return EVALUATORS[node.__class__](m, f, node)


_FIXED: Final = frozenset({Ext, Mod, Class})
"""What a name stands for whenever it is read."""


def _name(m: Machine, f: Frame, node: ir.Name) -> Value:
    name = node.id
    value = f.scope.vars.get(name)
    if value is not None:
        return value
    scope = f.scope.parent
    while scope is not None:
        value = scope.vars.get(name)
        if value is not None:
            if scope.level < f.world.floor and type(value) not in _FIXED:
                m.domains.on_load(f, Load(node.at, "name", scope, name, value))
            if value.__class__ in reading.BOXES:
                reading.note(m, value)
            return value
        scope = scope.parent
    return BUILTINS.get(name, UNKNOWN)


def _const(m: Machine, f: Frame, node: ir.Const) -> Value:
    kind = node.kind
    if kind == "none":
        return NONE
    if kind == "bool":
        return py(node.value)
    return Py(kind) if node.value is None else Py(kind, node.value)


_NARROWED: Final = branches.CONTAINERS | {Union}


def _attr(m: Machine, f: Frame, node: ir.Attr) -> Value:
    inner = node.obj
    obj = EVALUATORS[inner.__class__](m, f, inner)
    if f.world.floor and (obj is UNKNOWN or type(obj) is ExtInst):
        _load_part(m, f, node)
    if obj is UNKNOWN:
        attributes.note_load(m, f, node.name, None)
        if f.world.level:
            guesses.guess_property(m, f, node.at, node.name)
        return UNKNOWN
    if type(obj) in _NARROWED:
        obj = branches.having(m, f, inner, obj, node.name)
    return _attr_of(m, f, node, obj)


def _attr_of(m: Machine, f: Frame, node: ir.Attr, obj: Value) -> Value:
    variables = f.scope.vars
    if "$paths" in variables:
        narrowed = variables.get(paths.path_key(node))
        if narrowed is not None:
            return narrowed
    if f.world.floor and fields.keeps_function(obj, node.name):
        m.domains.on_target(f, node.obj.at, None)
    return attributes.get(m, f, node.at, obj, node.name)


def _call(m: Machine, f: Frame, node: ir.Call) -> Value:
    if f.world.level and type(node.func) is ir.Attr:
        obj = evaluate(m, f, node.func.obj)
        if obj is UNKNOWN:
            args = arguments(m, f, node.args)
            if _gives_names(args):
                _tell(m, f, node, UNKNOWN, args, UNKNOWN, True)
            guesses.guess(m, f, node.at, node.func.name, args)
            return UNKNOWN
        if f.world.floor and node.func.name in lexicon().containers.changing:
            m.domains.on_target(f, node.func.obj.at, obj)
        if type(obj) in _NARROWED:
            obj = branches.having(m, f, node.func.obj, obj, node.func.name)
        func = _attr_of(m, f, node.func, obj)
    else:
        written = node.func
        func = EVALUATORS[written.__class__](m, f, written)
    if type(func) is Ext and func.dotted == "builtins.super":
        return calls.make_super(m, f, [evaluate(m, f, a.value) for a in node.args])
    args = arguments(m, f, node.args)
    result = calls.call_each_way(m, f, node.at, func, args)
    if not f.world.level and host_calls.is_noted(func):
        host_calls.note(m, f, node, func, args, result)
    by_name = _gives_names(args)
    if by_name or not f.world.level:
        _tell(m, f, node, func, args, result, by_name)
    return result


def _tell(
    m: Machine, f: Frame, node: ir.Call, callee: Value, args: Args, result: Value, by_name: bool
) -> None:
    """Domains hear of a call."""
    for hear in m.domains.hearing(callee.__class__, by_name):
        hear(f, Called(node, callee, args, result))


def _gives_names(args: Args) -> bool:
    """Whether there are arguments by name; a dict that comes first gives values by name as well."""
    return bool(args.kw) or (bool(args.pos) and type(args.pos[0]) is Map)


def arguments(m: Machine, f: Frame, nodes: list[ir.Arg]) -> Args:
    """Evaluate call arguments; known ``*`` and ``**`` values are spread."""
    pos: list[Value] = []
    kw: dict[str, Value] = {}
    more: Value | None = None
    kw_more: Value | None = None
    ways: tuple[tuple[Value, ...], ...] = ()
    for arg in nodes:
        node = arg.value
        value = EVALUATORS[node.__class__](m, f, node)
        if arg.star == 0:
            if arg.name is not None:
                kw[arg.name] = value
            elif more is None:
                pos.append(value)
            else:
                ways = ()
        elif arg.star == 1:
            items = iteration.known_items(value)
            if items is not None and more is None:
                pos.extend(items)
            else:
                element = iteration.element(m, f, arg.value.at, value, quiet=True)
                ways = calls.ways(value) if more is None else ()
                more = element if more is None else join(more, element)
        else:
            if type(value) is Map:
                for key, part in value.entries.items():
                    if isinstance(key, str):
                        kw.setdefault(key, part)
                if value.rest is not None:
                    kw_more = value.rest
            else:
                callbacks.run_implied(m, f, arg.value.at, value, ("keys",))
                callbacks.run_implied(m, f, arg.value.at, value, ("__getitem__",), STR)
                kw_more = subscripts.any_item(value)
    return Args(pos, kw, more, kw_more, ways)


def _sub(m: Machine, f: Frame, node: ir.Sub) -> Value:
    obj = evaluate(m, f, node.obj)
    index = evaluate(m, f, node.index)
    value = subscripts.get(m, f, node.at, obj, index, node.index)
    if type(obj) is Arr or type(obj) is At or type(obj) is Tree:
        outside.check_written(m, f, node, obj, index, value)
    elif type(obj) is Tup:
        outside.check_shape(m, f, node, obj, index)
    if (type(obj) is Map or type(obj) is Seq) and obj.level < f.world.floor:
        m.domains.on_load(f, Load(node.at, "element", obj, index, value, node.obj.at))
    elif f.world.floor and obj is UNKNOWN:
        _load_part(m, f, node)
    return value


def _load_part(m: Machine, f: Frame, node: ir.Attr | ir.Sub) -> None:
    """A part of an object that is not understood is read."""
    scope, path = paths.part_of(f, node)
    if scope is not None and scope is not f.scope and scope.level < f.world.floor:
        m.domains.on_load(f, Load(node.at, "part", scope, path, UNKNOWN))


def _slice(m: Machine, f: Frame, node: ir.Slice) -> Value:
    lo = evaluate(m, f, node.lo) if node.lo is not None else None
    hi = evaluate(m, f, node.hi) if node.hi is not None else None
    step = evaluate(m, f, node.step) if node.step is not None else None
    return SliceVal(lo, hi, step)


def _binop(m: Machine, f: Frame, node: ir.BinOp) -> Value:
    a = EVALUATORS[node.left.__class__](m, f, node.left)
    b = EVALUATORS[node.right.__class__](m, f, node.right)
    value = operators.binary(m, f, node.at, node.op, a, b)
    return m.domains.on_operator(f, node, (a, b), value) if m.domains.operators else value


def _unary(m: Machine, f: Frame, node: ir.UnaryOp) -> Value:
    value = evaluate(m, f, node.operand)
    if node.op == "not":
        outcome = truths.truth(m, f, node.operand.at, value, "not")
        return Py("bool") if outcome is None else py(not outcome)
    return operators.unary(m, f, node.at, node.op, value)


_ORDERS: Final = frozenset({"<", "<=", ">", ">="})


def _compare(m: Machine, f: Frame, node: ir.Compare) -> Value:
    left = evaluate(m, f, node.left)
    if len(node.ops) == 1:
        right = evaluate(m, f, node.rights[0])
        if node.ops[0] in _ORDERS:
            left, right = (
                branches.ordered(f, *side) for side in ((node.left, left), (node.rights[0], right))
            )
        return operators.compare(m, f, node.at, node.ops[0], left, right)
    result: Value | None = None
    for op, right_node in zip(node.ops, node.rights):
        if result is not None:
            truths.truth(m, f, node.at, result, "comparison-chain")
            if hurt(result, STAGED_OR_BATCHED) is not None:
                return Py("bool")
        right = evaluate(m, f, right_node)
        one = operators.compare(m, f, node.at, op, left, right)
        result = one if result is None else join(result, one)
        left = right
    return result if result is not None else UNKNOWN


def _lambda(m: Machine, f: Frame, node: ir.Lambda) -> Value:
    return calls.make_function(m, f, node.function)


def _items(m: Machine, f: Frame, nodes: Sequence[ir.Node]) -> tuple[list[Value] | None, Value | None]:
    """Element values, or (None, join) when a starred value has unknown length."""
    out: list[Value] = []
    rest: Value | None = None
    known = True
    for node in nodes:
        if type(node) is ir.Starred:
            value = evaluate(m, f, node.value)
            items = iteration.known_items(value)
            if items is None:
                known = False
                element = iteration.element(m, f, node.at, value, quiet=True)
                rest = element if rest is None else join(rest, element)
            else:
                out.extend(items)
        else:
            out.append(EVALUATORS[node.__class__](m, f, node))
    if known and len(out) <= 256:
        return out, None
    for value in out[:64]:
        rest = value if rest is None else join(rest, value)
    return None, rest


def _tuple(m: Machine, f: Frame, node: ir.Tuple) -> Value:
    items, rest = _items(m, f, node.elts)
    if items is not None:
        return Tup(tuple(items))
    return Seq("tuple", None, rest, f.world.level)


def _list(m: Machine, f: Frame, node: ir.List) -> Value:
    items, rest = _items(m, f, node.elts)
    return Seq("list", items, rest, f.world.level, f.token)


def _set(m: Machine, f: Frame, node: ir.Set) -> Value:
    items, rest = _items(m, f, node.elts)
    for value in items or ():
        hashing.hashed(m, f, node.at, value, "set member")
    return Seq("set", items, rest, f.world.level, f.token)


def _dict(m: Machine, f: Frame, node: ir.Dict) -> Value:
    out = Map({}, None, f.world.level, f.token)
    for key_node, value_node in zip(node.keys, node.values):
        if key_node is None:
            subscripts.update_map(out, evaluate(m, f, value_node))
            continue
        key = evaluate(m, f, key_node)
        value = evaluate(m, f, value_node)
        hashing.hashed(m, f, key_node.at, key, "dict key")
        changes.put(out, key, value, strong=True)
    out.odd = sorting.clash(out) is not None
    return out


def _comp(m: Machine, f: Frame, node: ir.Comp) -> Value:
    outer = f.scope
    consumed = outer.vars.get(USES)
    inner = {} if consumed is None else {USES: consumed}
    f.scope = Scope(inner, outer, outer.fn, outer.key, outer.level, outer.token)
    token = f.token
    first = evaluate(m, f, node.fors[0].iter)  # once, before the first turn
    loops, f.loops = f.loops, (*f.loops, node)
    try:
        result = _comp_body(m, f, node, first)
        if f.scope.vars.get(USES) is not consumed:
            outer.vars[USES] = f.scope.vars[USES]
    finally:
        f.scope = outer
        f.token = token
        f.loops = loops
    return result


def _comp_body(m: Machine, f: Frame, node: ir.Comp, iterable: Value) -> Value:
    bound: _Elements | None
    single = node.fors[0] if len(node.fors) == 1 else None
    if single is not None and single.ifs:
        kept = unlike.kept(m, f, single, iterable)
        if kept is not None:
            return _comp_unrolled(m, f, node, kept)
        f.token = object()
        bound = _comp_loops(m, f, node, iterable)
    elif single is not None and not single.ifs and node.kind in ("list", "set", "generator", "dict"):
        items = iteration.known_items(iterable)
        if items is not None and (0 < len(items) <= UNROLLED or fields.describe_fields(items)):
            if f.world.floor:
                m.domains.on_change(f, Change(single.iter.at, iterable, "iteration"))
            unrolled = _comp_unrolled(m, f, node, items)
            m.domains.on_run(f, node, iterable)
            return unrolled
        f.token = object()
        bound = [(single.target, _bind_element(m, f, single, iterable))]
        m.domains.on_run(f, node, iterable)
    else:
        f.token = object()
        bound = _comp_loops(m, f, node, iterable)
    if bound is None:
        return (
            Map({}, None, f.world.level) if node.kind == "dict" else Seq(_kind(node), [], None, f.world.level)
        )
    return _comp_once(m, f, node, bound)


_Elements = list[tuple[ir.Node, Value]]
"""Targets and what they stand for."""


def _comp_loops(m: Machine, f: Frame, node: ir.Comp, first: Value) -> _Elements | None:
    """Bind the targets of a comprehension; None if a test lets nothing through. first: what it goes over."""
    bound: _Elements = []
    for part in node.fors:
        iterable = first if part is node.fors[0] else evaluate(m, f, part.iter)
        bound.append((part.target, _bind_element(m, f, part, iterable)))
        for test in part.ifs:
            outcome = branches.condition(m, f, test, "comprehension", test.at)
            if outcome is False or not branches.narrow(m, f, test, True):
                return None
    return bound


def _comp_once(m: Machine, f: Frame, node: ir.Comp, bound: _Elements) -> Value:
    """What a comprehension gives when any of its turns stands for all."""
    consumed = f.scope.vars.get(USES)
    value = evaluate(m, f, node.elt)
    entry: Value | None = None
    if node.kind == "dict":
        hashing.hashed(m, f, node.elt.at, value, "dict key")
        entry = evaluate(m, f, node.value)
    if f.scope.vars.get(USES) is not consumed:
        for target, element in bound:  # a second turn meets the keys that the first one consumed
            iteration.bind(m, f, target, element)
        for again in (node.elt, node.value):
            if again is not None:
                evaluate(m, f, again)
    if entry is not None:
        return Map({}, entry, f.world.level, None, None if value is UNKNOWN else value)
    if node.kind == "set":
        hashing.hashed(m, f, node.elt.at, value, "set member")
    if node.kind == "generator" and f.world.level:
        status.record_inner(m, f, "generator", node.at, "<genexpr>")
    return Seq(_kind(node), None, value, f.world.level, None)


def _comp_unrolled(m: Machine, f: Frame, node: ir.Comp, items: list[Value]) -> Value:
    out: list[Value] = []
    result = Map({}, None, f.world.level, None)
    if node.kind == "generator" and f.world.level:
        status.record_inner(m, f, "generator", node.at, "<genexpr>")
    for item in items:
        iteration.bind(m, f, node.fors[0].target, item)
        value = evaluate(m, f, node.elt)
        if node.kind == "dict":
            changes.put(result, value, evaluate(m, f, node.value), strong=True)
        else:
            out.append(value)
    return result if node.kind == "dict" else Seq(_kind(node), out, None, f.world.level, None)


def _kind(node: ir.Comp) -> str:
    return "iter" if node.kind == "generator" else node.kind


def _bind_element(m: Machine, f: Frame, part: ir.CompFor, iterable: Value) -> Value:
    if f.world.floor:
        m.domains.on_change(f, Change(part.iter.at, iterable, "iteration"))
    element = iteration.element(m, f, part.iter.at, iterable)
    iteration.bind(m, f, part.target, element)
    return element


def _await(m: Machine, f: Frame, node: ir.Await) -> Value:
    evaluate(m, f, node.value)
    return UNKNOWN


def _yield(m: Machine, f: Frame, node: ir.Yield) -> Value:
    value = evaluate(m, f, node.value) if node.value is not None else NONE
    if node.is_from:
        value = iteration.element(m, f, node.at, value, quiet=True)
    f.yields.append(value)
    return UNKNOWN


def _walrus(m: Machine, f: Frame, node: ir.Walrus) -> Value:
    value = evaluate(m, f, node.value)
    iteration.assign_name(m, f, node.target, value)
    return value


def _starred(m: Machine, f: Frame, node: ir.Starred) -> Value:
    evaluate(m, f, node.value)
    return UNKNOWN


EVALUATORS: dict[type, Evaluator] = {
    ir.Name: _name,
    ir.Const: _const,
    ir.Attr: _attr,
    ir.Call: _call,
    ir.Sub: _sub,
    ir.Slice: _slice,
    ir.BinOp: _binop,
    ir.UnaryOp: _unary,
    ir.BoolOp: choices.either,
    ir.Compare: _compare,
    ir.IfExp: choices.ternary,
    ir.Lambda: _lambda,
    ir.Tuple: _tuple,
    ir.List: _list,
    ir.Set: _set,
    ir.Dict: _dict,
    ir.Comp: _comp,
    ir.Fstr: interpolation.interpolated,
    ir.Await: _await,
    ir.Yield: _yield,
    ir.Walrus: _walrus,
    ir.Starred: _starred,
}
