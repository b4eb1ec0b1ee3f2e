"""Contexts beyond a function's budget: how much of its arguments a call keeps (layer: ``link``, room ``core``).

What it does: counts the contexts of each function, and says how coarse the next one has to be. A coarse context keeps
what is traced, on which ground, and which functions and classes it is about; it forgets numbers first, then texts, flags
and the structure of containers. What a call becomes depends on that call alone, not on those before it. What it does not:
run anything.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Set
from typing import Any, Final

from jitlint.infer.about import NOTHING
from jitlint.infer.counted import NEVER, Loop
from jitlint.infer.lattice import joined, or_unknown, parts, reshaped
from jitlint.infer.objects import seen_as
from jitlint.infer.program import FuncInfo
from jitlint.infer.sizes import flat
from jitlint.infer.values import (
    NO_CONST,
    STATIC,
    UNKNOWN,
    Arr,
    Bound,
    Func,
    Inst,
    Map,
    Partial,
    Py,
    Seq,
    Tup,
    Union,
    Value,
    alternatives,
)
from jitlint.link.engine.budgets import (
    FEW_CONTEXTS,
    MANY_CONTEXTS,
    MAX_COARSE,
    MAX_CONTEXTS,
    MAX_COUNTING_LOOPS,
    MAX_DEPTH,
    MAX_GUESSED_COARSE,
    MAX_GUESSED_CONTEXTS,
    MAX_SMALL_CONTEXTS,
    MAX_TINY_CONTEXTS,
    MAX_TRACED_COARSE,
    MAX_TRACED_CONTEXTS,
    MAX_TRACED_NODES,
    SMALL,
    TINY,
)
from jitlint.link.values.questions import counting
from jitlint.syntax import ir

OUTSIDE: Final = "outside"
TRACED: Final = "traced"
GUESSED: Final = "guessed"
"""Where a call happens: outside of traces, in one, or only perhaps in one."""

_COARSE: Final = {OUTSIDE: MAX_COARSE, TRACED: MAX_TRACED_COARSE, GUESSED: MAX_GUESSED_COARSE}

EXACT: Final = 0
WITHOUT_NUMBERS: Final = 1
SHALLOW: Final = 2
GIVEN_UP: Final = 3

_NUMBERS: Final = frozenset({"int", "float", "complex", "bytes"})
_FORGOTTEN: Final = (frozenset[str](), _NUMBERS, _NUMBERS | {"str", "bool"})
_LEFT: Final = (frozenset[str](), _NUMBERS, _NUMBERS | {"str", "bool", "static"})
"""What is left of what was forgotten, by its kind: of the last level not even that."""

_LONG: Final = (0, 32, 4)
_NESTED: Final = (0, 32, 2)
_FUNCTIONS: Final = (Func, Bound, Partial)


def with_few_counts(fn: FuncInfo, bound: dict[str, Value]) -> tuple[dict[str, Value], bool]:
    """The arguments of a call, and whether a loop counts one of them. Of more than a few loops it is forgotten how far they get,
    first of those of which that is not known yet: contexts are dear, and what matters more than a last turn is what is traced."""
    found = [counted for counted in map(counting.of, bound.values()) if counted is not None]
    loops = {counted.loop for counted in found if counted.loop != NEVER} if found else None
    if not loops:
        return bound, False
    ended = {counted.loop for counted in found if counted.loop in loops and counted.last is not None}
    for kept in (loops, ended) if ended else (loops,):
        if len(fn.counted_by | kept) <= MAX_COUNTING_LOOPS:
            fn.counted_by |= kept
            return bound if kept is loops else _only(bound, kept), True
    return _only(bound, frozenset()), False


def _only(bound: dict[str, Value], loops: Set[Loop]) -> dict[str, Value]:
    """Arguments of which it is forgotten what other loops count."""
    return {
        name: value
        if (counted := counting.of(value)) is None or counted.loop in loops
        else counting.forgotten(value)
        for name, value in bound.items()
    }


def needed(
    counts: bool, fn: FuncInfo, where: str, bound: dict[str, Value], depth: int, inherited: int, room: int
) -> int:
    """How coarse a new context has to be. counts: a loop counts one of the arguments, for which there is room apart."""
    if counts and not inherited and depth < MAX_DEPTH:
        return EXACT
    return coarseness(fn, where, bound, depth, inherited, room)


def coarseness(
    fn: FuncInfo, where: str, bound: dict[str, Value], depth: int, inherited: int, room: int
) -> int:
    """Count a new context of a function: how coarse it has to be. What forgets structure calls nothing that does not.

    A method of a base class has one more for each class; a function that is handed functions as many more as it is
    handed; a function without arguments those of what is around it. room: see `budgets.room`.
    """
    if inherited >= SHALLOW:
        return inherited
    used, limit = _used(fn, where, room)
    if len(fn.parts) <= TINY and type(fn.body[-1]) is ir.Return:
        limit = MAX_TINY_CONTEXTS
    receiver: Any = next(iter(bound.values()), None)
    is_new = where is not OUTSIDE and type(receiver) is Inst and receiver.cls.id not in fn.receivers
    if is_new:
        fn.receivers.add(receiver.cls.id)
    if depth >= MAX_DEPTH:
        return SHALLOW if depth >= 2 * MAX_DEPTH else WITHOUT_NUMBERS
    if used <= limit or (is_new and len(fn.receivers) <= limit):
        return EXACT
    several = not bound or any(type(v) in _FUNCTIONS for v in bound.values())
    return EXACT if several and used <= MANY_CONTEXTS * limit else WITHOUT_NUMBERS


def _used(fn: FuncInfo, where: str, room: int) -> tuple[int, int]:
    """Count a context: how many there are of its kind, and how many there may be."""
    if where is OUTSIDE:
        fn.contexts += 1
        return fn.contexts, room * (MAX_SMALL_CONTEXTS if len(fn.parts) <= SMALL else MAX_CONTEXTS)
    fn.traced_contexts += 1
    if where is GUESSED:
        fn.guessed_contexts += 1
        return fn.guessed_contexts, room * MAX_GUESSED_CONTEXTS
    affordable = max(FEW_CONTEXTS, MAX_TRACED_NODES // (len(fn.parts) + 1))
    return fn.traced_contexts, room * min(MAX_TRACED_CONTEXTS, affordable)


def coarser(func: Func, where: str, level: int, bound: dict[str, Value], room: int) -> int:
    """Count a new context that is coarse already: whether it may run (the level), or has to be coarser still."""
    fn = func.fn
    used = fn.merged[where, level] = fn.merged.get((where, level), 0) + 1
    if used <= room * _COARSE[where][level - 1]:
        return level
    if level < SHALLOW:
        return level + 1
    handed = _functions(bound.values())
    if func.scope.fn is not None:
        handed += _functions(
            func.scope.vars.values()
        )  # what a decorator made is as many functions as it decorates
    if any(handed) and handed not in fn.handed:
        fn.handed.add(handed)
        return level
    return GIVEN_UP


def _functions(values: Iterable[Value]) -> tuple[int, ...]:
    return tuple([value.fn.id if type(value) is Func else 0 for value in values])


def inherited(bound: dict[str, Value], level: int) -> int:
    """How coarse a call is that a coarse context makes: as that, if it hands on what may be forgotten."""
    for value in bound.values():
        if is_lost(value, level) or any(is_lost(part, level) for part in parts(value)):
            return level
    return EXACT


def coarse(bound: dict[str, Value], level: int) -> dict[str, Value]:
    """The arguments of a call as a coarse context keeps them."""
    reduce = _Reduction(level)
    return {name: reduce(value) for name, value in bound.items()}


def is_lost(value: Value | None, level: int) -> bool:
    """Whether a value may be what a coarse context has forgotten."""
    if value is None:
        return False
    if value is UNKNOWN:
        return level >= SHALLOW
    kinds = _LEFT[level]
    return any(type(a) is Py and a.const is NO_CONST and a.kind in kinds for a in alternatives(value))


class _Reduction:
    """What is left of values. Boxes keep their identity when nothing is taken from them."""

    __slots__ = ("depth", "flat", "known", "level")

    def __init__(self, level: int) -> None:
        self.level = level
        self.depth = 0
        self.known: dict[int, Value] = {}
        self.flat: dict[int, Value] = {}

    def __call__(self, value: Value) -> Value:
        t = type(value)
        a: Any = value
        if t is Py:
            return self._constant(a)
        if t is Arr:
            return self._array(a)
        reduce = _COMPOUND.get(t)
        if reduce is None:
            return value
        known = self.known.get(id(value))
        if known is not None:
            return known
        if self.depth >= _NESTED[self.level]:
            below = self.flat.get(id(value))
            if below is None:
                below = self.flat[id(value)] = flat(value)
            return below
        self.known[id(value)] = value  # until it is known: an object inside itself
        self.depth += 1
        out: Value = reduce(self, a)
        self.known[id(value)] = out
        self.depth -= 1
        return out

    def _constant(self, a: Py) -> Value:
        if a.kind not in _FORGOTTEN[self.level] or (a.const is NO_CONST and a.counted is None):
            return a
        return Py(a.kind) if self.level < SHALLOW else STATIC

    def _array(self, a: Arr) -> Value:
        if (
            a.dims is None
            and a.about is NOTHING
            and (self.level < SHALLOW or (a.dtype in (None, "key") and a.rank is None))
        ):
            return a
        dtype, rank = (a.dtype, a.rank) if self.level < SHALLOW or a.dtype == "key" else (None, None)
        return reshaped(a, dtype, rank)

    def _all(self, values: Iterable[Value]) -> list[Value]:
        return [self(value) for value in values]

    def _table(self, values: dict[Any, Value]) -> dict[Any, Value]:
        return {key: self(value) for key, value in values.items()}

    def _tuple(self, a: Tup) -> Value:
        items = self._all(a.items)
        if len(items) > _LONG[self.level] and a.cls is None:
            return Seq("tuple", None, joined(items))
        return a if _same(items, a.items) else a.of(items)

    def _sequence(self, a: Seq) -> Value:
        if a.items is None:
            rest = None if a.rest is None else self(a.rest)
            return a if rest is a.rest else Seq(a.kind, None, rest, a.level, a.token)
        items = self._all(a.items)
        if len(items) > _LONG[self.level]:
            return Seq(a.kind, None, joined(items), a.level, a.token)
        return a if _same(items, a.items) else Seq(a.kind, items, None, a.level, a.token)

    def _mapping(self, a: Map) -> Value:
        entries = self._table(a.entries)
        rest, key = [None if v is None else self(v) for v in (a.rest, a.key)]
        if len(entries) > 4 * _LONG[self.level]:
            rest = joined([*entries.values(), *([] if rest is None else [rest])])
            entries, key = {}, None
        if rest is a.rest and key is a.key and _same(entries.values(), a.entries.values()):
            return a
        return Map(entries, rest, a.level, a.token, key)

    def _instance(self, a: Inst) -> Value:
        attrs = self._table(a.attrs)
        if _same(attrs.values(), a.attrs.values()):
            return a
        return seen_as(a, attrs)

    def _bound(self, a: Bound) -> Value:
        receiver = self(a.recv)
        return a if receiver is a.recv else Bound(a.func, receiver)

    def _partial(self, a: Partial) -> Value:
        args, keywords = self._all(a.args), self._table(a.keywords)
        if _same(args, a.args) and _same(keywords.values(), a.keywords.values()):
            return a
        return Partial(a.func, args, keywords, a.site)

    def _union(self, a: Union) -> Value:
        alts = self._all(a.alts)
        return a if _same(alts, a.alts) else or_unknown(joined(alts))


_COMPOUND: Final[dict[type, Any]] = {
    Tup: _Reduction._tuple,
    Seq: _Reduction._sequence,
    Map: _Reduction._mapping,
    Inst: _Reduction._instance,
    Bound: _Reduction._bound,
    Partial: _Reduction._partial,
    Union: _Reduction._union,
}


def _same(new: Iterable[Value], old: Iterable[Value]) -> bool:
    return all(map(operator.is_, new, old))
