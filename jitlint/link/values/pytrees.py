"""Crossing a transform boundary: which leaves become tracers on the way in and arrays on the way out (layer: ``link``, room ``values``)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jitlint.infer.grounds import GUESSED, RULED, SEEN, Ground
from jitlint.infer.lattice import join, parts, traced_level, traced_modes, why_of
from jitlint.infer.program import ClassInfo
from jitlint.infer.sizes import DEPTH, is_large
from jitlint.infer.values import (
    FRESH,
    LOOPS,
    NONE,
    UNKNOWN,
    Arr,
    ExtInst,
    Inst,
    L,
    Map,
    Py,
    Seq,
    Tree,
    Tup,
    Union,
    Value,
)
from jitlint.link.values.kinds import mro

ABSTRACT_ARRAY = "jax.ShapeDtypeStruct"
"""Describes an array; stands for one where a function is only traced, not run."""

NUMBERS = ("int", "float", "bool", "complex")


def lift(
    value: Value, modes: int, level: int, why: str, arrays_only: bool = False, depth: int = DEPTH
) -> Value:
    """The value as the traced function sees it. Leaves that are no arrays stay as they are.

    arrays_only: Python numbers stay static (Equinox's filtered transforms).
    """
    t = type(value)
    a: Any = value
    if t is Arr:
        return Arr(a.modes | modes, a.dtype, a.rank, a.why or why, level, a.traced, False, a.key, a.kind)
    if t is Tree:
        if arrays_only and a.evidence != "array" and not a.modes:
            return Tree(modes, why, level, GUESSED, a.evidence, a.kind)
        return Tree(a.modes | modes, a.why or why, level, a.traced, a.evidence, a.kind)
    if t is Py:
        if arrays_only:
            return value
        if a.kind in NUMBERS:
            return Arr(modes, _strong(a.kind), 0, why, level)
        return Tree(modes, why, level, GUESSED) if a.kind == "static" else value
    if t is ExtInst and a.dotted == ABSTRACT_ARRAY:
        rank = getattr(a.attrs["ndim"], "const", None)
        return Arr(modes, None, rank if type(rank) is int else None, why, level)
    if depth == 0 or (depth == DEPTH and is_large(value)):
        return UNKNOWN
    if t is Tup:
        static = _static_items(a)
        items = [
            v if i in static else lift(v, modes, level, why, arrays_only, depth - 1)
            for i, v in enumerate(a.items)
        ]
        return Tup(tuple(items), a.cls)
    if t is Seq:
        if a.kind not in ("list", "tuple", "deque"):
            return value
        if a.items is not None:
            return Seq(
                a.kind, [lift(i, modes, level, why, arrays_only, depth - 1) for i in a.items], None, level
            )
        rest = None if a.rest is None else lift(a.rest, modes, level, why, arrays_only, depth - 1)
        return Seq(a.kind, None, rest, level)
    if t is Map:
        entries = {k: lift(v, modes, level, why, arrays_only, depth - 1) for k, v in a.entries.items()}
        rest = None if a.rest is None else lift(a.rest, modes, level, why, arrays_only, depth - 1)
        return Map(entries, rest, level, None, a.key)
    if t is Inst:
        return _lift_instance(a, modes, level, why, arrays_only, depth)
    if t is Union:
        out: Value | None = None
        for alt in a.alts:
            one = lift(alt, modes, level, why, arrays_only, depth - 1)
            out = one if out is None else join(out, one)
        return out if out is not None else UNKNOWN
    return value


def _strong(kind: str) -> str:
    """The dtype of an array made of a Python number; an integer is weakly typed and may become a float."""
    return "number" if kind == "int" else kind


def _static_items(value: Tup) -> frozenset[int]:
    """The fields of a NamedTuple that its own registration keeps out of the children."""
    data = value.cls.data_fields if value.cls is not None else None
    if value.cls is None or data is None:
        return frozenset()
    return frozenset([i for i, name in enumerate(value.cls.fields) if name not in data])


def is_pytree(info: ClassInfo) -> bool:
    """Whether instances may cross a boundary: registered, or of a library class that registers its subclasses."""
    return any(cls.pytree for cls in mro(info)) or info.shape == "namedtuple"


def meta_names(info: ClassInfo) -> frozenset[str]:
    """Attributes that stay static when an instance is flattened."""
    out: frozenset[str] = frozenset()
    for cls in mro(info):
        out |= cls.meta_fields
        for name, (_, default) in cls.fields.items():
            if is_static_field(default):
                out |= {name}
    return out


def is_static_field(default: Value | None) -> bool:
    """``field(static=True)``, ``field(pytree_node=False)``, ``metadata=dict(static=True)``."""
    if type(default) is not ExtInst:
        return False
    static, node = default.attrs.get("static"), default.attrs.get("pytree_node")
    if (type(static) is Py and static.const is True) or (type(node) is Py and node.const is False):
        return True
    metadata = default.attrs.get("metadata")
    if type(metadata) is Map:
        flag, node = metadata.entries.get("static"), metadata.entries.get("pytree_node")
        return (type(flag) is Py and flag.const is True) or (type(node) is Py and node.const is False)
    return False


def _lift_instance(value: Inst, modes: int, level: int, why: str, arrays_only: bool, depth: int) -> Value:
    info = value.cls
    if not is_pytree(info):
        return value
    static = meta_names(info)
    known = next((c.data_fields for c in mro(info) if c.data_fields is not None), None)
    opaque = known is None and any(c.opaque_flatten for c in mro(info))
    attrs: dict[str, Value] = {}
    for name, part in value.attrs.items():
        if name in static or (known is not None and name not in known):
            attrs[name] = part
        elif opaque and (part is UNKNOWN or type(part) is Py):
            attrs[name] = UNKNOWN  # perhaps a child, perhaps not
        elif part is UNKNOWN:
            attrs[name] = UNKNOWN if info.role in ("eqx", "nnx", "distribution") else Tree(modes, why, level)
        else:
            attrs[name] = lift(part, modes, level, why, arrays_only or info.role in ("eqx", "nnx"), depth - 1)
    out = Inst(info, attrs, level, None, value.open)
    if info.role in ("struct",) or (known is None and info.role == ""):
        out.modes = modes
        out.why = why
    return out


def lower(value: Value, drop: int, here: int, level: int, outer: int = 0, depth: int = DEPTH) -> Value:
    """What comes out of a transform: the boundary's own modes are gone, those of the world around stay.

    ``outer``: modes that the arguments already had outside.
    """
    t = type(value)
    a: Any = value
    if t is Arr:
        modes = _lowered(a.modes, drop, here, outer)
        return Arr(
            modes,
            a.dtype,
            a.rank,
            a.why if modes else "",
            min(a.level, level) if a.modes else level,
            SEEN if here else a.traced,
            False,
            a.key,
            a.kind,
        )
    if t is Tree:
        modes = _lowered(a.modes, drop, here, outer)
        inside = min(a.level, level) if a.modes else level
        return Tree(modes, a.why if modes else "", inside, a.traced, a.evidence, a.kind)
    if t is Py:
        return Arr(here | outer, _strong(a.kind), 0, "", level) if a.kind in NUMBERS else value
    if depth == 0 or (depth == DEPTH and is_large(value)):
        return UNKNOWN
    if t is Tup:
        return Tup(tuple([lower(i, drop, here, level, outer, depth - 1) for i in a.items]), a.cls)
    if t is Seq:
        if a.items is not None:
            return Seq(a.kind, [lower(i, drop, here, level, outer, depth - 1) for i in a.items], None, level)
        return Seq(
            a.kind,
            None,
            None if a.rest is None else lower(a.rest, drop, here, level, outer, depth - 1),
            level,
        )
    if t is Map:
        entries = {k: lower(v, drop, here, level, outer, depth - 1) for k, v in a.entries.items()}
        return Map(
            entries,
            None if a.rest is None else lower(a.rest, drop, here, level, outer, depth - 1),
            level,
            None,
            a.key,
        )
    if t is Inst:
        if not is_pytree(a.cls):
            return value
        static = meta_names(a.cls)
        attrs = {
            k: v
            if k in static or (type(v) is Py and a.cls.role in ("eqx", "nnx"))
            else lower(v, drop, here, level, outer, depth - 1)
            for k, v in a.attrs.items()
        }
        out = Inst(a.cls, attrs, level, None, a.open)
        out.modes = (a.modes & ~drop) | (here if a.modes else 0)
        out.why = a.why
        return out
    if t is Union:
        joined: Value | None = None
        for alt in a.alts:
            one = lower(alt, drop, here, level, outer, depth - 1)
            joined = one if joined is None else join(joined, one)
        return joined if joined is not None else UNKNOWN
    return value


def _lowered(modes: int, drop: int, here: int, outer: int) -> int:
    left = (modes & ~drop) | here | (modes & outer)
    return left if left & L else left & ~LOOPS


def leaf(value: Value, depth: int = DEPTH) -> Value:
    """The join of a pytree's leaves; what `jax.tree.map` hands to its function."""
    t = type(value)
    a: Any = value
    if t in (Arr, Py) or value is UNKNOWN:
        return value
    if t is Tree:
        return Arr(a.modes, None, None, a.why, a.level, a.traced)
    if depth == 0 or (depth == DEPTH and is_large(value)):
        return UNKNOWN
    inner: list[Value] = []
    if t is Tup:
        inner = list(a.items)
    elif t is Seq:
        inner = list(a.items) if a.items is not None else [a.rest] if a.rest is not None else []
    elif t is Map:
        inner = [*a.entries.values(), *([a.rest] if a.rest is not None else [])]
    elif t is Inst:
        static = meta_names(a.cls)
        inner = [v for k, v in a.attrs.items() if k not in static] if is_pytree(a.cls) else [value]
        if inner == [value]:
            return value
    elif t is Union:
        inner = list(a.alts)
    else:
        return value
    out: Value | None = None
    for part in inner:
        if part is NONE:
            continue
        one = leaf(part, depth - 1)
        out = one if out is None else join(out, one)
    return out if out is not None else UNKNOWN


def remode(value: Value, change: Callable[[int], int], depth: int = DEPTH) -> Value:
    """Every leaf with other modes; containers that nothing changes in stay themselves."""
    t = type(value)
    a: Any = value
    if t is Arr or t is Tree:
        modes = change(a.modes)
        if modes == a.modes:
            return value
        if t is Tree:
            return Tree(modes, a.why, a.level, a.traced, a.evidence, a.kind)
        out = Arr(modes, a.dtype, a.rank, a.why, a.level, a.traced, a.host, a.key, a.kind)
        out.dims = a.dims
        return out
    if t not in (Tup, Seq, Map, Inst, Union) or depth == 0 or (depth == DEPTH and is_large(value)):
        return value
    old = parts(value)
    new = [remode(part, change, depth - 1) for part in old]
    if all(i is j for i, j in zip(old, new)):
        return value
    if t is Tup:
        return Tup(tuple(new), a.cls)
    if t is Union:
        return functools.reduce(join, new)
    if t is Seq:
        return Seq(
            a.kind, new if a.items is not None else None, None if a.items is not None else new[0], a.level
        )
    if t is Map:
        rest = new.pop() if a.rest is not None else None
        return Map(dict(zip(a.entries, new)), rest, a.level, None, a.key)
    inst = Inst(a.cls, dict(zip(a.attrs, new)), a.level, None, a.open)
    inst.modes, inst.why = a.modes, a.why
    return inst


def with_rank(value: Value, change: int | None, depth: int = DEPTH) -> Value:
    """Every array leaf with so many axes more or less; None: with an unknown number of axes."""
    t = type(value)
    a: Any = value
    if t is Arr:
        rank = None if change is None or a.rank is None or a.rank + change < 0 else a.rank + change
        return Arr(a.modes, a.dtype, rank, a.why, a.level, a.traced, a.host, a.key, a.kind)
    if depth == 0 or (depth == DEPTH and is_large(value)):
        return UNKNOWN
    if t is Tup:
        return Tup(tuple([with_rank(i, change, depth - 1) for i in a.items]), a.cls)
    if t is Map:
        rest = None if a.rest is None else with_rank(a.rest, change, depth - 1)
        return Map(
            {k: with_rank(v, change, depth - 1) for k, v in a.entries.items()}, rest, a.level, None, a.key
        )
    if t is Seq and a.kind == "list" and a.items is not None:
        return Seq("list", [with_rank(i, change, depth - 1) for i in a.items], None, a.level)
    if t is Inst and is_pytree(a.cls):
        attrs = {k: with_rank(v, change, depth - 1) for k, v in a.attrs.items()}
        return Inst(a.cls, attrs, a.level, None, a.open)
    if t is Union:
        out: Value | None = None
        for alt in a.alts:
            one = with_rank(alt, change, depth - 1)
            out = one if out is None else join(out, one)
        return out if out is not None else UNKNOWN
    return value


def on_ground(value: Value, ground: Ground, depth: int = DEPTH) -> Value:
    """Every traced leaf with a ground for being traced that is no better than this one."""
    t = type(value)
    a: Any = value
    if t is Arr:
        kind = ground if ground in (SEEN, RULED) else max(a.kind, ground)
        return Arr(a.modes, a.dtype, a.rank, a.why, a.level, max(a.traced, ground), a.host, a.key, kind)
    if t is Tree:
        return Tree(a.modes, a.why, a.level, max(a.traced, ground), a.evidence, a.kind)
    if depth == 0 or (depth == DEPTH and is_large(value)):
        return UNKNOWN
    if t is Tup:
        return Tup(tuple([on_ground(i, ground, depth - 1) for i in a.items]), a.cls)
    if t is Seq and a.items is not None:
        return Seq(a.kind, [on_ground(i, ground, depth - 1) for i in a.items], None, a.level)
    if t is Seq:
        return Seq(a.kind, None, None if a.rest is None else on_ground(a.rest, ground, depth - 1), a.level)
    if t is Map:
        rest = None if a.rest is None else on_ground(a.rest, ground, depth - 1)
        return Map(
            {k: on_ground(v, ground, depth - 1) for k, v in a.entries.items()}, rest, a.level, None, a.key
        )
    if t is Inst and is_pytree(a.cls):
        out = Inst(
            a.cls, {k: on_ground(v, ground, depth - 1) for k, v in a.attrs.items()}, a.level, None, a.open
        )
        out.modes, out.why = a.modes, a.why
        return out
    if t is Union:
        joined: Value | None = None
        for alt in a.alts:
            one = on_ground(alt, ground, depth - 1)
            joined = one if joined is None else join(joined, one)
        return joined if joined is not None else UNKNOWN
    return value


def children(value: Value) -> list[Value] | None:
    """The children of a tuple, list or dict whose items are all known, else None."""
    if type(value) is Tup:
        return list(value.items)
    if type(value) is Map and value.rest is None:
        return [value.entries[k] for k in sorted(value.entries, key=str)]
    return (
        list(value.items) if type(value) is Seq and value.kind == "list" and value.items is not None else None
    )


def with_children(value: Value, parts: list[Value]) -> Value:
    """The same tuple, list or dict with other children, in the order of `children`."""
    if type(value) is Tup:
        return Tup(tuple(parts), value.cls)
    if type(value) is Map:
        return Map(dict(zip(sorted(value.entries, key=str), parts)), None, FRESH)
    return Seq("list", parts, None, FRESH)


def rebuild(value: Value, new_leaf: Value, depth: int = DEPTH) -> Value:
    """The same structure with every leaf replaced."""
    t = type(value)
    a: Any = value
    if depth == 0 or (depth == DEPTH and is_large(value)):
        return UNKNOWN
    if t is Tup:
        return Tup(tuple([rebuild(i, new_leaf, depth - 1) for i in a.items]), a.cls)
    if t is Seq:
        if a.items is not None:
            return Seq(a.kind, [rebuild(i, new_leaf, depth - 1) for i in a.items], None, FRESH)
        rest = None if a.rest is None else rebuild(a.rest, new_leaf, depth - 1)
        return Seq(a.kind, None, rest, FRESH)
    if t is Map:
        rest = None if a.rest is None else rebuild(a.rest, new_leaf, depth - 1)
        return Map(
            {k: rebuild(v, new_leaf, depth - 1) for k, v in a.entries.items()}, rest, FRESH, None, a.key
        )
    if t is Inst and is_pytree(a.cls):
        static = meta_names(a.cls)
        attrs = {
            k: v if k in static or type(v) is Py else rebuild(v, new_leaf, depth - 1)
            for k, v in a.attrs.items()
        }
        return Inst(a.cls, attrs, FRESH, None, a.open)
    if t is Tree:
        if type(new_leaf) is Arr:
            return Tree(new_leaf.modes, new_leaf.why, new_leaf.level, new_leaf.traced, a.evidence, a.kind)
        return UNKNOWN
    if value is NONE or value is UNKNOWN:
        return value
    if t is ExtInst and a.dotted != ABSTRACT_ARRAY:
        # what a library gave may be a leaf or hold any number of them
        modes = traced_modes(new_leaf)
        return Tree(modes, why_of(new_leaf), traced_level(new_leaf), GUESSED) if modes else UNKNOWN
    return new_leaf


def references(value: Value, modes: int, level: int, why: str) -> Value:
    """What a kernel gets for a pytree of arrays: mutable references, whose elements are traced."""
    if type(value) is Tup:
        return Tup(tuple([references(v, modes, level, why) for v in value.items]), value.cls)
    parts = children(value)
    if parts:
        return with_children(value, [references(part, modes, level, why) for part in parts])
    if value is NONE or type(value) is Inst:
        return NONE if value is NONE else UNKNOWN
    return Tree(modes, why, level, SEEN, "ref", SEEN)


def constant_strings(value: Value) -> list[str]:
    """The strings of a constant list or tuple of strings."""
    items: list[Value] = []
    if type(value) is Tup:
        items = list(value.items)
    elif type(value) is Seq and value.items is not None:
        items = value.items
    elif type(value) is Py:
        items = [value]
    return [i.const for i in items if type(i) is Py and isinstance(i.const, str)]
