"""Loops that go through variants, which are written down, and not through steps (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

from jitlint.infer.values import Class, Func, Inst, Map, Mod, Seq, Tup, Value, alternatives
from jitlint.link.engine import scopes
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import ir_walk
from jitlint.link.tables.code_tables import CodeTable
from jitlint.link.values import paths
from jitlint.syntax import ir

_VIEWS: Final = ("items", "keys", "values")
_COUNTED: Final = ("range", "split")
"""Calls with so many elements as their last argument says."""
_FEW_TURNS: Final = 5


def names_parts(loop: ir.Node | None) -> bool:
    """Whether a loop goes through the entries of a mapping: so many as a program has names, not steps."""
    return any(
        type(node) is ir.Call and not node.args and type(node.func) is ir.Attr and node.func.name in _VIEWS
        for node in _iterables(loop)
    )


def is_written(f: Frame, table: CodeTable, loop: ir.Node | None) -> bool:
    """Whether a loop goes through things that are written down, members of an enumeration say: variants, not steps."""
    for node in _iterables(loop):
        if type(node) is ir.Name:
            if type(scopes.lookup(f, node.id)) is Class or _is_table(f, node):
                return True
            values = table.bound.get(node.id, ())
            node = values[0] if len(values) == 1 else None
        if _has_display(f, node) or (type(node) is ir.Call and _takes_written(f, table, node)):
            return True
    return False


def turn_few_times(m: Machine, f: Frame, loops: Sequence[ir.Node]) -> bool:
    """Whether loops certainly have so few turns together that they do not make up for a compilation."""
    turns = 1
    for loop in loops:
        node = loop.iter if type(loop) is ir.For else None
        counted = (
            type(node) is ir.Call and ir_walk.last_name(node.func) in _COUNTED and 0 < len(node.args) < 3
        )
        number = paths.constant(m, f, node.args[-1].value) if type(node) is ir.Call and counted else None
        if type(number) is not int:
            return False
        turns *= number
    return turns <= _FEW_TURNS


def _takes_written(f: Frame, table: CodeTable, call: ir.Call) -> bool:
    """Whether a call goes through, or makes a view of, what is written down."""
    func = call.func
    given = [arg.value for arg in call.args]
    if type(func) is ir.Attr and func.name in _VIEWS:
        given.append(func.obj)
    return any(_is_bound_to_display(table, node) or _is_table(f, node) for node in given)


def _is_table(f: Frame, node: ir.Node) -> bool:
    """Whether a name is a table of a module with so many entries as are written there, or in which functions are registered."""
    value = _of_module(f, node)
    if type(value) is Map:
        held = [*value.entries.values(), *([] if value.rest is None else [value.rest])]
        registry = all(isinstance(each, (Func, Class)) for one in held for each in alternatives(one))
        return bool(held) and (value.rest is None or registry)
    return (type(value) is Tup or type(value) is Seq) and bool(value.items)


def _of_module(f: Frame, node: ir.Node) -> Value | None:
    """What a variable of the module, or one of another module, holds."""
    if type(node) is ir.Attr and type(node.obj) is ir.Name:
        owner = f.module.scope.vars.get(node.obj.id)
        return owner.info.scope.vars.get(node.name) if type(owner) is Mod else None
    if type(node) is not ir.Name or f.fn is None or node.id in f.fn.node.local_names:
        return None
    return f.module.scope.vars.get(node.id)


def _is_bound_to_display(table: CodeTable, node: ir.Node) -> bool:
    """Whether a name was last bound to some things that are written down: ``rates = [0.1, 0.2]``."""
    values = table.bound.get(node.id) if type(node) is ir.Name else None
    last = values[-1] if values else None
    if type(last) is ir.Dict:
        return bool(last.keys)
    return isinstance(last, (ir.Tuple, ir.List)) and bool(last.elts)


def _iterables(loop: ir.Node | None) -> list[ir.Node | None]:
    return [part.iter for part in loop.fors] if type(loop) is ir.Comp else [getattr(loop, "iter", None)]


def _has_display(f: Frame, node: ir.Node | None) -> bool:
    """Whether an iterable is, or is made of, a written tuple, list, set or dict; what a function of the project makes of
    one may be anything."""
    if isinstance(node, (ir.Tuple, ir.List, ir.Set, ir.Dict)):
        return True
    if type(node) is ir.IfExp:
        return _has_display(f, node.body) and _has_display(f, node.orelse)
    if type(node) is ir.Call:
        func = node.func
        if type(func) is ir.Name and type(scopes.lookup(f, func.id)) is Func:
            return False
        if type(func) is ir.Attr and _has_display(f, func.obj):
            return True
        return any(_has_display(f, arg.value) for arg in node.args)
    return False


def is_of_the_turn(
    m: Machine, f: Frame, table: CodeTable, maker: ir.Node, assigned: frozenset[str], here: bool
) -> bool:
    """Whether no program of another turn would do. here: it is made by the code of the loop, by no function that this calls."""
    return _has_options(table, maker, assigned) or (not here and _gets_objects(m, f, maker, assigned))


def _has_options(table: CodeTable, maker: ir.Node, assigned: frozenset[str]) -> bool:
    """Whether each turn compiles with options of its own, shardings say: no program of another turn would do."""
    given = maker.args[1:] if type(maker) is ir.Call else ()
    return any(arg.name and table.mentions_through(arg.value, assigned) for arg in given)


def is_target(table: CodeTable, maker: ir.Node | None, assigned: frozenset[str]) -> bool:
    """Whether the function that is compiled is another one at each turn: there is nothing to be found again."""
    node = maker
    while type(node) is ir.Call and node.args:
        node = node.args[0].value
    while type(node) is ir.Attr:
        node = node.obj
    if type(node) is not ir.Name or node.id not in assigned:
        return False
    return all(value is None or type(value) is ir.Call for value in table.bound.get(node.id, (None,)))


def _gets_objects(m: Machine, f: Frame, maker: ir.Node, assigned: Set[str]) -> bool:
    """Whether a function of the program makes something of an object that is another one at each turn, a planner of another kind
    say: each wants a program of its own."""
    given = [arg.value for arg in maker.args] if type(maker) is ir.Call else []
    turn = [paths.peek(m, f, node) for node in given if type(node) is ir.Name and node.id in assigned]
    return any(all(map(is_plain, alternatives(value))) for value in turn if value is not None)


def is_plain(value: Value) -> bool:
    """Whether a value is an object that no transform takes as an argument."""
    return type(value) is Inst and not value.cls.pytree
