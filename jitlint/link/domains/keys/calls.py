"""What calls do to PRNG keys: summaries of activations, and how a remembered call repeats them (layer: ``link``, room ``domains``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from jitlint.infer.keys import Either, Key, Use
from jitlint.infer.values import Arr, Inst, Map, Seq, Tup, Union, Value
from jitlint.link.domains.keys.uses import (
    CARRIED,
    CONTAINERS,
    DEPTH,
    DRAW,
    RANDOM,
    SHUFFLE,
    child,
    earlier,
    fresh,
    report,
    use,
    uses_of,
    with_key,
)
from jitlint.link.engine.machine import Frame, Machine


class Summary:
    """What an activation does to keys. given: names inside its arguments. uses: of keys older than itself.

    first, last: the numbers of the keys made in it.
    """

    __slots__ = ("first", "given", "last", "uses")

    def __init__(self, given: list[Key], uses: list[Use], first: int, last: int) -> None:
        self.given = given
        self.uses = uses
        self.first = first
        self.last = last


def summarise(m: Machine, frame: Frame, given: list[Key], first: int) -> Summary | None:
    """After an activation: what later calls in the same context have to repeat."""
    log = frame.key_log or []
    if not log and not given and first == m.key_count:
        return None
    # children of what was split or replaced here say nothing that their parent does not
    spent = {u.key for u in log if u.stream == CARRIED or u.api == f"{RANDOM}split"}
    uses = [u for u in log if not _is_own(u.key, frame.scope.key, first) and not _derives(u.key, spent)]
    return Summary(given, uses, first, m.key_count)


def _derives(key: Key, from_: set[Key]) -> bool:
    part = key.parent
    while part is not None:
        if part in from_:
            return True
        part = part.parent
    return False


def _is_own(key: Key, scope: int, first: int) -> bool:
    """Whether a key was made in the activation of this scope, or in one that it called."""
    if type(key) is Either:
        return any(_is_own(member, scope, first) for member in key.members)
    while key.parent is not None:
        key = key.parent
    if type(key) is Either:
        return _is_own(key, scope, first)
    return key.step[1] > first if key.step[0] == "new" else bool(key.step[1] == scope)


def apply(m: Machine, f: Frame, at: int, summary: Summary, names: Renaming, given: list[Key]) -> None:
    """Consume in the caller what the called function consumes: its arguments at the call, others where it does."""
    if f.key_log is None:
        return
    own = set(given)
    for u in summary.uses:
        key = names.key(u.key)
        passed = _descends(key, own)
        if u.stream == CARRIED:
            _apply_carried(m, f, at, dataclasses.replace(u, key=key), passed)
            continue
        place = None if passed else (u.module, u.at, u.function)
        if f.many is not None:
            f.many.used.setdefault(key, u)
            if u.stream != SHUFFLE and not _descends(key, f.many.own):
                _shared(m, f, at, u, passed)
        use(m, f, at, key, u.stream, u.api if not passed else "", place)


def _shared(m: Machine, f: Frame, at: int, u: Use, passed: bool) -> None:
    """Every run of a function consumes one key: its caller's mistake where the caller has passed that, if it did not
    write the function itself."""
    if passed and not (u.module == f.module.name and u.function.startswith(f"{f.qualname}.")):
        u = dataclasses.replace(u, module=f.module.name, at=at, function=f.qualname, api="")
        report(m, f, u, u, "shared")
    else:
        report(m, f, u, u, "many")


def _apply_carried(m: Machine, f: Frame, at: int, u: Use, passed: bool) -> None:
    """A called function has replaced a key that it consumed: the same call again means another key."""
    state = uses_of(f)
    found = earlier(state.table, u.key, DRAW) if state is not None else None
    if found is not None:
        place = (f.module.name, at, f.qualname) if passed else (u.module, u.at, u.function)
        report(m, f, Use(u.key, DRAW, *place, "" if passed else u.api, (f.module.name, at)), found)
    if f.key_log is not None:
        f.key_log.append(u)


def _descends(key: Key, from_: set[Key] | frozenset[Key]) -> bool:
    if type(key) is Either:
        return any(_descends(member, from_) for member in key.members) or key in from_
    part: Key | None = key
    while part is not None:
        if part in from_ or (type(part) is Either and _descends(part, from_)):
            return True
        part = part.parent
    return False


class Renaming:
    """Names of keys in a remembered call to those of this call: arguments to arguments, new ones to new ones."""

    __slots__ = ("first", "known", "last", "m")

    def __init__(self, m: Machine, summary: Summary, now: list[Key], again: bool = True) -> None:
        self.m = m
        self.first = summary.first
        self.last = summary.last
        self.known: dict[Key, Key] = {}
        fits = len(now) == len(summary.given)
        for i, old in enumerate(summary.given):
            self.known.setdefault(old, now[i] if fits else fresh(m))
        for u in summary.uses:
            if u.stream == CARRIED and again:
                self.known.setdefault(u.key, fresh(m))

    def key(self, key: Key) -> Key:
        """The name that this call has for a key."""
        found = self.known.get(key)
        if found is not None:
            return found
        out = key
        if type(key) is Either:
            members = frozenset(self.key(member) for member in key.members)
            out = Either(members) if members != key.members else key
        elif key.parent is not None:
            parent = self.key(key.parent)
            out = key if parent is key.parent else child(self.m, parent, *key.step)
        elif key.step[0] == "new" and self.first < key.step[1] <= self.last:
            out = fresh(self.m)
        self.known[key] = out
        return out

    def value(self, value: Value, depth: int = DEPTH) -> Value:
        """A value with the keys inside it renamed; the same object when there are none."""
        t = type(value)
        a: Any = value
        if t is Arr:
            if a.key is None:
                return value
            key = self.key(a.key)
            return value if key is a.key else with_key(a, key)
        if t not in CONTAINERS or depth == 0:
            return value
        if t is Tup:
            items = [self.value(i, depth - 1) for i in a.items]
            return value if _unchanged(items, a.items) else Tup(tuple(items), a.cls)
        if t is Seq and a.items is not None:
            items = [self.value(i, depth - 1) for i in a.items]
            return value if _unchanged(items, a.items) else Seq(a.kind, items, None, a.level, a.token)
        if t is Map or t is Inst:
            table: dict[Any, Value] = a.entries if t is Map else a.attrs
            new = {k: self.value(v, depth - 1) for k, v in table.items()}
            if _unchanged(new.values(), table.values()):
                return value
            if t is Map:
                return Map(new, a.rest, a.level, a.token)
            inst = Inst(a.cls, new, a.level, a.token, a.open)
            inst.modes, inst.why = a.modes, a.why
            return inst
        if t is Union:
            alts = [self.value(i, depth - 1) for i in a.alts]
            return value if _unchanged(alts, a.alts) else Union(tuple(alts))
        return value


def _unchanged(new: Iterable[Value], old: Iterable[Value]) -> bool:
    return all(a is b for a, b in zip(new, old))
