"""Roots of the distances between all pairs of an array's rows, of which each row is one with itself (layer: ``link``, room
``domains``).

``jnp.sqrt(jnp.sum((x[:, None] - x[None]) ** 2, -1))`` is zero on its diagonal, whatever ``x`` is, and a root has no derivative
there. What it does: reads how the argument of a root is written, in the functions that it comes from as well, and whether
two parameters are given one array. What it does not: follow what was chosen or added before the root is taken, which is how
this is mended; a bound of zero mends nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final, NamedTuple

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Arr, Func, Value
from jitlint.link.domains.gradients import spelling
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_by, by_parameter, last_name, path_text, same_text
from jitlint.link.tables.results import only_returned
from jitlint.link.values import paths
from jitlint.link.values.fitting import rank_of
from jitlint.syntax import ir
from jitlint.syntax.children import below

_DEPTH: Final = 10
_LAST: Final = (-1, 2)
_ODD: Final = spelling.ABSOLUTE | {"round", "sin", "tan", "sinh", "tanh"}
"""What gives zero for zero."""


Pairs = frozenset[frozenset[str]]
"""Parameters that are given the same by a call, two at a time."""


class _Place(NamedTuple):
    """Whose code is read. frame: of the activation, None for a function that it calls. alike: parameters that were given
    one array. rows: those that go through the rows of one, each with each, and so that one meets itself. zero: those that are zero
    where one does, each with the array."""

    m: Machine
    fn: FuncInfo
    frame: Frame | None
    alike: Pairs = frozenset()
    rows: Pairs = frozenset()
    zero: frozenset[tuple[str, str]] = frozenset()

    def value(self, node: ir.Node) -> Value | None:
        """What a name stands for, as far as it is known."""
        if self.frame is not None:
            return paths.peek(self.m, self.frame, node)
        return self.fn.module.scope.vars.get(node.id) if type(node) is ir.Name else None


class NewAxis(NamedTuple):
    """An array with a new axis, along which it is the same everywhere."""

    array: ir.Node
    axis: int


class Spread(NamedTuple):
    """What a call gives to parameters that keep it. new: arrays with a new axis. to_root: what else it gives a function that takes
    roots. computed: two of them that it gives what is computed alike, perhaps from different variables."""

    new: list[tuple[str, NewAxis]]
    to_root: list[tuple[str, ir.Node]]
    computed: list[tuple[tuple[str, ir.Node], tuple[str, ir.Node]]]


class Meeting(NamedTuple):
    """How the parameters of a function are each other's. alike: two are given one array. rows: two are given its rows, so that
    each is there with each: ``distances(x[:, None], x[None])``. zero: they are given the differences of all rows of an array."""

    alike: Pairs = frozenset()
    rows: Pairs = frozenset()
    zero: frozenset[tuple[str, str]] = frozenset()


def given(
    m: Machine, f: Frame, call: ir.Call, spread: Spread, bound: dict[str, Value], around: Meeting
) -> Meeting:
    """How a call gives an array to two parameters, or the differences of its rows to one. around: how the parameters of the
    function where it stands are each other's."""
    new = spread.new
    known = {name for name, one in new if not _is_flat(paths.peek(m, f, one.array))}
    rows = frozenset(
        frozenset((name, other))
        for name, one in new
        for other, two in new
        if {name, other} <= known and one.axis < two.axis and same_text(one.array, two.array)
    )
    place = _Place(m, f.fn, f) if f.fn is not None else None
    given = [(name, _zero(place, node, _DEPTH)) for name, node in spread.to_root] if place is not None else []
    twice = _given_twice(call, bound) | _given_alike(spread, bound, around)
    return Meeting(twice, rows, frozenset((name, array) for name, array in given if array))


def _given_alike(spread: Spread, bound: dict[str, Value], around: Meeting) -> Pairs:
    """The parameters to which a call gives what is computed alike, from variables that are one."""
    return frozenset(
        frozenset((one, other))
        for (one, first), (other, second) in spread.computed
        if same_text(first, second, around.alike) and type(bound.get(one)) is Arr
    )


def spread_arguments(fn: FuncInfo, called: FuncInfo, call: ir.Call) -> Spread:
    """What a call gives to parameters that are not set anew."""
    changed = {name for part in called.parts for name in bound_by(part)}
    args = by_parameter(call, called.node.params)
    kept: list[tuple[str, ir.Node]] = [(name, node) for name, node in args if name and name not in changed]
    found = [(name, _spread(fn.parts, node)) for name, node in kept]
    takes_roots = any(map(spelling.is_root, called.parts))
    new = [(name, one) for name, one in found if one is not None]
    return Spread(new, kept if takes_roots else [], _computed_alike(fn, kept) if takes_roots else [])


def _computed_alike(
    fn: FuncInfo, given: Sequence[tuple[str, ir.Node]]
) -> list[tuple[tuple[str, ir.Node], tuple[str, ir.Node]]]:
    """Two arguments that are computed without calls, and from variables that are never set anew, or the same in both:
    ``distances(a / scale, b / scale)``."""
    changed = {name for part in fn.parts for name in bound_by(part)}
    computed = [(name, node) for name, node in given if type(node) is ir.BinOp and not _calls(node)]
    return [
        (one, other)
        for one, other in itertools.combinations(computed, 2)
        if changed.isdisjoint(_variables(one[1]) ^ _variables(other[1]))
    ]


def _calls(node: ir.Node) -> bool:
    return any(isinstance(part, (ir.Call, ir.Walrus)) for part in below(node))


def _variables(node: ir.Node) -> set[str]:
    return {part.id for part in below(node) if type(part) is ir.Name}


def _given_twice(call: ir.Call, bound: dict[str, Value]) -> Pairs:
    """The parameters to which a call gives one variable: ``distances(x, x)``."""
    names = [arg.value.id for arg in call.args if type(arg.value) is ir.Name]
    if len(set(names)) == len(names):
        return frozenset()
    arrays = [(name, value) for name, value in bound.items() if type(value) is Arr]
    return frozenset(frozenset((p, q)) for p, one in arrays for q, other in arrays if p != q and one is other)


def hole(m: Machine, f: Frame, fn: FuncInfo, call: ir.Call, meeting: Meeting) -> spelling.Hole | None:
    """The root of what is zero wherever a row meets itself."""
    under = spelling.operand_of(call)
    if not under:
        return None
    place = _Place(m, fn, f, *meeting)
    found = _zero(place, call, _DEPTH) if _goes_along(call) else _zero(place, under[0], _DEPTH)
    return spelling.Hole(call.at, last_name(call.func), found, spelling.names_in(under[0])) if found else None


def _zero(place: _Place, node: ir.Node | None, depth: int) -> str:
    """The array whose rows are compared with each other, if an expression is zero where a row meets itself, else ""."""
    node = spelling.written(place.fn.parts, node)
    if not depth:
        return ""
    if type(node) is ir.Name:
        return dict(place.zero).get(node.id, "") or _zero_each_time(place, node.id, depth)
    if type(node) is ir.BinOp:
        if node.op == "-":
            return _difference(place, node) or _both_zero(place, node, depth)
        sides = {"*": [node.left, node.right], "**": [node.left], "/": [node.left]}.get(node.op, [])
        return next((found for side in sides if (found := _zero(place, side, depth - 1))), "")
    return _zero_of_call(place, node, depth) if type(node) is ir.Call else ""


def _zero_each_time(place: _Place, name: str, depth: int) -> str:
    """Of a variable that is set to one thing, and then perhaps to what is computed from that: each of these is zero."""
    values = spelling.each_set(place.fn.parts, name)
    array = _zero(place, values[0], depth - 1) if len(values) > 1 else ""
    there = place._replace(zero=place.zero | {(name, array)})
    return array if array and all(_zero(there, other, depth - 1) for other in values[1:]) else ""


def _zero_of_call(place: _Place, node: ir.Call, depth: int) -> str:
    of_pair = bool(place.rows) and last_name(node.func) in lexicon().gradients.of_rows  # one pair has one row
    if last_name(node.func) in _ODD or of_pair or _goes_along(node):
        return next((_zero(place, part, depth - 1) for part in spelling.operand_of(node)), "")
    bounded = _bounded_by_zero(node)
    return _zero(place, bounded, depth - 1) if bounded is not None else _returned(place, node, depth)


def _bounded_by_zero(call: ir.Call) -> ir.Node | None:
    """What a call keeps from being negative, but not from being zero: ``jnp.maximum(x, 0.0)``, ``x.clip(0)``."""
    words = {name.rpartition(".")[2] for name in lexicon().gradients.bounding}
    given = [arg.value for arg in call.args if arg.name in (None, "min", "a_min") and not arg.star][:2]
    if len(given) == 1 and type(call.func) is ir.Attr:
        given.insert(0, call.func.obj)
    if last_name(call.func) not in words or len(given) != 2:
        return None
    bounds = [spelling.number(node) for node in given]
    return next(
        (one for one, bound in zip(given, reversed(bounds)) if bound is not None and bound <= 0), None
    )


def _goes_along(call: ir.Call) -> bool:
    """Whether a call puts the numbers of each row together: ``jnp.sum(x, axis=-1)``."""
    if last_name(call.func) not in lexicon().gradients.of_rows:
        return False
    named = next((arg.value for arg in call.args if arg.name == "axis"), None)
    plain = [arg.value for arg in call.args if not arg.name]
    axis = named if named is not None else plain[-1] if plain else None
    return spelling.number(axis) in _LAST


def _returned(place: _Place, call: ir.Call, depth: int) -> str:
    """A function of the project was called: what it returns, if that is one expression."""
    pairs = _mapped_twice(place, call) or _mapped_by_axes(place, call)
    if pairs is not None:
        inner, names, array = pairs
        frame = place.frame if inner.node.is_lambda else None
        there = place._replace(fn=inner, frame=frame, rows=frozenset((frozenset(names),)))
        return array if _zero(there, only_returned(inner.parts), depth - 1) else ""
    called = place.value(call.func)
    method = paths.method(place.m, place.frame, call.func)[0] if place.frame is not None else None
    called = method if called is None else called
    if type(called) is not Func or called.fn.node.is_generator:
        return ""
    params = called.fn.node.params[0 if called is not method else 1 :]
    met = _met_rows(place, list(by_parameter(call, params)))
    found = _zero(
        _Place(place.m, called.fn, None, rows=frozenset(met)), only_returned(called.fn.parts), depth - 1
    )
    return next((array for pair, array in met.items() if found in pair and array), found)


def _met_rows(place: _Place, given: Sequence[tuple[str, ir.Node]]) -> dict[frozenset[str], str]:
    """The parameters that are given all rows of an array, each with each, two at a time, with the array if it is spread here:
    ``apart(x[:, None], x[None])``."""
    plain = [(name, node.id) for name, node in given if type(node) is ir.Name]
    found = {
        frozenset((one, other)): ""
        for one, first in plain
        for other, second in plain
        if frozenset((first, second)) in place.rows
    }
    new = [(name, spread) for name, node in given if (spread := _spread(place.fn.parts, node)) is not None]
    for one, first in new:
        for other, second in new:
            alike = first.axis < second.axis and _are_one(place, first.array, second.array)
            if alike and not _is_flat(place.value(first.array)):
                found[frozenset((one, other))] = path_text(first.array) or "an array"
    return found


def _mapped_twice(place: _Place, call: ir.Call) -> tuple[FuncInfo, tuple[str, str], str] | None:
    """The inner function of ``vmap(lambda a: vmap(lambda b: ...)(x))(x)``, its two rows, and the array that they are of."""
    outer = _mapped(place, call)
    inner = only_returned(outer[0].parts) if outer is not None else None
    within = _mapped(place, inner) if type(inner) is ir.Call else None
    if outer is None or within is None or outer[2] != within[2]:
        return None
    return within[0], (outer[1], within[1]), outer[2]


def _mapped_by_axes(place: _Place, call: ir.Call) -> tuple[FuncInfo, tuple[str, str], str] | None:
    """The same of ``vmap(vmap(f, (None, 0)), (0, None))(x, x)``, each map with a name of its own perhaps."""
    outer = _axes_of(place, call.func)
    inner = _axes_of(place, outer[0]) if outer is not None else None
    func = place.value(inner[0]) if inner is not None else None
    if outer is None or inner is None or type(func) is not Func:
        return None
    given = dict(by_parameter(call, func.fn.node.params))
    first, second = (_one_row(func.fn, axes) for axes in (outer[1], inner[1]))
    if first == second or not given.keys() >= {first, second}:
        return None
    if not _are_one(place, given[first], given[second]):
        return None
    flat = _is_flat(place.value(given[first]))
    return None if flat else (func.fn, (first, second), path_text(given[first]) or "an array")


def _one_row(fn: FuncInfo, axes: Sequence[float | None]) -> str:
    """The only parameter that is mapped, else ""."""
    rows = [param.name for param, axis in zip(fn.node.params, axes) if axis == 0]
    return rows[0] if len(rows) == 1 else ""


def _axes_of(place: _Place, node: ir.Node) -> tuple[ir.Expr, list[float | None]] | None:
    """What is mapped, and along which axes, each of them 0 or none: ``vmap(f, in_axes=(0, None))``."""
    made = spelling.written(place.fn.parts, node)
    if type(made) is not ir.Call or last_name(made.func) != "vmap" or len(made.args) != 2:
        return None
    mapped, axes = made.args
    told = axes.value.elts if isinstance(axes.value, (ir.Tuple, ir.List)) else []
    found = [None if _is_none(one) else spelling.number(one) for one in told]
    known = all(_is_none(one) or number == 0 for one, number in zip(told, found))
    return (mapped.value, found) if told and known and axes.name in (None, "in_axes") else None


def _mapped(place: _Place, call: ir.Call) -> tuple[FuncInfo, str, str] | None:
    """The lambda of one row that a call maps over an array, its parameter, and the array; None if it is something else."""
    func = call.func
    over = path_text(call.args[0].value) if len(call.args) == 1 else ""
    if not over or type(func) is not ir.Call or last_name(func.func) != "vmap" or len(func.args) != 1:
        return None
    one = func.args[0].value
    fn = place.fn.module.functions[one.function] if type(one) is ir.Lambda else None
    return (fn, fn.first, over) if fn is not None and len(fn.node.params) == 1 else None


def _both_zero(place: _Place, node: ir.BinOp, depth: int) -> str:
    """What both sides of a difference are zero for."""
    left = _zero(place, node.left, depth - 1)
    return left if left and _zero(place, node.right, depth - 1) else ""


def _difference(place: _Place, node: ir.BinOp) -> str:
    """The array, if all of its rows are taken from all of its rows: ``x[:, None] - x[None]``."""
    sides = [side.id for side in (node.left, node.right) if type(side) is ir.Name]
    if len(set(sides)) == 2 and frozenset(sides) in place.rows:
        return sides[0]
    left, right = (_spread(place.fn.parts, side) for side in (node.left, node.right))
    if (
        left is None
        or right is None
        or left.axis == right.axis
        or not _are_one(place, left.array, right.array)
    ):
        return ""
    array = place.value(left.array)
    return "" if _is_flat(array) else path_text(left.array) or "an array"


def _is_flat(array: Value | None) -> bool:
    """Whether the rows of an array are single numbers."""
    return type(array) is Arr and rank_of(array) == 1


def _spread(parts: Sequence[ir.Node], node: ir.Node) -> NewAxis | None:
    """The array, and where its new axis is: ``x[:, None]``, ``jnp.expand_dims(x, 1)``."""
    node = spelling.written(parts, node) or node
    if type(node) is ir.Sub:
        axis = _new_axis(node.index)
        return None if axis is None else NewAxis(node.obj, axis)
    if type(node) is not ir.Call or last_name(node.func) != "expand_dims" or len(node.args) != 2:
        return None
    array, where = node.args
    number = spelling.number(where.value)
    if number is None or number < 0 or array.name or where.name not in (None, "axis"):
        return None
    return NewAxis(array.value, int(number))


def _are_one(place: _Place, one: ir.Node, other: ir.Node) -> bool:
    """Whether two expressions are certainly the same array."""
    if same_text(one, other):
        return True
    if type(one) is not ir.Name or type(other) is not ir.Name or place.frame is None:
        return False
    held, pair = place.frame.scope.vars, frozenset((one.id, other.id))
    if pair not in place.alike:
        return False
    return held.get(one.id) is held.get(other.id) or pair.isdisjoint(
        name for part in place.fn.parts for name in bound_by(part)
    )


def _new_axis(index: ir.Node) -> int | None:
    """Where the only new axis of an index stands, which takes all there is otherwise: ``[:, None]``."""
    parts: Sequence[ir.Node] = index.elts if type(index) is ir.Tuple else [index]
    new = [number for number, part in enumerate(parts) if _is_none(part)]
    whole = all(_is_none(part) or _is_whole(part) for part in parts)
    return new[0] if len(new) == 1 and whole else None


def _is_none(node: ir.Node) -> bool:
    return (type(node) is ir.Const and node.kind == "none") or last_name(node) == "newaxis"


def _is_whole(node: ir.Node) -> bool:
    if type(node) is ir.Slice:
        return node.lo is None and node.hi is None and node.step is None
    return type(node) is ir.Const and node.kind == "ellipsis"
