"""Modules of Equinox that are split, put together and changed in part (layer: ``link``, room ``models``).

What it does: says what is left in a part of a module, that functions come back when the parts are combined, and what
`tree_at` leaves as it was and puts in other places. What it does not: follow filters, or places that are no plain attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.infer.objects import NO_ARRAYS, is_cold
from jitlint.infer.sizes import DEPTH
from jitlint.infer.values import FRESH, NONE, UNKNOWN, Arr, Ext, ExtInst, Func, Inst, Map, Py, Seq, Tup, Value
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import flattening, iteration, pytrees
from jitlint.link.values.questions import no_arrays
from jitlint.syntax import ir

TREE_AT: Final = "equinox.tree_at"
_ARRAYS: Final[dict[str, tuple[str, ...]]] = {
    "equinox.is_array": (),
    "equinox.is_inexact_array": ("float", "bfloat", "complex", "inexact"),
}
"""Filters, with the data types of the arrays that they let through, none if all."""


def partition(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """The arrays of a tree, and the rest."""
    value, kept = args.get(0, "pytree") or UNKNOWN, args.get(1, "filter_spec")
    if type(kept) is Ext and kept.dotted in _ARRAYS and type(value) is Inst and not value.open:
        return Tup((_arrays_of(value, _ARRAYS[kept.dotted], DEPTH), value))
    return Tup((_less(value), value))


def _arrays_of(value: Value, kinds: tuple[str, ...], depth: int) -> Value:
    """A tree of which only arrays are left; the fields that are no leaves stay. kinds: of data types, none for all."""
    if type(value) is Arr:
        other = bool(kinds) and value.dtype is not None and not value.dtype.startswith(kinds)
        return UNKNOWN if value.host else NONE if other else value
    if type(value) is Inst and depth:
        static = flattening.static_names(value)
        attrs = {
            name: part if name in static else _arrays_of(part, kinds, depth - 1)
            for name, part in value.attrs.items()
        }
        return Inst(value.cls, attrs, value.level, None, value.open)
    parts = pytrees.children(value) if depth else None
    if parts is None:
        return NONE if type(value) in NO_ARRAYS or type(value) is Py else UNKNOWN  # layers hold both
    return pytrees.with_children(value, [_arrays_of(part, kinds, depth - 1) for part in parts])


def _less(value: Value) -> Value:
    """A tree without those of its leaves that were filtered out: nobody knows which its modules still have."""
    if type(value) is Inst:
        return Inst(value.cls, dict(value.attrs), value.level, None, True)
    parts = pytrees.children(value)
    if parts is None:
        return value if type(value) is Arr else UNKNOWN
    return pytrees.with_children(value, [_less(part) for part in parts])


def combine(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Parts of one tree are put together: functions, which no array takes the place of, come from the last."""
    first = args.get(0, "pytrees") or UNKNOWN
    whole = args.pos[-1] if len(args.pos) > 1 and args.more is None else first
    if type(whole) is not Inst or whole.open or is_cold(whole) or first is whole:
        return first
    return _together(m, first, whole, DEPTH) if first is UNKNOWN or type(first) is Inst else first


def _together(m: Machine, first: Value, last: Value, depth: int) -> Value:
    """A value of the first part, with the functions of the last."""
    if first is UNKNOWN and type(last) is ExtInst:
        return last
    if no_arrays.not_an_array(m, last) and type(last) is not Inst:
        return last
    if type(last) is not Inst or last.open or is_cold(last) or not depth:
        return first
    if type(first) is not Inst:
        attrs = {name: _together(m, UNKNOWN, value, depth - 1) for name, value in last.attrs.items()}
        return Inst(last.cls, attrs, FRESH, None, False)
    if first.cls is not last.cls:
        return first
    parts = {name: (first.attrs.get(name, UNKNOWN), value) for name, value in last.attrs.items()}
    attrs = {name: _together(m, a, b, depth - 1) for name, (a, b) in parts.items()}
    return Inst(last.cls, {**first.attrs, **attrs}, first.level, None, False)


def at_places(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``tree_at(lambda t: t.a.b, tree, new)``: all but what lies below a place is as it was."""
    where, tree = args.get(0, "where"), args.get(1, "pytree")
    places = list(_places(where)) if type(where) is Func else []
    if where is not None and tree is not None:
        evaluator.call(m, f, at, where, Args([tree]))
    if type(tree) is not Inst or is_cold(tree) or not places or None in places or args.more is not None:
        return ExtInst(TREE_AT)
    out: Value = tree
    for place, new in zip(places, _replacements(where if type(where) is Func else None, args, len(places))):
        out = _with(out, place or (), new)
    return out


def _places(where: Func) -> Iterator[tuple[str, ...] | None]:
    """The attributes that lead to each place; None for one that is found otherwise."""
    body, params = where.fn.body, where.fn.node.params
    last = body[0] if len(body) == 1 else None
    if type(last) is not ir.Return or last.value is None or len(params) != 1:
        yield None
        return
    chosen: Sequence[ir.Node] = [last.value]
    if isinstance(last.value, (ir.Tuple, ir.List)):
        chosen = last.value.elts
    for node in chosen:
        yield _path(node, params[0].name)


def _path(node: ir.Node, name: str) -> tuple[str, ...] | None:
    """The attributes from a name to a place, as far as they are written as such: what is picked from one is part of it."""
    path: list[str] = []
    while type(node) in (ir.Attr, ir.Sub):
        if type(node) is ir.Attr:
            path.append(node.name)
            node = node.obj
        else:
            assert type(node) is ir.Sub
            path.clear()
            node = node.obj
    return tuple(reversed(path)) if type(node) is ir.Name and node.id == name and path else None


def _replacements(where: Func | None, args: Args, count: int) -> list[Value]:
    """What comes to each place. Of what is put into a part of what is found, or computed from it, nothing is known."""
    new = args.get(2, "replace")
    last = where.fn.body[0] if where is not None else None
    if new is None or where is None or any(type(part) is ir.Sub for part in where.fn.parts):
        return [UNKNOWN] * count
    several = type(last) is ir.Return and isinstance(last.value, (ir.Tuple, ir.List))
    items = [new] if not several else iteration.known_items(new) if isinstance(new, (Tup, Seq)) else None
    return items if items is not None and len(items) == count else [UNKNOWN] * count


def _with(tree: Value, path: tuple[str, ...], new: Value) -> Value:
    """A copy with something else at one place."""
    if not path:
        return new
    if type(tree) is not Inst or path[0] not in tree.attrs:
        return UNKNOWN
    attrs = {**tree.attrs, path[0]: _with(tree.attrs[path[0]], path[1:], new)}
    return Inst(tree.cls, attrs, FRESH, None, tree.open)


def in_mode(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A copy in which layers draw, or do not: nothing else is different."""
    return _otherwise(args.get(0, "pytree") or UNKNOWN, DEPTH)


def _otherwise(value: Value, depth: int) -> Value:
    """The same value, of whose layers only their classes are known."""
    if type(value) is Inst:
        attrs = {
            name: _otherwise(part, depth - 1) if depth else UNKNOWN for name, part in value.attrs.items()
        }
        return Inst(value.cls, attrs, FRESH, None, value.open)
    if type(value) is ExtInst:
        return ExtInst(value.dotted)
    if type(value) not in (Tup, Seq, Map):
        return value
    parts = pytrees.children(value)
    if parts is None or not depth:
        return UNKNOWN
    return pytrees.with_children(value, [_otherwise(part, depth - 1) for part in parts])
