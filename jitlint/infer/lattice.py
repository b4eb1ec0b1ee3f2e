"""Order and structure of abstract values: join, parts (layer: ``infer``).

What it does: says which value covers two others, and what lies inside one. What
it does not: evaluate operations of the program; these live in `link`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from operator import is_
from typing import Any, Final

from jitlint.catalogue import dtypes
from jitlint.infer import about
from jitlint.infer.dims import Dims
from jitlint.infer.freezing import freeze
from jitlint.infer.keys import Either, KeyUses, either
from jitlint.infer.objects import NOTE, has_call, seen_as
from jitlint.infer.spreading import VARIES
from jitlint.infer.values import (
    FORI,
    INT,
    NO_CONST,
    UNKNOWN,
    WHILE,
    Arr,
    Bound,
    Class,
    Descr,
    Ext,
    ExtInst,
    Func,
    Inst,
    Map,
    Method,
    Mod,
    Partial,
    Py,
    Seq,
    SliceVal,
    Super,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    Xform,
    alternatives,
)

MAX_ALTERNATIVES: Final = 6

MAX_FUNCTIONS: Final = 24
"""So many alternatives if all of them can be called: registries from which the program chooses are longer."""

_CALLABLES: Final = frozenset({Func, Bound, Class, Ext, Partial, Xform})

JOIN_DEPTH: Final = 8


def join(a: Value, b: Value, depth: int = JOIN_DEPTH) -> Value:
    """The least upper bound within the domain's limits. Unknown absorbs everything; so does too deep a structure."""
    return _join(a, b, depth, {})


_Known = dict[tuple[int, int], tuple[int, Value, Value, Value | None]]
"""Pairs of containers joined already, by identity: depth, the pair (kept alive), result. Objects share parts."""


def joined(values: Iterable[Value]) -> Value | None:
    """The join of some values, None when there are none."""
    out: Value | None = None
    for value in values:
        out = value if out is None else join(out, value)
    return out


def or_unknown(value: Value | None) -> Value:
    """The value, or unknown when there is none."""
    return UNKNOWN if value is None else value


def _join(a: Value, b: Value, depth: int, known: _Known) -> Value:
    if a is b:
        return a
    if depth == 0:
        return UNKNOWN
    ta, tb = type(a), type(b)
    if ta is Unknown or tb is Unknown:
        return UNKNOWN
    if ta is not Union and tb is not Union:
        merged = _merge(a, b, depth - 1, known)
        if merged is not None:
            return merged
        return Union((a, b))
    alts = list(alternatives(a))
    for new in alternatives(b):
        _include(alts, new, depth - 1, known)
    if len(alts) == 1:
        return alts[0]
    few = len(alts) <= MAX_ALTERNATIVES or (len(alts) <= MAX_FUNCTIONS and all(map(_is_called, alts)))
    return Union(tuple(alts)) if few else UNKNOWN


def _is_called(value: Value) -> bool:
    """Whether a value is there to be called: a function, a class, or an object with such a method."""
    return type(value) in _CALLABLES or (type(value) is Inst and has_call(value.cls))


def _include(alts: list[Value], new: Value, depth: int, known: _Known) -> None:
    """Add an alternative. One that grows by that takes in the others that it covers now, as any str covers "a"."""
    i, place = 0, len(alts)
    while i < len(alts):
        old = alts[i]
        merged = old if old is new else _merge(old, new, depth, known)
        if merged is old:
            return
        if merged is None:
            i += 1
        else:
            del alts[i]
            new, place, i = merged, min(place, i), 0
    alts.insert(place, new)


def _merge(a: Value, b: Value, depth: int, known: _Known) -> Value | None:
    """One value for both, or None when they should stay apart."""
    t = type(a)
    if t is not type(b):
        return None
    merge = _MERGES.get(t)
    if merge is not None:
        return merge(a, b)
    if t in _CONTAINERS:
        pair = (id(a), id(b))
        found = known.get(pair)
        if found is None or found[0] < depth:
            merged: Any = _merge_containers(a, b, depth, known)
            if merged is not None and t is not Tup:
                merged.one_of = (a, b)
            found = known[pair] = (depth, a, b, merged)
        return found[3]
    return a if freeze(a) == freeze(b) else None


def _merge_constants(a: Py, b: Py) -> Value | None:
    if a.kind != b.kind:
        return Py(dtypes.OBJECT) if dtypes.is_object(a.kind) and dtypes.is_object(b.kind) else None
    if a.counted != b.counted:
        return Py(a.kind)
    if type(a.const) is type(b.const) and a.const == b.const:
        return a
    if a.const is NO_CONST:
        return a
    if b.const is NO_CONST:
        return b
    return None if a.kind in ("str", "none") else Py(a.kind)


def _merge_arrays(a: Arr, b: Arr) -> Value | None:
    if bool(a.modes) != bool(b.modes) or a.host != b.host or a.weak != b.weak or a.softness != b.softness:
        return None
    modes = _joined(a.modes, b.modes)
    key = a.key if a.key is b.key else either(a.key, b.key)
    if key == a.key and a.modes == modes and _covers(a, b):
        return a
    out = Arr(
        modes,
        dtypes.joined(a.dtype, b.dtype),
        a.rank if a.rank == b.rank else None,
        a.why,
        max(a.level, b.level),
        max(a.traced, b.traced),
        a.host,
        key,
        max(a.kind, b.kind),
    )
    out.dims, out.about = _joined_dims(a.dims, b.dims), about.joined(a.about, b.about)
    return out


def _joined_dims(a: Dims | None, b: Dims | None) -> Dims | None:
    """The sizes that two arrays have in common."""
    if a == b or a is None or b is None or len(a) != len(b):
        return a if a == b else None
    common = tuple([one if one == other else None for one, other in zip(a, b)])
    return None if all(size is None for size in common) else common


def _covers_dims(a: Dims | None, b: Dims | None) -> bool:
    if a is None or a == b:
        return True
    same_rank = b is not None and len(a) == len(b)
    return same_rank and all(one in (None, other) for one, other in zip(a, b or ()))


def _covers(a: Arr, b: Arr) -> bool:
    """Whether one array says nothing that the other does not say as well."""
    return (
        a.kind >= b.kind
        and a.traced >= b.traced
        and a.level >= b.level
        and _covers_dims(a.dims, b.dims)
        and dtypes.covers(a.dtype, b.dtype)
        and a.rank in (None, b.rank)
        and about.covers(a.about, b.about)
    )


def _merge_trees(a: Tree, b: Tree) -> Value | None:
    if bool(a.modes) != bool(b.modes):
        return None
    return Tree(
        _joined(a.modes, b.modes),
        a.why,
        max(a.level, b.level),
        max(a.traced, b.traced),
        a.evidence if a.evidence == b.evidence else "",
        max(a.kind, b.kind),
    )


def _merge_functions(a: Func, b: Func) -> Value | None:
    return a if a.fn is b.fn and a.scope.key == b.scope.key else None


def _merge_uses(a: KeyUses, b: KeyUses) -> Value | None:
    merged: Value = a.merged(b)
    return merged


def _merge_library_objects(a: ExtInst, b: ExtInst) -> Value | None:
    """Objects that differ in what is noted of them only are one, of which what they share is known, and what are other integers."""
    if a.dotted != b.dotted:
        return None
    plain, other = ({k: v for k, v in one.attrs.items() if not k.startswith(NOTE)} for one in (a, b))
    if freeze(ExtInst(a.dotted, plain)) != freeze(ExtInst(b.dotted, other)):
        return None
    notes = {k: _shared(v, b.attrs.get(k)) for k, v in a.attrs.items() if k.startswith(NOTE)}
    if all(notes[k] is v for k, v in a.attrs.items() if k in notes):
        return a
    return ExtInst(a.dotted, {**plain, **{k: v for k, v in notes.items() if v is not None}})


def _shared(one: Value, other: Value | None) -> Value | None:
    """What is known of a note that may be one or the other."""
    if other is None:
        return None
    if freeze(one) == freeze(other):
        return one
    both_integers = type(one) is Py and type(other) is Py and one.kind == other.kind == "int"
    return INT if both_integers else None


_MERGES: Final[dict[type, Callable[[Any, Any], Value | None]]] = {
    Py: _merge_constants,
    ExtInst: _merge_library_objects,
    Arr: _merge_arrays,
    Tree: _merge_trees,
    Func: _merge_functions,
    SliceVal: lambda a, b: None,
    KeyUses: _merge_uses,
}


def _joined(a: int, b: int) -> int:
    """Modes of either; through a loop goes only what does so both ways, and so with what differs from device to device."""
    return (a | b) & ~(WHILE | FORI | VARIES) | (a & b)


_CONTAINERS = frozenset({Tup, Seq, Map, Inst})


def _merge_containers(a: Any, b: Any, depth: int, known: _Known) -> Value | None:
    if type(a) is Tup:
        if a.cls is not b.cls or len(a.items) != len(b.items):
            return None
        items = [_join(i, j, depth, known) for i, j in zip(a.items, b.items)]
        return (a if a.said else b).of(items)
    if type(a) is Seq:
        return _merge_sequences(a, b, depth, known)
    level = max(a.level, b.level)
    if type(a) is Map:
        rest = _join_optional(a.rest, b.rest, depth, known)
        keys: list[Any] = [m.key for m in (a, b) if m.rest is not None]
        out = Map(_join_entries(a.entries, b.entries, depth, known), rest, level)
        if keys and None not in keys:
            out.key = _join(keys[0], keys[-1], depth, known)
        return out
    if a.cls is not b.cls:
        return None
    attrs = _join_entries(a.attrs, b.attrs, depth, known)
    merged = Inst(a.cls, attrs, level, None, a.open or b.open)
    merged.modes = a.modes | b.modes
    merged.why = a.why
    return merged


def _merge_sequences(a: Seq, b: Seq, depth: int, known: _Known) -> Value | None:
    if a.kind != b.kind:
        return None
    level = max(a.level, b.level)
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = [_join(i, j, depth, known) for i, j in zip(a.items, b.items)]
        return Seq(a.kind, items, None, level)
    rest = _join_optional(_element(a, depth, known), _element(b, depth, known), depth, known)
    return Seq(a.kind, None, rest, level)


def _join_entries(a: dict[Any, Value], b: dict[Any, Value], depth: int, known: _Known) -> dict[Any, Value]:
    out = dict(a)
    for name, value in b.items():
        out[name] = _join(out[name], value, depth, known) if name in out else value
    return out


def _join_optional(a: Value | None, b: Value | None, depth: int, known: _Known) -> Value | None:
    if a is None:
        return b
    return a if b is None else _join(a, b, depth, known)


def seq_element(value: Any) -> Value | None:
    """The join of a sequence's elements, or None when nothing is known to be inside."""
    return _element(value, JOIN_DEPTH, {})


def _element(value: Any, depth: int, known: _Known) -> Value | None:
    out: Value | None = None
    if value.items is None:
        return None if value.rest is None else _one_of_many(value.rest)
    for item in value.items:
        out = item if out is None else _join(out, item, depth, known)
    return out if out is None else anonymous(out)


def _one_of_many(value: Value) -> Value:
    """One of things that are all made at one place, each with keys of its own: which ones is not known."""
    if type(value) is Tup:
        items = [_one_of_many(item) for item in value.items]
        return value if all(map(is_, items, value.items)) else value.of(items)
    if type(value) is Inst:
        attrs = _anonymous_parts(value.attrs)
        return value if attrs is None else seen_as(value, attrs)
    entries = _anonymous_parts(value.entries) if type(value) is Map else None
    if type(value) is not Map or entries is None:
        return anonymous(value)
    out = Map(entries, value.rest, value.level, value.token, value.key)
    out.open = True
    return out


def _anonymous_parts(held: dict[Any, Value]) -> dict[Any, Value] | None:
    """The parts of a box without the names of the keys among them, None if there are none."""
    found = {
        name: anonymous(part) for name, part in held.items() if type(part) is Arr and part.key is not None
    }
    return {**held, **found} if found else None


def reshaped(array: Arr, dtype: str | None, rank: int | None) -> Arr:
    """An array with another dtype and rank, of sizes that are not known; all else holds on."""
    a = array
    return Arr(a.modes, dtype, rank, a.why, a.level, a.traced, a.host, a.key, a.kind)


def anonymous(value: Value) -> Value:
    """A value taken from an unknown place: which PRNG keys are inside is not known any more."""
    t = type(value)
    a: Any = value
    if t is Arr:
        if a.key is None:
            return value
        out = Arr(a.modes, a.dtype, a.rank, a.why, a.level, a.traced, a.host, None, a.kind)
        out.dims, out.about = a.dims, a.about
        return out
    if t is Tup or t is Union:
        old = a.items if t is Tup else a.alts
        new = tuple([anonymous(i) for i in old])
        if all(i is j for i, j in zip(new, old)):
            return value
        return a.of(list(new)) if t is Tup else Union(new)
    if t is Inst and any(type(v) is Arr and type(v.key) is Either for v in a.attrs.values()):
        return seen_as(a, {k: _apart(v) for k, v in a.attrs.items()})
    return value


def _apart(value: Value) -> Value:
    """A part of one of several objects: a key that is another one in each of them is not known."""
    return anonymous(value) if type(value) is Arr and type(value.key) is Either else value


def modes_among(values: Iterable[Value], depth: int = 3) -> int:
    """The modes of all tracers inside any of several values, of which no single one is meant."""
    out = 0
    for value in values:
        out |= traced_modes(value, depth)
    return out & ~VARIES


def traced_modes(value: Value, depth: int = 3) -> int:
    """The modes of all tracers certainly or possibly inside a value. That one part differs from device to device says nothing of
    the others."""
    a: Any = value
    t = type(value)
    if t is Arr or t is Tree:
        modes: int = a.modes
        return modes
    if t in _LEAF_TYPES or depth <= 0:
        return 0
    if t is Union:
        found = [traced_modes(part, depth - 1) for part in a.alts]
        return functools.reduce(_joined, found)
    return modes_among(parts(value), depth - 1)


def traced_level(value: Value, depth: int = 3) -> int:
    """The highest level of a tracer inside a value, 0 when there is none."""
    a: Any = value
    t = type(value)
    if t is Arr or t is Tree:
        level: int = a.level
        return level if a.modes else 0
    if t in _LEAF_TYPES or depth <= 0:
        return 0
    return max([traced_level(part, depth - 1) for part in parts(value)], default=0)


_LEAF_TYPES = frozenset({Unknown, Py, Func, Class, Mod, Ext, Method, Super, Descr})


def parts(value: Value) -> list[Value]:
    """The values directly inside a container-like value."""
    a: Any = value
    t = type(value)
    if t is Tup:
        return list(a.items)
    if t is Seq:
        if a.items is not None:
            return list(a.items)
        return [a.rest] if a.rest is not None else []
    if t is Map:
        out = list(a.entries.values())
        return [*out, a.rest] if a.rest is not None else out
    if t is Inst or t is ExtInst:
        return list(a.attrs.values())
    if t is Union:
        return list(a.alts)
    if t is Partial:
        return [*a.args, *a.keywords.values()]
    if t is Bound:
        return [a.recv]
    if t is SliceVal:
        return [v for v in (a.lo, a.hi, a.step) if v is not None]
    return []


def why_of(value: Value, depth: int = 3) -> str:
    """The reason why something inside a value is traced, or ""."""
    a: Any = value
    t = type(value)
    if t is Arr or t is Tree:
        why: str = a.why
        return why if a.modes else ""
    if depth > 0 and t not in _LEAF_TYPES:
        for part in parts(value):
            found = why_of(part, depth - 1)
            if found:
                return found
    return ""
