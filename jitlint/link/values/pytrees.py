"""Crossing a transform boundary: which leaves become tracers on the way in and arrays on the way out (layer: ``link``, room ``values``)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, Final

from jitlint.catalogue.dtypes import dtype_of, of_number
from jitlint.infer.about import NOTHING, numbered
from jitlint.infer.dims import Dims
from jitlint.infer.grounds import GUESSED, SEEN
from jitlint.infer.lattice import join, parts, reshaped, traced_level, traced_modes, why_of
from jitlint.infer.objects import LEARNT, MADE, NO_ARRAYS, without_notes
from jitlint.infer.sizes import DEPTH, is_large
from jitlint.infer.spreading import of_a_map
from jitlint.infer.values import (
    BEHIND,
    FRESH,
    NO_CONST,
    NONE,
    TRUE,
    UNKNOWN,
    Arr,
    ExtInst,
    Inst,
    L,
    Map,
    Py,
    S,
    Seq,
    Tree,
    Tup,
    Union,
    Value,
)
from jitlint.link.values import flattening
from jitlint.link.values.array_references import REFERENCE, arrived
from jitlint.link.values.library_objects import HELD

ABSTRACT_ARRAY = "jax.ShapeDtypeStruct"
"""Describes an array; stands for one where a function is only traced, not run."""

NUMBERS = ("int", "float", "bool", "complex")

_Change = Callable[[Value], Value]


def _ends(value: Value, depth: int) -> bool:
    """Whether a value is not looked into any more: it is too deep, or as a whole too large."""
    return depth == 0 or (depth == DEPTH and is_large(value))


def _changed_tuple(value: Tup, change: _Change, level: int | None) -> Value:
    static = flattening.static_items(value)
    return value.of([v if i in static else change(v) for i, v in enumerate(value.items)])


def _changed_sequence(value: Seq, change: _Change, level: int | None) -> Value:
    level = value.level if level is None else level
    if value.items is not None:
        return Seq(value.kind, [change(i) for i in value.items], None, level)
    return Seq(value.kind, None, None if value.rest is None else change(value.rest), level)


def _changed_dict(value: Map, change: _Change, level: int | None) -> Value:
    entries = {k: change(v) for k, v in value.entries.items()}
    rest = None if value.rest is None else change(value.rest)
    return Map(entries, rest, value.level if level is None else level, None, value.key)


def _changed_union(value: Union, change: _Change, level: int | None) -> Value:
    return functools.reduce(join, [change(alt) for alt in value.alts])


# The same container with every part changed, at a level (None: its own).
_CHANGED: Final[dict[type, Callable[[Any, _Change, int | None], Value]]] = {
    Tup: _changed_tuple,
    Seq: _changed_sequence,
    Map: _changed_dict,
    Union: _changed_union,
}


def lift(
    value: Value, modes: int, level: int, why: str, arrays_only: bool = False, depth: int = DEPTH, *, sized: bool = False
) -> Value:  # fmt: skip
    """The value as the traced function sees it. Leaves that are no arrays stay as they are.

    arrays_only: Python numbers stay static (Equinox's filtered transforms). sized: arrays keep the sizes of their axes.
    """
    if type(value) is Arr:
        return _lift_array(value, modes, level, why, sized)
    leaf_of = _LIFTED_LEAVES.get(type(value))
    lifted = leaf_of(value, modes, level, why, arrays_only) if leaf_of is not None else None
    if lifted is not None:
        return lifted
    if _ends(value, depth):
        return UNKNOWN
    if type(value) is Inst:
        return _lift_instance(value, modes, level, why, arrays_only, depth, sized)
    if type(value) is Seq and value.kind not in ("list", "tuple", "deque"):
        return value

    def change(part: Value) -> Value:
        return lift(part, modes, level, why, arrays_only, depth - 1, sized=sized)

    if type(value) is Union:
        return _lift_union(value, change, arrays_only)
    changed = _CHANGED.get(type(value))
    return value if changed is None else changed(value, change, level)


def _lift_array(value: Arr, modes: int, level: int, why: str, sized: bool) -> Arr:
    modes |= value.modes
    why = value.why or why
    out = Arr(modes, value.dtype, value.rank, why, level, value.traced, False, value.key, value.kind)
    out.dims, out.about = value.dims if sized else None, value.about
    return out


def _lift_union(value: Union, change: _Change, arrays_only: bool) -> Value:
    """The alternatives as they arrive: JAX takes no texts, so where there may be one, it is another that gets in. A number
    that may be left out, and that nobody is seen to give, is a guess."""
    taken = value.alts if arrays_only else [alt for alt in value.alts if not _is_text(alt)]
    found = [change(alt) for alt in taken or value.alts]
    if any(alt is NONE for alt in value.alts):
        for alt, lifted in zip(taken or value.alts, found):
            if type(alt) is Py and alt.const is NO_CONST and type(lifted) is Arr:
                lifted.traced = GUESSED
    return functools.reduce(join, found)


def _is_text(value: Value) -> bool:
    return type(value) is Py and value.kind in ("str", "bytes")


def _lift_tree(value: Tree, modes: int, level: int, why: str, arrays_only: bool) -> Value:
    if arrays_only and value.evidence != "array" and not value.modes:
        return Tree(modes, why, level, GUESSED, value.evidence, value.kind)
    return Tree(value.modes | modes, value.why or why, level, value.traced, value.evidence, value.kind)


def _lift_constant(value: Py, modes: int, level: int, why: str, arrays_only: bool) -> Value:
    if arrays_only:
        return value
    if value.kind in NUMBERS:
        return _array_of(value, modes, level, why)
    return Tree(modes, why, level, GUESSED) if value.kind == "static" else value


def _lift_description(value: ExtInst, modes: int, level: int, why: str, arrays_only: bool) -> Value | None:
    """An array that is only described or referred to; any other object of a library is no leaf."""
    if value.dotted != ABSTRACT_ARRAY and HELD not in value.attrs:
        return arrived() if value.dotted == REFERENCE else _lift_layer(value, modes)
    if "is_ref" in value.attrs or HELD in value.attrs:
        return Tree(modes, why, level, SEEN, "ref", SEEN)
    rank = getattr(value.attrs["ndim"], "const", None)
    return Arr(modes, None, rank if type(rank) is int else None, why, level)


def _lift_layer(value: ExtInst, modes: int) -> ExtInst | None:
    """A layer whose parameters have a derivative here."""
    return ExtInst(value.dotted, {**value.attrs, LEARNT: TRUE}) if modes & L and MADE in value.attrs else None


_LIFTED_LEAVES: Final[dict[type, Callable[[Any, int, int, str, bool], Value | None]]] = {
    Tree: _lift_tree,
    Py: _lift_constant,
    ExtInst: _lift_description,
}


def _array_of(value: Py, modes: int, level: int, why: str) -> Arr:
    """The array that a number becomes: weakly typed, unless it is a number only by its annotation and may be an array."""
    exact = of_number(value.kind) if value.const is not NO_CONST else None
    out = Arr(modes, dtype_of("number" if value.kind == "int" else value.kind, exact), 0, why, level)
    out.about = numbered(value.counted)
    return out


def _child_or_not(value: Value, depth: int = DEPTH) -> Value:
    """What such a function may keep or hand over: of a Python number nothing is known any more."""
    if type(value) is Py or _ends(value, depth):
        return UNKNOWN
    changed = _CHANGED.get(type(value))
    return value if changed is None else changed(value, lambda part: _child_or_not(part, depth - 1), None)


_AS_IS: Final = ("eqx", "nnx")
"""Objects whose numbers and texts, at whatever depth, stay what they are when a transform of their library is passed."""

# Classes whose unknown attributes may as well be no arrays.
_SOME_STATIC: Final = ("eqx", "nnx", "distribution")


def _put_together(value: Inst, level: int) -> Inst:
    """An object as it gets into a trace: only pytrees do, and what somebody unknown has made one arrives as another object."""
    return Inst(value.cls, dict(value.attrs), level, None, True) if value.cls.extern else value


def _lift_instance(
    value: Inst, modes: int, level: int, why: str, arrays_only: bool, depth: int, sized: bool
) -> Value:
    info = value.cls
    if not flattening.is_pytree(info):
        return _put_together(value, level) if modes & S else value
    static = flattening.static_names(value)
    opaque = flattening.is_opaque(info)
    keeps_python = info.role in _AS_IS
    attrs: dict[str, Value] = {}
    for name, part in value.attrs.items():
        if name in static:
            attrs[name] = part
        elif not opaque and flattening.is_kept(info, name):
            continue
        elif part is UNKNOWN:
            attrs[name] = UNKNOWN if opaque or info.role in _SOME_STATIC else Tree(modes, why, level)
        else:
            part = _child_or_not(part) if opaque else part
            attrs[name] = lift(part, modes, level, why, arrays_only or keeps_python, depth - 1, sized=sized)
    out = Inst(info, attrs, level, None, value.open)
    if info.role == "struct" or (flattening.data_names(info) is None and info.role == ""):
        out.modes = modes
        out.why = why
    return out


def lower(
    value: Value, drop: int, here: int, level: int, outer: int = 0, depth: int = DEPTH, as_is: bool = False,
    *, sized: bool = True
) -> Value:  # fmt: skip
    """What comes out of a transform: the boundary's own modes are gone, those of the world around stay.

    ``outer``: modes that the arguments had outside. ``as_is``: what is no array stays. ``sized``: arrays keep their sizes.
    """
    if type(value) is Arr or type(value) is Tree:
        return _lower_leaf(value, drop, here, level, outer, sized)
    if type(value) is Py:
        return _array_of(value, here | outer, level, "") if value.kind in NUMBERS and not as_is else value
    if _ends(value, depth):
        return UNKNOWN
    as_is = as_is or (type(value) is Inst and value.cls.role in _AS_IS)

    def change(part: Value) -> Value:
        return lower(part, drop, here, level, outer, depth - 1, as_is, sized=sized)

    if type(value) is Inst:
        return _lower_instance(value, change, drop, here, level)
    if type(value) is ExtInst and LEARNT in value.attrs:
        return ExtInst(value.dotted, {name: part for name, part in value.attrs.items() if name != LEARNT})
    changed = _CHANGED.get(type(value))
    return value if changed is None else changed(value, change, level)


def _lower_leaf(value: Arr | Tree, drop: int, here: int, level: int, outer: int, sized: bool) -> Value:
    modes = _lowered(value.modes, drop, here, outer)
    why = value.why if modes else ""
    inside = min(value.level, level) if value.modes else level
    if isinstance(value, Tree):
        return Tree(modes, why, inside, value.traced, value.evidence, value.kind)
    traced = SEEN if here else value.traced
    out = Arr(modes, value.dtype, value.rank, why, inside, traced, False, value.key, value.kind)
    out.dims, out.about = value.dims if sized else None, value.about
    return out


def _lower_instance(value: Inst, change: _Change, drop: int, here: int, level: int) -> Value:
    if not flattening.is_pytree(value.cls):
        return value
    static = flattening.static_names(value)
    opaque = flattening.is_opaque(value.cls)
    attrs = {
        k: v if k in static else change(_child_or_not(v) if opaque else v)
        for k, v in value.attrs.items()
        if k in static or opaque or not flattening.is_kept(value.cls, k)
    }
    out = Inst(value.cls, attrs, level, None, value.open)
    out.modes = (value.modes & ~drop) | (here if value.modes else 0)
    out.why = value.why
    return out


def _lowered(modes: int, drop: int, here: int, outer: int) -> int:
    left = of_a_map((modes & ~drop) | here | (modes & outer))
    return left if left & L else left & ~BEHIND


def leaf(value: Value, depth: int = DEPTH) -> Value:
    """The join of a pytree's leaves; what `jax.tree.map` hands to its function."""
    if type(value) is Arr or type(value) is Py or value is UNKNOWN:
        return value
    if type(value) is Tree:
        return value.leaf()
    if _ends(value, depth):
        return UNKNOWN
    inner = below(value)
    if inner is None:
        return value
    out: Value | None = None
    for part in inner:
        if part is NONE:
            continue
        one = leaf(part, depth - 1)
        out = one if out is None else join(out, one)
    return out if out is not None else UNKNOWN


def _below_sequence(value: Seq) -> list[Value]:
    if value.items is not None:
        return value.items
    return [value.rest] if value.rest is not None else []


def _below_instance(value: Inst) -> list[Value] | None:
    """The children of an instance; None for one that is a leaf itself."""
    if not flattening.is_pytree(value.cls):
        return None
    static = flattening.static_names(value)
    inner = [v for k, v in value.attrs.items() if k not in static]
    return None if inner == [value] else inner


_BELOW: Final[dict[type, Callable[[Any], Iterable[Value] | None]]] = {
    Tup: lambda value: value.items,
    Seq: _below_sequence,
    Map: lambda value: [*value.entries.values(), *([value.rest] if value.rest is not None else [])],
    Inst: _below_instance,
    Union: lambda value: value.alts,
}


def below(value: Value) -> Iterable[Value] | None:
    """What lies directly below a container; None for a leaf."""
    inside = _BELOW.get(type(value))
    return None if inside is None else inside(value)


def remode(value: Value, change: Callable[[int], int], depth: int = DEPTH) -> Value:
    """Every leaf with other modes; containers that nothing changes in stay themselves."""
    if type(value) is Arr or type(value) is Tree:
        modes = change(value.modes)
        if modes == value.modes:
            return value
        if type(value) is Tree:
            return Tree(modes, value.why, value.level, value.traced, value.evidence, value.kind)
        arr: Any = value
        out = Arr(modes, arr.dtype, arr.rank, arr.why, arr.level, arr.traced, arr.host, arr.key, arr.kind)
        out.dims, out.about = arr.dims, arr.about
        return out
    if type(value) not in _WITH_PARTS or _ends(value, depth):
        return value
    old = parts(value)
    new = [remode(part, change, depth - 1) for part in old]
    return value if all(i is j for i, j in zip(old, new)) else with_parts(value, new)


def _sequence_with_parts(value: Seq, new: list[Value]) -> Value:
    if value.items is not None:
        return Seq(value.kind, new, None, value.level)
    return Seq(value.kind, None, new[0], value.level)


def _dict_with_parts(value: Map, new: list[Value]) -> Value:
    rest = new.pop() if value.rest is not None else None
    return Map(dict(zip(value.entries, new)), rest, value.level, None, value.key)


def _instance_with(value: Inst, attrs: dict[str, Value], level: int) -> Inst:
    out = Inst(value.cls, attrs, level, None, value.open)
    out.modes, out.why = value.modes, value.why
    return out


def with_parts(value: Value, new: list[Value]) -> Value:
    """The same container with other parts, in the order of `parts`; what is none stays itself."""
    made = _WITH_PARTS.get(type(value))
    return value if made is None else made(value, new)


_WITH_PARTS: Final[dict[type, Callable[[Any, list[Value]], Value]]] = {
    Tup: lambda value, new: value.of(new),
    Union: lambda value, new: functools.reduce(join, new),
    Seq: _sequence_with_parts,
    Map: _dict_with_parts,
    Inst: lambda value, new: _instance_with(value, dict(zip(value.attrs, new)), value.level),
}


def remade(value: Value, level: int, depth: int = DEPTH) -> Value:
    """The same leaves in containers of their own: a transform takes apart what it does not trace, too, and makes it anew."""
    if _ends(value, depth) or (type(value) is Seq and value.kind not in ("list", "tuple", "deque")):
        return value
    if type(value) is Inst:
        if not flattening.is_pytree(value.cls):
            return value
        return _instance_with(value, {k: remade(v, level, depth - 1) for k, v in value.attrs.items()}, level)
    changed = _CHANGED.get(type(value))
    return value if changed is None else changed(value, lambda part: remade(part, level, depth - 1), level)


def with_rank(
    value: Value, change: int | None, depth: int = DEPTH, *, size: int | None = None, axis: int | None = 0
) -> Value:
    """Every array leaf with so many axes more or less, None: an unknown number. size: of a new axis. axis: the new or lost one."""
    if type(value) is Arr:
        rank = _changed_rank(value.rank, change)
        out = reshaped(value, value.dtype, rank)
        out.about = value.about if value.about.rows is None or not change else NOTHING
        out.dims = _with_axes(value, change, size, axis) if rank is not None else None
        return out
    if type(value) is ExtInst:
        return without_notes(value)
    if _ends(value, depth):
        return UNKNOWN

    def inside(part: Value) -> Value:
        return with_rank(part, change, depth - 1, size=size, axis=axis)

    if type(value) is Inst and flattening.is_pytree(value.cls):
        static = flattening.static_names(value)
        attrs = {k: v if k in static else inside(v) for k, v in value.attrs.items()}
        return Inst(value.cls, attrs, value.level, None, value.open)
    if type(value) is Seq and (value.kind != "list" or value.items is None):
        return value
    changed = _CHANGED.get(type(value))
    return value if changed is None else changed(value, inside, None)


def _changed_rank(rank: int | None, change: int | None) -> int | None:
    return None if rank is None or change is None or rank + change < 0 else rank + change


def _with_axes(array: Arr, change: int | None, size: int | None, axis: int | None) -> Dims | None:
    """The sizes of an array that gets an axis in front, or loses one."""
    dims = array.dims
    if change == 1:
        rest = dims if dims is not None else (None,) * (array.rank or 0)
        if axis is None or (size is None and dims is None) or not -len(rest) - 1 <= axis <= len(rest):
            return None
        axis %= len(rest) + 1
        return (*rest[:axis], size, *rest[axis:])
    if change != -1 or dims is None or axis is None or not -len(dims) <= axis < len(dims):
        return dims if change == 0 else None
    axis %= len(dims)
    return (*dims[:axis], *dims[axis + 1 :]) or None


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
        return value.of(parts)
    if type(value) is Map:
        return Map(dict(zip(sorted(value.entries, key=str), parts)), None, FRESH)
    return Seq("list", parts, None, FRESH)


def rebuild(value: Value, new_leaf: Value, depth: int = DEPTH) -> Value:
    """The same structure with every leaf replaced."""
    if _ends(value, depth) or type(value) in NO_ARRAYS:
        return UNKNOWN
    if isinstance(value, (Tup, Seq, Map, Union)):
        return _CHANGED[type(value)](value, lambda part: rebuild(part, new_leaf, depth - 1), FRESH)
    if type(value) is Inst and flattening.is_pytree(value.cls):
        kept = flattening.kept_names(value)
        attrs = {k: v if k in kept else rebuild(v, new_leaf, depth - 1) for k, v in value.attrs.items()}
        return Inst(value.cls, attrs, FRESH, None, value.open)
    if type(value) is Tree:
        if type(new_leaf) is not Arr:
            return UNKNOWN
        return Tree(new_leaf.modes, new_leaf.why, new_leaf.level, new_leaf.traced, value.evidence, value.kind)
    if value is NONE or value is UNKNOWN:
        return value
    if type(value) is ExtInst and value.dotted != ABSTRACT_ARRAY:
        # what a library gave may be a leaf or hold any number of them
        modes = traced_modes(new_leaf)
        return Tree(modes, why_of(new_leaf), traced_level(new_leaf), GUESSED) if modes else UNKNOWN
    return new_leaf
