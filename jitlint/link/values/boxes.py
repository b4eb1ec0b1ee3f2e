"""Making, copying and changing list and dict boxes (layer: ``link``, room ``values``).

A box may be changed precisely only by code that certainly runs after its making and before every later read:
that is when box and frame carry the same region token. Otherwise a change only widens what the box may hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from jitlint.infer import changes
from jitlint.infer.lattice import joined, or_unknown
from jitlint.infer.sizes import fitting
from jitlint.infer.values import (
    NO_CONST,
    UNKNOWN,
    Arr,
    Inst,
    Map,
    Py,
    Seq,
    Tree,
    Tup,
    Union,
    Value,
    alternatives,
    const_of,
    py,
)
from jitlint.link.engine.budgets import MAX_ITEMS
from jitlint.link.engine.domain import Change, Store
from jitlint.link.engine.events import emit_convert
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import hashing, iteration, keys, subscripts


def each(value: Value, one: Callable[[Value], Value]) -> Value:
    """The join of a function's results over the alternatives of a value."""
    if type(value) is not Union:
        return one(value)
    return or_unknown(joined([one(alt) for alt in value.alts]))


def argument(args: Args, index: int, name: str = "") -> Value | None:
    """A positional or named argument, or what an unknown ``*`` brings in its place; None when absent."""
    found = args.get(index, name)
    return args.more if found is None else found


def owned(f: Frame, box: Seq | Map | Inst) -> bool:
    """Whether a change of the box in this place may be recorded precisely."""
    return box.token is not None and box.token is f.token and box.level == f.world.level


@contextmanager
def repeated(f: Frame) -> Iterator[None]:
    """Inside, code runs any number of times: boxes made outside are widened, not changed precisely."""
    token, f.token = f.token, object()
    try:
        yield
    finally:
        f.token = token


def make_seq(f: Frame, kind: str, items: list[Value] | None, rest: Value | None = None) -> Seq:
    """A new sequence made here; with too many items it keeps only their join."""
    if items is not None and len(items) > MAX_ITEMS:
        rest, items = joined(items), None
    return Seq(kind, items, None if items is not None else rest, f.world.level, f.token)


def make_map(f: Frame, entries: dict[Any, Value], rest: Value | None = None, key: Value | None = None) -> Map:
    """A new dict made here."""
    return Map(entries, rest, f.world.level, f.token, key)


def spread(
    m: Machine, f: Frame, at: int, iterable: Value, quiet: bool = False
) -> tuple[list[Value] | None, Value | None]:
    """The elements when all are known, else (None, their join; None when nothing is known to be inside). quiet: something else
    may be there."""
    if f.world.floor and type(iterable) is Seq:
        m.domains.on_change(f, Change(at, iterable, "iteration"))
    items = iteration.known_items(iterable)
    if items is None and type(iterable) is Arr and iterable.key is not None:
        items = keys.items(m, iterable)
    if items is not None:
        return items, None
    if type(iterable) is Map and not iterable.entries and iterable.rest is None:
        return [], None
    if type(iterable) is Seq:
        return None, iterable.rest
    element = iteration.element(m, f, at, iterable, quiet)
    return None, None if type(iterable) is Arr and iterable.rank == 0 else element


def collect(m: Machine, f: Frame, at: int, iterable: Value, kind: str) -> Value:
    """``list(iterable)``, ``tuple(iterable)`` and the like."""

    def one(alt: Value) -> Value:
        items, rest = spread(m, f, at, alt, quiet=type(iterable) is Union)
        if kind == "tuple" and items is not None and len(items) <= MAX_ITEMS:
            return Tup(tuple(items))
        return make_seq(f, kind, items, rest)

    return each(iterable, one)


def copy_box(f: Frame, box: Seq | Map) -> Value:
    """A shallow copy made here."""
    if isinstance(box, Map):
        return make_map(f, dict(box.entries), box.rest, box.key)
    return make_seq(f, box.kind, None if box.items is None else list(box.items), box.rest)


def add_items(f: Frame, box: Seq, values: list[Value], index: int | None) -> None:
    """Put values before a known index (None: somewhere)."""
    values = [fitting(box, value) for value in values]
    items = box.items
    if items is not None and index is not None and owned(f, box) and len(items) + len(values) <= MAX_ITEMS:
        items[index:index] = values
        return
    for value in values:
        changes.widen(box, value)
    if not values:
        changes.forget_length(box)


def put(m: Machine, f: Frame, at: int, box: Map, key: Value, value: Value) -> None:
    """``box[key] = value`` without the checks of the key."""
    m.domains.on_store(f, Store(at, "element", box, None, value))
    changes.put(box, key, value, strong=owned(f, box))


def put_all(m: Machine, f: Frame, at: int, box: Map, source: Value) -> None:
    """``box.update(source)``: a mapping or an iterable of pairs."""
    certain = type(source) is not Union
    for alt in alternatives(source):
        if type(alt) is Map:
            for key, value in list(alt.entries.items()):
                if certain:
                    put(m, f, at, box, py(key), value)
                else:
                    with repeated(f):
                        put(m, f, at, box, py(key), value)
            if alt.rest is not None:
                put(m, f, at, box, or_unknown(alt.key), alt.rest)
        elif type(alt) is Tree:
            put(m, f, at, box, UNKNOWN, subscripts.any_item(alt))
        else:
            _put_pairs(m, f, at, box, alt)


def _put_pairs(m: Machine, f: Frame, at: int, box: Map, source: Value) -> None:
    items, rest = spread(m, f, at, source)
    if items is None:
        items = [] if rest is None else [rest]
    for item in items:
        pair = iteration.known_items(item)
        if pair is not None and len(pair) == 2:
            put(m, f, at, box, pair[0], pair[1])
        else:
            put(m, f, at, box, UNKNOWN, iteration.element(m, f, at, item, quiet=True))


def pairs_of(m: Machine, f: Frame, at: int, box: Map) -> list[Value]:
    """The (key, value) tuples of a dict; one for all unknown keys."""
    out: list[Value] = [Tup((py(key), value)) for key, value in box.entries.items()]
    if box.rest is not None:
        out.append(Tup((or_unknown(box.key), box.rest)))
    return out


def const_int(value: Value | None) -> int | None:
    """The exact integer that a value denotes, else None."""
    const = value.const if type(value) is Py else NO_CONST
    return const if type(const) is int else None


def only_constant(args: Args) -> object:
    """The constant that a call gets as its only argument; NO_CONST for any other call."""
    alone = len(args.pos) == 1 and not args.kw and args.more is None and args.kw_more is None
    return const_of(args.pos[0]) if alone else NO_CONST


def const_text(value: Value | None) -> str | None:
    """The exact text that a value denotes, else None."""
    const = value.const if type(value) is Py else NO_CONST
    return const if isinstance(const, str) else None


def is_array(value: Value) -> bool:
    """Whether a value is an array or a pytree that may be one."""
    return type(value) is Arr or type(value) is Tree


def with_attributes(f: Frame, inst: Inst, changes: dict[str, Value]) -> Inst:
    """A copy of an instance made here with some attributes replaced."""
    new = Inst(inst.cls, {**inst.attrs, **changes}, f.world.level, f.token, inst.open)
    new.modes, new.why = inst.modes, inst.why
    return new


_STAMPED: Final = 64
"""Containers with more parts are tables, which nobody changes after they are given."""


def stamp(value: Value, depth: int = 3) -> object:
    """What a container, and those inside it, hold at the moment; None for what is no container that can be changed."""
    parts = _changeable(value)
    if parts is None:
        below = [stamp(part, depth - 1) for part in value.items] if type(value) is Tup and depth else []
        return below if any(below) else None
    if len(parts) > _STAMPED:
        return None
    return [id(part) for part in parts], [stamp(part, depth - 1) for part in parts] if depth else []


def _changeable(value: Value) -> list[Value] | None:
    if type(value) is Map:
        parts = [*value.entries.values(), value.rest]
    elif type(value) is Seq and value.kind != "tuple":
        parts = [*(value.items or ()), value.rest]
    else:
        return None
    return [part for part in parts if part is not None]


def entries_for(obj: Map, index: Value) -> Map:
    """The entries that an unknown key may mean, by the type of the keys."""
    kind = changes.type_of_key(index)
    if kind is None or all(isinstance(key, kind) for key in obj.entries):
        return obj
    fitting = {key: value for key, value in obj.entries.items() if isinstance(key, kind)}
    return Map(fitting, obj.rest, obj.level, obj.token, obj.key)


def remove(m: Machine, f: Frame, at: int, target: Map | Seq, index: Value) -> None:
    """``del target[index]`` of a container."""
    if isinstance(target, Seq):
        emit_convert(m, f, at, index, "index", "list deletion")
        changes.forget_length(target)
        return
    hashing.hashed(m, f, at, index, "dict key")
    if type(index) is Py and index.const in target.entries:
        changes.lose(target, index, strong=owned(f, target))
