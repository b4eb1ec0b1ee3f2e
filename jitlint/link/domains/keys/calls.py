"""What calls do to PRNG keys: summaries of activations, and how a remembered call repeats them (layer: ``link``, room ``domains``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Set
from typing import Final

from jitlint.infer.keys import Either, Key, Use, root_of
from jitlint.infer.values import NONE, Py, S, Tup, Value
from jitlint.link.domains.keys import constants
from jitlint.link.domains.keys.copies import is_copy
from jitlint.link.domains.keys.lanes import keep
from jitlint.link.domains.keys.ledger import LOG, MANY, RANDOM, Ledger
from jitlint.link.domains.keys.meant import DRAW, SHUFFLE
from jitlint.link.domains.keys.uses import CARRIED, CONSTANT, MODULE, OF_RUNS, earlier, note, report, use
from jitlint.link.engine.frame import Frame
from jitlint.link.values.keys import Renaming, inside, uses_of


class Summary:
    """What an activation does to keys. given: names inside its arguments. uses: of keys older than itself. back: of keys
    that it gives back, used as they are. first, last: the numbers of the keys made in it.
    """

    __slots__ = ("back", "first", "given", "last", "uses")

    def __init__(self, given: list[Key], uses: list[Use], back: list[Use], first: int, last: int) -> None:
        self.given = given
        self.back = back
        self.uses = uses
        self.first = first
        self.last = last


def summarise(k: Ledger, frame: Frame, given: list[Key], first: int, value: Value) -> Summary | None:
    """After an activation: what later calls in the same context have to repeat. value: what it returns."""
    log = LOG.of(frame) or []
    if not log and not given and first == k.m.keys.count:
        return None
    outside = {root for key in given for root in _roots(key)}
    drawn = not _is_static(value)
    older = [
        u
        for u in log
        if (drawn and u.stream == CONSTANT) or not _is_own(k, u.key, frame.scope.key, first, outside)
    ]
    uses = _without_children(older, log)
    used = [dataclasses.replace(u, idle=False) if u.idle and _is_drawn_from(u, log) else u for u in uses]
    if drawn:
        used += _of_constants(log, frame)
    # What it draws before it replaces a key is its own affair, and was said there: callers hear of the replaced ones first.
    used.sort(key=lambda u: u.stream != CARRIED)
    return Summary(given, used, _back(log, uses, value), first, k.m.keys.count)


def _is_static(value: Value) -> bool:
    """Whether a result is only numbers that Python knows, as shapes are: nothing that was drawn is in it."""
    if type(value) is Tup:
        return bool(value.items) and all(map(_is_static, value.items))
    return type(value) is Py and value is not NONE


def _of_constants(log: list[Use], frame: Frame) -> list[Use]:
    """What an activation draws from keys that it makes of constants."""
    made, staged = ("const", frame.scope.key), bool(frame.world.here & S)
    drawn = [u for u in log if u.stream == DRAW and root_of(u.key).step[:2] == made]
    ends = [u for u in _without_children(drawn, drawn) if not u.idle or _is_drawn_from(u, drawn)]
    return [dataclasses.replace(u, stream=CONSTANT, idle=False, staged=staged) for u in ends]


def _without_children(older: list[Use], log: list[Use]) -> list[Use]:
    """The uses of keys without those of children of what was split or replaced: they say nothing that their parent does not."""
    spent = {u.key for u in log if u.stream == CARRIED or u.api == f"{RANDOM}split"}
    ends = {(u.key, *u.drawn[:2]) for u in log if not u.api}
    return [u for u in older if not (_derives(u.key, spent) or _is_split_off(u.key, ends))]


def _back(log: list[Use], known: list[Use], value: Value) -> list[Use]:
    """What was done to the keys in the result that is not known by the keys that they were made of."""
    returned = set(inside([value])) if len(known) < len(log) else set()
    return [u for u in log if u.key in returned and u.stream not in (CARRIED, *OF_RUNS) and u not in known]


def _is_drawn_from(one: Use, log: list[Use]) -> bool:
    return any(u is not one and _derives(u.key, {one.key}) for u in log)


def _derives(key: Key, from_: set[Key]) -> bool:
    part = key.parent
    while part is not None:
        if part in from_:
            return True
        part = part.parent
    return False


def _is_split_off(key: Key, ends: set[tuple[Key, str, int]]) -> bool:
    """Whether a key is a child of one whose consumption, which a called function told of, was in the end this very split.

    ends: keys, and the places where JAX got them.
    """
    while key.parent is not None:
        if key.step[0] == "split" and (key.parent, *key.step[2:4]) in ends:
            return True
        key = key.parent
    return False


def _is_own(k: Ledger, key: Key, scope: int, first: int, outside: Set[Key]) -> bool:
    """Whether a key was made in the activation of this scope, or in one that it called: of the constant ones, those that no
    module makes and that were not handed in. outside: roots of what was handed in."""
    if type(key) is Either:
        return any(_is_own(k, member, scope, first, outside) for member in key.members)
    key = root_of(key)
    if type(key) is Either:
        return _is_own(k, key, scope, first, outside)
    if key.step[0] == "new":
        return bool(key.step[1] > first)
    return bool(key.step[1] == scope) or (key.step[1] not in k.m.by_scope and key not in outside)


def _roots(key: Key) -> Iterator[Key]:
    """What a key, or each that it may be, was made of."""
    root = root_of(key)
    if type(root) is not Either:
        yield root
        return
    for member in root.members:
        yield from _roots(member)


def renaming(k: Ledger, summary: Summary, now: list[Key], again: bool = True) -> Renaming:
    """The keys of a call by their names in this one: arguments to arguments, new ones to new ones."""
    known: dict[Key, Key] = {}
    fits = len(now) == len(summary.given)
    for i, old in enumerate(summary.given):
        known.setdefault(old, now[i] if fits else k.m.keys.fresh())
    for u in summary.uses:
        if u.stream == CARRIED and again:
            known.setdefault(u.key, k.m.keys.fresh())
    return Renaming(k.m.keys, summary.first, summary.last, known)


def apply(k: Ledger, f: Frame, at: int, summary: Summary, names: Renaming, given: list[Key]) -> None:
    """Consume in the caller what the called function consumes: its arguments at the call, others where it does."""
    if LOG.of(f) is None:
        return
    many = MANY.of(f)
    own = set(given)
    consumed: set[Key] = set()
    for u in summary.uses:
        key = names.key(u.key)
        passed = _descends(key, own)
        if passed and u.stream in (DRAW, SHUFFLE):
            if key in consumed:
                continue  # that is told where it is
            consumed.add(key)
        if u.stream in _APART:
            _APART[u.stream](k, f, at, dataclasses.replace(u, key=key), passed)
            continue
        place = None if passed else (u.module, u.at, u.function)
        told = u.told
        if many is not None:
            many.used.setdefault(key, u)
            alike = u.idle and is_copy(key)  # each device may make another of what it splits off
            if u.stream != SHUFFLE and not alike and not _descends(key, many.own):
                told = _shared(k, f, at, u, passed)
        use(
            k, f, at, key, u.stream, u.api if not passed else "", place, idle=u.idle, told=told, drawn=u.drawn
        )


def apply_returned(f: Frame, at: int, summary: Summary, names: Renaming | None) -> None:
    """Keys that a called function has used, and gives back as they are, are used ones. names: None for the very call
    that the summary is of."""
    if LOG.of(f) is None:
        return
    many = MANY.of(f)
    for u in summary.back:
        key = names.key(u.key) if names else u.key
        again = dataclasses.replace(u, key=key, site=(f.module.name, at), returned=True)
        note(f, again)
        if many is not None:
            many.back.setdefault(again.key, again)


def _shared(k: Ledger, f: Frame, at: int, u: Use, passed: bool) -> bool:
    """Every run of a function consumes one key: its caller's mistake where the caller has passed that, if it did not
    write the function itself. Answers whether that is told, of these runs or of those inside of them."""
    if u.told:
        return True
    if passed and not (u.module == f.module.name and u.function.startswith(f"{f.qualname}.")):
        u = dataclasses.replace(u, module=f.module.name, at=at, function=f.qualname, api="")
        return report(k, f, u, u, "shared")
    return report(k, f, u, u, "many")


def _apply_carried(k: Ledger, f: Frame, at: int, u: Use, passed: bool) -> None:
    """A called function has replaced a key that it consumed: the same call again means another key."""
    state = uses_of(f)
    found = earlier(state.table, u.key, DRAW) if state is not None else None
    if found is not None:
        place = (f.module.name, at, f.qualname) if passed else (u.module, u.at, u.function)
        report(k, f, Use(u.key, DRAW, *place, "" if passed else u.api, (f.module.name, at)), found)
    log = LOG.of(f)
    if log is not None:
        log.append(u)


def _apply_module(k: Ledger, f: Frame, at: int, u: Use, passed: bool) -> None:
    """A called function has handed a key to a module: a mistake if all lanes do, and the module is the same in all."""
    many, log = MANY.of(f), LOG.of(f)
    lanes = many is not None and many.batch and not _descends(u.key, many.own)
    told = u.told
    if lanes and many is not None and (many.devices or u.site == (u.module, u.at)):
        told = _shared(k, f, at, u, passed)
    if log is not None:
        keep(log, dataclasses.replace(u, site=(f.module.name, at), told=told))


_APART: Final = {CARRIED: _apply_carried, MODULE: _apply_module, CONSTANT: constants.applied}
"""What is no draw like others: by its stream, what it means for a caller."""


def _descends(key: Key, from_: set[Key] | frozenset[Key]) -> bool:
    if type(key) is Either:
        return any(_descends(member, from_) for member in key.members) or key in from_
    part: Key | None = key
    while part is not None:
        if part in from_ or (type(part) is Either and _descends(part, from_)):
            return True
        part = part.parent
    return False
