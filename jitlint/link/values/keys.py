"""Names of PRNG keys inside values: given, derived, found again, exchanged (layer: ``link``, room ``values``).

What it does: names keys where they are made or derived, and keeps the record of what was consumed apart on paths of
which only one is taken (it lives among a scope's variables, so joins and loops treat it as any variable). What it does
not: say what consumes a key; that is a domain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

from jitlint.infer.keys import COPIES, USES, Either, Key, KeyNames, KeyUses
from jitlint.infer.lattice import parts
from jitlint.infer.objects import seen_as
from jitlint.infer.values import (
    Arr,
    Func,
    Inst,
    Map,
    Partial,
    Py,
    Scope,
    Seq,
    Tup,
    Union,
    Value,
    alternatives,
)
from jitlint.link.engine.budgets import UNROLLED
from jitlint.link.engine.copies import rebuilt
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine

T = TypeVar("T")

DEPTH = 7

CONTAINERS = frozenset({Tup, Seq, Map, Inst, Union, Partial})


def named(m: Machine, value: Arr) -> Arr:
    """A key without a name gets one: whoever holds it holds this one."""
    return with_key(value, m.keys.fresh())


def with_key(value: Arr, key: Key | None, less: int = 0) -> Arr:
    """The same array as this key. less: with so many axes less."""
    rank = value.rank - less if value.rank else value.rank
    out = Arr(value.modes, value.dtype or "key", rank, value.why, value.level, value.traced, value.host, key)
    out.dims = None if less else value.dims
    return out


def keys_of(value: Value | None) -> list[Key]:
    """The named keys that a value itself may be."""
    if value is None:
        return []
    return [a.key for a in alternatives(value) if type(a) is Arr and a.key is not None]


def inside(values: Iterable[Value]) -> list[Key]:
    """All named keys in some values, in a fixed order."""
    out: list[Key] = []
    seen: set[int] = set()
    for value in values:
        if type(value) is Arr:
            if value.key is not None:
                out.append(value.key)
        elif type(value) in CONTAINERS:
            _gather(value, out, seen, DEPTH)
    return out


def without_constants(values: Iterable[Value]) -> list[Key]:
    """The named keys in some values, without those that objects hold outside of any trace."""
    out: list[Key] = []
    for value in values:
        if type(value) is Inst and not value.modes:
            _gather(value, out, set(), DEPTH, True)
        else:
            out += inside([value])
    return out


def newer(values: Iterable[Value], first: int) -> frozenset[Key]:
    """The keys in some values that got their name after that many others."""
    return frozenset(k for k in inside(values) if k.step[0] == "new" and k.step[1] > first)


def _gather(value: Value, out: list[Key], seen: set[int], depth: int, traced: bool = False) -> None:
    if id(value) in seen:
        return
    seen.add(id(value))
    for part in parts(value):
        if type(part) is Arr:
            if part.key is not None and (part.modes or not traced):
                out.append(part.key)
        elif depth and type(part) in CONTAINERS:
            _gather(part, out, seen, depth - 1, traced and not (type(part) is Inst and part.modes))


def item(m: Machine, arr: Arr, index: int) -> Arr:
    """The key at a constant index of an array of keys."""
    key, out = arr.key, with_key(arr, None, 1)
    count: int | None = key.step[1] if key is not None and key.step[0] == "split" else None
    if key is not None and key.step[0] == COPIES:
        out.key = key.parent
    elif key is not None and type(key) is not Either and (index >= 0 or count is not None):
        out.key = m.keys.derived(key, "item", index if index >= 0 or count is None else index + count)
    return out


def part(m: Machine, arr: Arr, index: Sequence[Value]) -> Key | None:
    """The key at an index of an array of keys; with more axes around it, a key is the same one."""
    if len(index) == 1 and type(index[0]) is Py and type(index[0].const) is int:
        return item(m, arr, index[0].const).key
    return arr.key if all(type(one) is Py and one.kind in ("none", "ellipsis") for one in index) else None


def items(m: Machine, arr: Arr) -> list[Value] | None:
    """The keys of an array that a split into a few has made, None for any other."""
    step = arr.key.step if arr.key is not None and type(arr.key) is not Either else ()
    count = step[1] if step[:1] == ("split",) else None
    return [item(m, arr, i) for i in range(count)] if count is not None and count <= UNROLLED else None


class Apart:
    """Forgets which keys are inside of what one of many runs has made: each run makes others.

    first: the number of the last key that is older than all runs.
    """

    __slots__ = ("first",)

    def __init__(self, first: int) -> None:
        self.first = first

    def value(self, value: Value, depth: int = DEPTH) -> Value:
        """The value without these names; the same object when there are none."""
        t = type(value)
        a: Any = value
        gone = newer([value], self.first)
        if not gone or not depth:
            return value
        if t is Arr:
            return with_key(a, None)
        if type(value) is Tup:
            return value.of([self.value(i, depth - 1) for i in value.items])
        if t is Seq:
            known = None if a.items is None else [self.value(i, depth - 1) for i in a.items]
            rest = None if a.rest is None else self.value(a.rest, depth - 1)
            return Seq(a.kind, known, rest, a.level, a.token)
        if t is not Map and t is not Inst:
            return value
        table: dict[Any, Value] = a.entries if t is Map else a.attrs
        new = {k: self.value(v, depth - 1) for k, v in table.items()}
        if t is Map:
            return Map(new, a.rest, a.level, a.token)
        return seen_as(a, new)


def uses_of(f: Frame) -> KeyUses | None:
    """What was consumed so far on this path."""
    state = f.scope.vars.get(USES)
    return state if type(state) is KeyUses else None


def rewind(f: Frame, before: KeyUses | None) -> None:
    """Go back to what was consumed before, for another path."""
    if before is None:
        f.scope.vars.pop(USES, None)
    else:
        f.scope.vars[USES] = before


def exclusive(f: Frame, alternatives: Iterable[T]) -> Iterator[T]:
    """Go through alternatives of which only one happens: none sees what another consumes, what follows sees all."""
    before = after = uses_of(f)
    for alternative in alternatives:
        rewind(f, before)
        yield alternative
        after = merged(after, uses_of(f))
    rewind(f, after)


def merged(a: KeyUses | None, b: KeyUses | None) -> KeyUses | None:
    """What is consumed on one path or the other."""
    if a is None or b is None:
        return b if a is None else a
    return a.merged(b)


class Renaming:
    """Names of keys in a remembered call to those of this call.

    known: what its arguments are called here. first, last: the numbers of the keys that it made, which get new names.
    """

    __slots__ = ("first", "known", "last", "names")

    def __init__(self, names: KeyNames, first: int, last: int, known: dict[Key, Key]) -> None:
        self.names = names
        self.first = first
        self.last = last
        self.known = known

    def key(self, key: Key) -> Key:
        """The name that this call has for a key."""
        found = self.known.get(key)
        if found is not None:
            return found
        out = key
        if type(key) is Either:
            members = frozenset([self.key(member) for member in sorted(key.members, key=str)])
            out = Either(members) if members != key.members else key
        elif key.parent is not None:
            parent = self.key(key.parent)
            out = key if parent is key.parent else self.names.derived(parent, *key.step)
        elif key.step[0] == "new" and self.first < key.step[1] <= self.last:
            out = self.names.fresh()
        self.known[key] = out
        return out

    def value(self, value: Value, depth: int = DEPTH) -> Value:
        """A value with the keys inside it renamed; the same object when there are none."""
        if type(value) is Arr:
            if value.key is None:
                return value
            key = self.key(value.key)
            return value if key is value.key else with_key(value, key)
        renamed = _RENAMED.get(type(value)) if depth else None
        return value if renamed is None else renamed(value, lambda part: self.value(part, depth - 1))


def _unchanged(new: Iterable[Value], old: Iterable[Value]) -> bool:
    return all(a is b for a, b in zip(new, old))


_Rename = Callable[[Value], Value]


def _renamed_sequence(value: Seq, rename: _Rename) -> Value:
    if value.items is None:
        return value
    items = [rename(i) for i in value.items]
    return value if _unchanged(items, value.items) else Seq(value.kind, items, None, value.level, value.token)


def _renamed_dict(value: Map, rename: _Rename) -> Value:
    new = {k: rename(v) for k, v in value.entries.items()}
    if _unchanged(new.values(), value.entries.values()):
        return value
    return Map(new, value.rest, value.level, value.token, value.key)


def _renamed_instance(value: Inst, rename: _Rename) -> Value:
    new = {k: rename(v) for k, v in value.attrs.items()}
    if _unchanged(new.values(), value.attrs.values()):
        return value
    return seen_as(value, new)


def _renamed_function(value: Func, rename: _Rename) -> Value:
    """A function that closes over other keys; the functions that it closes over stay as they are."""
    scope = value.scope
    if scope.fn is None:
        return value
    held = [(n, scope.vars[n]) for n in value.fn.outer_names if n in scope.vars]
    new = {name: rename(part) for name, part in held if type(part) is not Func}
    if all(new[name] is part for name, part in held if name in new):
        return value
    around = Scope({**scope.vars, **new}, scope.parent, scope.fn, scope.key, scope.level, scope.token)
    around.watched = scope.watched
    func = Func(value.fn, around, value.defaults, value.owner)
    func.born, func.wraps = value.born, value.wraps
    return func


_RENAMED: Final[dict[type, Callable[[Any, _Rename], Value]]] = {
    Tup: rebuilt,
    Seq: _renamed_sequence,
    Map: _renamed_dict,
    Inst: _renamed_instance,
    Union: rebuilt,
    Func: _renamed_function,
}
