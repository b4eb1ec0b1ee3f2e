"""Keys of abstract values: equal keys mean that no function can tell the values apart (layer: ``infer``).

What it does: gives a value, or all arguments of a call, a hashable key that is whole. It says what every part is, which
parts are one object, what functions close over, and how the PRNG keys inside are related. A value that is too large for
that gets a key that equals no other. What it does not: say why something is traced; that is only told, never asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from jitlint.catalogue.dtypes import exact_of
from jitlint.infer.keys import Key, KeyUses, members_of
from jitlint.infer.objects import is_cold
from jitlint.infer.values import (
    NO_CONST,
    Arr,
    At,
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
    Scope,
    Seq,
    SliceVal,
    Super,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    Xform,
)

MAX_PARTS: Final = 4096
MAX_DEPTH: Final = 100
SMALL: Final = 32
"""Immutable parts up to this size are written out again wherever they occur."""

_PLAIN = frozenset({int, float, str, bool, type(None), complex, bytes, type(NO_CONST), type(...)})


class TooLarge:
    """The key of what is too large for one: it equals no other."""

    __slots__ = ()


class _TooLargeError(Exception):
    """The key would have to be cut."""


def freeze(value: Value) -> object:
    """A key for one value."""
    leaf = _LEAVES.get(type(value))
    return freeze_all((value,)) if leaf is None else leaf(value)


def freeze_all(values: Iterable[Value], func: Func | None = None, token: object = None) -> object:
    """A key for the arguments of a call, and for what the called function closes over.

    token: of the region that calls, which may change the boxes that it made itself precisely.
    """
    return freeze_call(values, func, token)[0]


def freeze_call(values: Iterable[Value], func: Func | None, token: object) -> tuple[object, bool]:
    """The same, and whether there may be PRNG keys with names in it."""
    writer = _Writer(token)
    try:
        parts = writer.all(values)
        if func is not None and func.scope.fn is not None:
            parts = (*parts, writer.cells(func.fn, func.scope))
    except _TooLargeError:
        return TooLarge(), True
    if len(writer.keys) > 1:
        return (parts, _relations(writer.keys)), True
    return parts, bool(writer.keys)


def _of_const(a: Any) -> object:
    if a.counted is not None:
        return (a.kind, a.counted)
    return (a.kind, a.const if type(a.const) in _PLAIN else _Same(a.const))


class _Same:
    """Equal to itself only: a constant that may have no hash."""

    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return type(other) is _Same and other.held is self.held

    def __hash__(self) -> int:
        return id(self.held)


class Alternatives:
    """The alternatives of a union, in any order unless something refers to a box inside one of them.

    Which it is shows only when the whole key is written, so nothing may ask for its hash before.
    """

    __slots__ = ("hash", "is_ordered", "parts")

    def __init__(self, parts: tuple[object, ...]) -> None:
        self.parts = parts
        self.is_ordered = False
        self.hash: int | None = None

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if (
            type(other) is not Alternatives
            or self.is_ordered is not other.is_ordered
            or hash(self) != hash(other)
        ):
            return False
        return self.parts == other.parts or (
            not self.is_ordered and frozenset(self.parts) == frozenset(other.parts)
        )

    def __hash__(self) -> int:
        if self.hash is None:
            self.hash = hash(self.parts if self.is_ordered else frozenset(self.parts))
        return self.hash


_LEAVES: Final[dict[type, Callable[[Any], object]]] = {
    Unknown: lambda a: None,
    Py: _of_const,
    Tree: lambda a: ("t", a.modes, a.traced, a.evidence, a.kind, a.level),
    Ext: lambda a: a.dotted,
    Mod: lambda a: ("M", a.info.name),
    KeyUses: lambda a: frozenset(a.table),
}


class _Writer:
    """Writes one key. seen: boxes and closures by identity to their number. small: immutable parts written already.

    unordered: of boxes inside a union their number to its alternatives.

    This runs for each argument of each call.
    """

    __slots__ = ("depth", "keys", "left", "seen", "small", "token", "unordered")

    def __init__(self, token: object) -> None:
        self.token = token
        self.left = MAX_PARTS
        self.depth = 0
        self.seen: dict[object, int] = {}
        self.keys: dict[Key, int] = {}
        self.small: dict[int, object] = {}
        self.unordered: dict[int, Alternatives] = {}

    def key(self, value: Value) -> object:
        """The key of one value, in the light of those before it."""
        return _WRITERS[type(value)](self, value)

    def all(self, values: Iterable[Value]) -> tuple[object, ...]:
        """The keys of several values."""
        return tuple(
            [
                (value.kind, value.const)
                if type(value) is Py and value.counted is None and type(value.const) in _PLAIN
                else _WRITERS[type(value)](self, value)
                for value in values
            ]
        )

    def _function(self, a: Func) -> object:
        if a.scope.fn is None and not a.defaults:
            return ("f", a.fn.id, a.scope.key)
        return self._fixed(a)

    def _class(self, a: Class) -> object:
        return ("c", a.info.id) if a.info.scope.fn is None else self._fixed(a)

    def _array(self, a: Arr) -> object:
        named = None if a.key is None else self.keys.setdefault(a.key, len(self.keys))
        level = a.level if a.modes else 0
        return (
            "a",
            a.modes,
            a.dtype,
            exact_of(a.dtype),
            a.rank,
            a.traced,
            a.kind,
            a.host,
            level,
            named,
            a.dims,
            a.about,
        )

    def _box(self, a: Any) -> object:
        """What may be changed is itself: met again, it is the same one and no equal one."""
        seen = self.seen
        number = seen.get(id(a))
        if number is not None:
            return self._again(number)
        seen[id(a)] = len(seen)
        self.left -= 1
        self.depth += 1
        if self.left < 0 or self.depth > MAX_DEPTH:
            raise _TooLargeError
        out = _BOXES[type(a)](self, a)
        self.depth -= 1
        return out

    def _again(self, number: int) -> object:
        around = self.unordered.get(number)
        if around is not None:
            around.is_ordered = True  # written once, however often it is referred to: keys stay small
        return ("=", number)

    def _sequence(self, a: Seq) -> object:
        items = None if a.items is None else self.all(a.items)
        return ("q", a.kind, a.level, self._owner(a), items, self._maybe(a.rest))

    def _mapping(self, a: Map) -> object:
        table = self._table(a.entries)
        return ("m", a.level, self._owner(a), (a.open, a.odd), table, self._maybe(a.rest), self._maybe(a.key))

    def _instance(self, a: Inst) -> object:
        info, token = a.cls, a.token
        cls = info.id if info.scope.fn is None else self._local_class(info)
        owner = 0 if token is None else 1 if token is self.token else 2
        cold = info.cold is not None and is_cold(a)
        return ("i", cls, a.level, owner, cold, a.open, a.modes, self._table(a.attrs))

    def _owner(self, a: Any) -> int:
        return 0 if a.token is None else 1 if a.token is self.token else 2

    def _fixed(self, a: Any) -> object:
        """What is never changed is written out again when it is small, as long as no box lies inside."""
        self.left -= 1
        if self.left < 0 or self.depth >= MAX_DEPTH:
            raise _TooLargeError
        known = self.small.get(id(a))
        if known is not None:
            return known
        self.depth += 1
        left, boxes = self.left, len(self.seen) + len(self.keys)
        write = _FIXED.get(type(a))
        out = _Same(a) if write is None else write(self, a)
        self.depth -= 1
        is_small = left - self.left < SMALL and len(self.seen) + len(self.keys) == boxes
        self.small[id(a)] = out if is_small else ("==", len(self.small))
        return out

    def _maybe(self, value: Value | None) -> object:
        return 0 if value is None else _WRITERS[type(value)](self, value)

    def _table(self, values: dict[Any, Value]) -> tuple[object, ...]:
        if not values:
            return ()
        return tuple(zip(values, self.all(values.values())))

    def _union(self, a: Any) -> object:
        """Alternatives in any order, unless something refers to what is inside them."""
        first, keys = len(self.seen), len(self.keys)
        parts = self.all(a.alts)
        if len(self.keys) > keys:
            return ("u", parts)
        if len(self.seen) == first:
            return ("u", frozenset(parts))
        out = Alternatives(parts)
        for number in range(first, len(self.seen)):
            self.unordered.setdefault(number, out)
        return ("u", out)

    def _func(self, a: Any) -> object:
        return ("f", a.fn.id, a.scope.key, self._table(a.defaults), self.cells(a.fn, a.scope))

    def _xform(self, a: Any) -> object:
        rules = tuple([(kind, self.key(rule)) for kind, rule in a.rules])
        return ("x", a.spec.name, a.site, a.broken, self.key(a.target), self._table(a.options), rules)

    def cells(self, fn: Any, scope: Scope | None) -> object:
        """What a function closes over, as it is now."""
        if scope is None or scope.fn is None:
            return 0
        place = (fn.id, scope.key)
        number = self.seen.get(place)
        if number is not None:
            return self._again(number)
        self.seen[place] = len(self.seen)
        out: list[object] = []
        taken: dict[int, list[tuple[str, object]]] = {}
        chain: list[dict[str, Value]] = []
        around: Scope | None = scope
        while around is not None and around.fn is not None:
            chain.append(around.vars)
            around = around.parent
        for name in fn.outer_names:
            for variables in chain:
                found = variables.get(name)
                if found is not None:
                    out.append((name, _WRITERS[type(found)](self, found)))
                    if "$paths" in variables:
                        sides = taken.get(id(variables))
                        if sides is None:
                            sides = taken[id(variables)] = _sides_taken(variables)
                        if sides:
                            prefix = f"path:{name}."
                            out.extend([side for side in sides if side[0].startswith(prefix)])
                    break
        return tuple(out)

    def _local_class(self, info: Any) -> object:
        """A class that a function makes: its methods close over what is around it."""
        if info.scope.fn is None:
            return info.id
        made = [v for v in info.namespace.values() if type(v) is Func and v.scope.fn is not None]
        return (info.id, tuple([self.cells(func.fn, func.scope) for func in made]))


def _sides_taken(variables: dict[str, Value]) -> list[tuple[str, object]]:
    """The tests of variables whose side is remembered, and the side: what closes over such a variable takes the same."""
    return [(k, v.const) for k, v in variables.items() if ".?" in k and type(v) is Py]


_BOXES: Final[dict[type, Callable[[_Writer, Any], object]]] = {
    Inst: _Writer._instance,
    Map: _Writer._mapping,
    Seq: _Writer._sequence,
    ExtInst: lambda w, a: ("e", a.dotted, w._table(a.attrs)),
}
_FIXED: Final[dict[type, Callable[[_Writer, Any], object]]] = {
    Tup: lambda w, a: ("T", a.cls.id if a.cls else 0, a.said, w.all(a.items)),
    Func: _Writer._func,
    Class: lambda w, a: ("c", w._local_class(a.info)),
    Bound: lambda w, a: ("b", w.key(a.func), w.key(a.recv)),
    Method: lambda w, a: ("y", a.name, w.key(a.obj)),
    Partial: lambda w, a: ("P", a.site, w.key(a.func), w.all(a.args), w._table(a.keywords)),
    Xform: _Writer._xform,
    Union: _Writer._union,
    Descr: lambda w, a: ("d", a.kind, w.key(a.func), w._maybe(a.setter)),
    Super: lambda w, a: ("s", a.cls.id, w.key(a.recv)),
    SliceVal: lambda w, a: (":", w._maybe(a.lo), w._maybe(a.hi), w._maybe(a.step)),
    At: lambda w, a: ("@", a.problem, a.beyond, w.key(a.arr), w._maybe(a.index)),
}


class _Writers(dict[type, Callable[[_Writer, Any], object]]):
    """How values are written, by their type."""

    def __missing__(self, kind: type) -> Callable[[_Writer, Any], object]:
        leaf = _LEAVES.get(kind)
        if leaf is None:
            self[kind] = _Writer._box if kind in _BOXES else _Writer._fixed
        else:
            self[kind] = lambda w, a: leaf(a)
        return self[kind]


_WRITERS: Final = _Writers(
    {
        Py: lambda w, a: _of_const(a),
        Unknown: lambda w, a: None,
        Ext: lambda w, a: a.dotted,
        Func: _Writer._function,
        Arr: _Writer._array,
        Class: _Writer._class,
    }
)


def _relations(keys: dict[Key, int]) -> frozenset[object]:
    """Which PRNG keys are derived from which others, and how."""
    out: list[object] = []
    for key, number in keys.items():
        for member in members_of(key):
            steps: list[object] = []
            part: Key | None = member
            while part is not None:
                other = keys.get(part)
                if other is not None and other != number:
                    out.append((number, other, tuple(steps)))
                steps.append(part.step)
                part = part.parent
    return frozenset(out)
