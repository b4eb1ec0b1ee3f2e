"""Judges the log of captures: which reads of traced code go stale because somebody writes the place later (layer: ``link``, room ``domains``).

A read is stale when a write can follow the first trace and a call can follow the write. Within one run of code the
log says so. A function that nobody was seen to call may run at any time, hence also between two calls.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import Capture
from jitlint.infer.objects import is_cold, itself
from jitlint.infer.places import Place, Step
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import (
    NO_CONST,
    UNKNOWN,
    Arr,
    Class,
    Func,
    Inst,
    Map,
    Scope,
    Tree,
    Value,
    Xform,
    const_of,
)
from jitlint.link.domains.captures.handed import Seen, left_behind
from jitlint.link.domains.captures.log import ANY, Call, Entry, Load, Log, Remade, Side, Write
from jitlint.link.domains.captures.size import elements
from jitlint.link.domains.captures.syntax import (
    GLOBAL,
    LOCAL,
    PARAMETER,
    constructs,
    exclusive,
    harmless,
    is_made_here,
    only_checked,
    only_settings,
    renews,
    root_of,
    succeeds,
)
from jitlint.link.domains.captures.turns import is_of_the_turn
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import ir_walk, naming
from jitlint.link.values.questions import extent
from jitlint.link.values.questions.kinds import is_thread_local, mro
from jitlint.syntax import ir

MOST: Final = 50
"""Writes between two calls that are looked at, the latest ones."""


@dataclass(frozen=True, slots=True)
class _Read:
    time: int
    call: Call
    load: Load


class Places:
    """Which entries of a log are about which place, as far as it was read; it is read on as it grows."""

    def __init__(self) -> None:
        self.reads: defaultdict[Hashable, list[_Read]] = defaultdict(list)
        self.writes: defaultdict[Hashable, list[tuple[int, Write]]] = defaultdict(list)
        self._end = 0

    def read(self, log: list[Entry]) -> None:
        """Take in what is new."""
        for time in range(self._end, len(log)):
            entry = log[time]
            if type(entry) is Write:
                self.writes[_match_key(entry)].append((time + 1, entry))
            elif type(entry) is Call:
                for load in entry.loads.values():
                    self.reads[_match_key(load)].append(_Read(time + 1, entry, load))
        self._end = len(log)


def judge(m: Machine, captures: Log, places: Places) -> None:
    """Record an event for every stale read."""
    log = captures.log
    places.read(log)
    judged = _Judge(m, captures)
    for key, found in places.reads.items():
        writes = places.writes.get(key)
        if writes is None:
            continue
        groups: defaultdict[Hashable, list[_Read]] = defaultdict(list)
        for read in found:
            groups[(id(read.call.target), id(read.load.owner), read.load.key)].append(read)
        for group in groups.values():
            judged.group(group, [w for w in writes if _same_place(group[0].load, w[1])])
    _handed(m, log)
    _large(m, log)


def _handed(m: Machine, log: list[Entry]) -> None:
    """Record the parameters of functions that made a program whose user goes on without it."""
    seen: Seen = set()
    for entry in (one for one in log if type(one) is Call):
        for load, renewed in left_behind(m, entry, seen):
            if load.confidence is not Confidence.POSSIBLE:
                load = replace(load, confidence=Confidence.LIKELY)  # the difference may be meant
                writer = entry.fn.qualname if entry.fn is not None else ""
                also = (Step(entry.module, renewed, "what it was given is renewed here"),)
                event = Capture(_place(load), kind="state", problem="renewed", writer=writer, also=also)
                m.sink.add((Capture, load.module, load.at), event)


def _sides(log: list[Entry]) -> dict[int, tuple[tuple[int, int], ...]]:
    """The times of entries on sides: where the ``if`` begins, and the number of the side, from the outermost inwards."""
    found: dict[int, tuple[tuple[int, int], ...]] = {}
    inside: tuple[tuple[int, int], ...] = ()
    for time, entry in enumerate(log, 1):
        if type(entry) is not Side:
            if inside:
                found[time] = inside
        elif entry.number == 0:
            inside = (*inside, (time, 0))
        elif inside:
            inside = inside[:-1] if entry.number is None else (*inside[:-1], (inside[-1][0], entry.number))
    return found


def _large(m: Machine, log: list[Entry]) -> None:
    """Record the first read of every huge array that staged functions copy into their programs."""
    modules = {id(info.scope): info for info in m.modules.values()}
    seen: set[tuple[int, object]] = set()
    for entry in log:
        for place, load in entry.loads.items() if type(entry) is Call else ():
            if type(load.value) is not Arr or load.value.modes or (place[1], place[2]) in seen:
                continue
            seen.add((place[1], place[2]))
            info = modules.get(place[1])
            size = extent.elements(load.value) or (elements(info, str(load.key)) if info is not None else 0)
            if size >= extent.LARGE and load.kind in ("name", "attr"):
                event = Capture(_place(load), kind="array", problem="large", size=size)
                m.sink.add((Capture, "large", load.module, load.at), event)


def _place(load: Load) -> Place:
    function = load.fn.qualname if load.fn is not None else ""
    return Place(load.module, load.at, function, load.steps, load.ground, load.confidence)


def _match_key(place: Load | Write) -> Hashable:
    """Places that are certainly different have different keys."""
    if place.kind == "attr":
        return ("attr", place.key)
    if place.kind in ("elem", "buffer"):
        return (place.kind, id(place.owner))
    return (place.kind, id(place.owner), place.key)


def _same_place(load: Load, write: Write) -> bool:
    if load.kind == "elem":
        return load.key == write.key or load.key == ANY or write.key == ANY
    if load.kind != "attr" or load.owner is write.owner:
        return True
    a, b = load.owner.cls, write.owner.cls
    related = a in mro(b) or b in mro(a)
    return related and (is_cold(load.owner) or is_cold(write.owner))


def _concerning(load: Load, writes: list[tuple[int, Write]]) -> list[tuple[int, Write]]:
    """The writes that are somebody else's, to an object that is there, and leave other settings if only these are read."""
    found = [w for w in writes if w[1].fn is None or (w[1].fn is not load.fn and not constructs(w[1]))]
    return [w for w in found if not succeeds(w[1])] if found and only_settings(load) else found


def _stands_for_several(owner: object) -> bool:
    """Whether it is what several objects have in common, and was made by nobody: one may be read, and another written."""
    return type(owner) is Inst and not owner.born and not is_cold(owner) and itself(owner) is owner


class _Judge:
    """Judges the reads of one place by one staged function."""

    def __init__(self, m: Machine, captures: Log) -> None:
        self.m = m
        self.captures = captures
        self.starts = [episode.start for episode in self.captures.episodes]
        self.kept = {id(box) for box in self.captures.kept}
        self.sides = _sides(captures.log)

    def episode(self, time: int) -> int:
        """The number of the episode that a time belongs to."""
        return bisect_right(self.starts, time - 1) - 1

    def _apart(self, first: int, second: int) -> bool:
        """Whether no run of the program comes by both entries."""
        pairs = zip(self.sides.get(first, ()), self.sides.get(second, ()))
        return any(a[0] == b[0] and a[1] != b[1] for a, b in pairs)

    def group(self, reads: list[_Read], writes: list[tuple[int, Write]]) -> None:
        """Record the first read if one of the writes makes it stale."""
        load = reads[0].load
        writes = _concerning(load, writes)
        if not writes or not _keeps(load) or only_checked(load):
            return
        if load.kind == "elem" and id(load.owner) in self.kept:
            return
        found = None if _stands_for_several(load.owner) else self._in_order(reads, writes)
        if found is not None:
            self._record(*found, Confidence.CERTAIN if _brings_another(load, found[1]) else Confidence.LIKELY)
            return
        found = self._any_time(reads, writes)
        if found is not None:
            sure = _is_called(load, found[1])
            self._record(found[0], found[1], Confidence.LIKELY if sure else Confidence.POSSIBLE)

    def _in_order(self, reads: list[_Read], writes: list[tuple[int, Write]]) -> tuple[_Read, Write] | None:
        """A write between two calls in one episode, which leaves another value than the first call read."""
        first: dict[tuple[int, ...], _Read] = {}
        times = [time for time, _ in writes]
        for read in reads:
            made = _made_for(read)
            born = [time for one in made if (time := self.captures.born(one, read.time)) is not None]
            if len(born) < len(made):
                continue
            which = (self.episode(read.time), *map(id, read.call.given))
            before = first.setdefault(which, read)
            if before.time < max(born):  # what was read then was another one
                before = first[which] = read
            lo, hi = bisect_right(times, before.time), bisect_left(times, read.time)
            between = [
                write
                for time, write in writes[max(lo, hi - MOST) : hi]
                if _may_follow(before, write, read)
                and not self._apart(before.time, time)
                and not self._apart(time, read.time)
            ]
            if between and self._leaves_another(before, between[-1], writes):
                return before, between[-1]
        return None

    def _leaves_another(self, before: _Read, write: Write, writes: list[tuple[int, Write]]) -> bool:
        """Whether a write may leave another value than the one that was read, in the run that it is a part of."""
        if harmless(write):
            return False
        turn = is_of_the_turn(self.m, before.call, write)
        if turn is not None or _same(before.load.value, write.value):
            return bool(turn)
        number = self.episode(before.time)
        earlier = [w for t, w in writes if t < before.time and self.episode(t) == number]
        if earlier and _same_const(earlier[-1].value, write.value):
            return False
        if not any(w.at == write.at and w.module == write.module for w in earlier):
            return True
        made_by = _is_made_by(before.call.target, write.fn)
        return not _is_of_another_call(before, write) and _brings_another(before.load, write, made_by)

    def _any_time(self, reads: list[_Read], writes: list[tuple[int, Write]]) -> tuple[_Read, Write] | None:
        """A write in a function that may run at any time."""
        reads = [read for read in reads if not self._is_of_a_callee(read)]
        last: dict[int, list[tuple[int, Write]]] = {}
        before: Write | None = None
        for time, write in writes:
            number = self.episode(time)
            if number == 0:
                before = write
            last.setdefault(number, []).append((time, write))
        for number, inside in last.items():
            fn = self.captures.episodes[number].fn
            if fn is None or not self._is_free(fn):
                continue
            for read in reads:
                found = self._left_behind(read, number, inside)
                if found is None or (before is not None and _same_const(before.value, found.value)):
                    continue
                if self._makes_stale(read, number, found):
                    return read, found
        return None

    def _makes_stale(self, read: _Read, number: int, found: Write) -> bool:
        """Whether what was compiled at a read is still there when an episode writes."""
        kept = self._may_change(found) and self._outlives(read, number, found.fn)
        return kept and _same_container(read.load, found) and not harmless(found)

    def _is_of_a_callee(self, read: _Read) -> bool:
        """Whether a function that others call was run by itself: what it reads when they do says more."""
        fn = self.captures.episodes[self.episode(read.time)].fn
        return fn is not None and fn.reached

    def _left_behind(self, read: _Read, number: int, inside: list[tuple[int, Write]]) -> Write | None:
        """The write of an episode that decides what the next one finds; None when that is the same each time."""
        if self.episode(read.time) == number:
            earlier = [w for t, w in inside if t < read.time]
            if earlier:
                known = earlier[-1].value
                return None if known is not None and const_of(known) is not NO_CONST else earlier[-1]
        found = inside[-1][1]
        return found if self._differs(read.load, found) else None

    def _is_free(self, fn: FuncInfo) -> bool:
        """Whether nobody was seen to call a function, which is not by its name something that runs once."""
        return not fn.reached and not fn.module.is_test and not _comes_first(fn)

    def _may_change(self, write: Write) -> bool:
        stacks = lexicon().captures.stack_methods
        return write.fn is not None and not _comes_first(write.fn) and write.fn.name not in stacks

    def _outlives(self, read: _Read, number: int, fn: FuncInfo | None) -> bool:
        """Whether what was compiled at the read is still there when the episode of the write begins. fn: what writes."""
        target = read.call.target
        here = self.episode(read.time)
        latest = self.captures.episodes[min(here, number) if here else number].start
        if here == 0 and (type(target) is not Func or target.scope.fn is not None):
            return False
        owner = read.load.owner
        if type(owner) is Scope and owner.fn is fn:
            return False  # each call of a function has variables of its own
        return all(one.born <= latest for one in _made_for(read))

    def _differs(self, load: Load, write: Write) -> bool:
        """Whether the write may bring something new; a table of functions is only added to."""
        if write.value is not None and _same(load.value, write.value):
            return False
        if load.kind == "elem" and type(load.owner) is Map:
            return load.value is not UNKNOWN and not isinstance(load.value, (Func, Class, Xform))
        return True

    def _record(self, read: _Read, write: Write, at_most: Confidence = Confidence.CERTAIN) -> None:
        """Record a stale read. at_most: how sure it is that somebody writes; that users of a class call all of its
        methods is a convention, that somebody calls a function is a guess."""
        load = read.load
        if at_most.rank < load.confidence.rank:
            load = replace(load, confidence=at_most)
        writer = write.fn.qualname if write.fn is not None else ""
        where = f"`{writer}` changes it here" if writer else "it is changed here"
        also = (Step(write.module, write.at, where),)
        key = (Capture, load.module, load.at)
        self.m.sink.add(key, Capture(_place(load), kind=_kind(load), writer=writer, also=also))


def _made_for(read: _Read) -> tuple[Func | Inst | Xform | Remade, ...]:
    """What a compiled program that has read a place is of: others make another program, or another place."""
    owner = read.load.owner
    return (read.call.target, *read.call.given, *((owner,) if type(owner) is Inst else ()))


def _may_follow(first: _Read, write: Write, second: _Read) -> bool:
    """Whether one run of the code can do these three in this order to one and the same place."""
    if write.owner is not first.load.owner or not _same_container(first.load, write):
        return False
    return not exclusive(first.call, write) and not exclusive(write, second.call)


def _same_container(load: Load, write: Write) -> bool:
    """Whether a container that is changed is surely the one that was read. Containers that a function gets or makes
    are told apart by the place that made them only, so what holds the one that was read must be a variable."""
    if load.kind not in ("elem", "buffer"):
        return True
    root = root_of(write)
    if root == PARAMETER:
        return load.via == GLOBAL
    return root != LOCAL or load.via != ""


def _keeps(load: Load) -> bool:
    """Whether the place is one that JAX does not look at again by itself."""
    owner = load.owner
    if load.confidence is Confidence.POSSIBLE:
        return False
    if load.kind == "model":
        return True
    if type(owner) is not Inst or is_thread_local(owner.cls):
        return type(owner) is not Inst
    return (
        not owner.cls.pytree
        and owner.cls.role not in lexicon().captures.pytree_roles
        and (not owner.cls.hashable or _is_hashed_by_identity(owner.cls))
    )


def _is_hashed_by_identity(cls: ClassInfo) -> bool:
    """Whether the hash of its objects is their `id`, whatever they hold: JAX does not see that they change."""
    method = cls.namespace.get("__hash__")
    if type(method) is not Func or any("__eq__" in c.namespace for c in mro(cls)) or len(method.fn.body) != 1:
        return False
    node = method.fn.body[0]
    value = node.value if type(node) is ir.Return else None
    while type(value) is ir.Call and ir_walk.path_text(value.func) == "hash" and len(value.args) == 1:
        value = value.args[0].value
    return type(value) is ir.Call and ir_walk.path_text(value.func) == "id"


def _same(old: Value, new: Value | None) -> bool:
    """Whether two values are certainly the same."""
    if new is None:
        return False
    if old is new:
        return old is not UNKNOWN
    a, b = const_of(old), const_of(new)
    return a is not NO_CONST and type(a) is type(b) and a == b


def _is_called(load: Load, write: Write) -> bool:
    """Whether somebody may well call what writes: users of a class call all of its methods."""
    fn = write.fn
    return _brings_another(load, write) if load.kind == "attr" else fn is None or fn.reached


def _is_made_by(target: object, fn: FuncInfo | None) -> bool:
    """Whether each call of a function makes a staged function of its own."""
    inner = target.target if type(target) is Xform else target
    return type(inner) is Func and fn is not None and inner.scope.fn is fn


def _is_of_another_call(before: _Read, write: Write) -> bool:
    """Whether a function that has written before has run again, and writes what each of its calls has for itself. before: read
    by what is called elsewhere, when that call is over."""
    fn, caller = write.fn, before.call.fn
    if fn is None or (caller is not None and f"{caller.qualname}.".startswith(f"{fn.qualname}.")):
        return False
    owner = before.load.owner
    return owner.fn is fn if type(owner) is Scope else is_made_here(write)


def _brings_another(load: Load, write: Write, in_one_call: bool = False) -> bool:
    """Whether a write, which does not leave what was read, leaves another value on the best of grounds: what a call
    without arguments of its own gives may be the same again. in_one_call: of the function that writes."""
    known = const_of(write.value) is not NO_CONST if write.value is not None else True
    return (
        renews(write, in_one_call)
        or type(write.value) is Func
        or (known and not _same(load.value, write.value))
    )


def _same_const(old: Value | None, new: Value | None) -> bool:
    return old is not None and const_of(old) is not NO_CONST and _same(old, new)


def _comes_first(fn: FuncInfo) -> bool:
    """Whether a function by its name runs once, or before anything is traced."""
    captures = lexicon().captures
    first = fn.registers or fn.name in captures.first_methods
    return first or naming.begins_with(fn.name, captures.preparing)


def _kind(load: Load) -> str:
    value = load.value
    if load.kind == "model":
        return load.kind
    if type(value) is Arr or (type(value) is Tree and value.evidence == "array"):
        return "array"
    return "function" if isinstance(value, (Func, Xform)) else "state"
