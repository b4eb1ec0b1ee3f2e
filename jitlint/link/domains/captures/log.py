"""What traced code reads of the world outside, and who writes it: a log in the order of execution (layer: ``link``, room ``domains``).

What it does: while something is staged it collects the loads of places that are older than the trace (globals, cells,
attributes, elements of containers, NumPy buffers); on the host it logs their writes and the calls of staged functions.
A remembered activation gives its part of the log, or its loads, again. What it does not: judge; `judge` does
that when the whole program has run. The clock is the length of the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Optional, Union

from jitlint.base.diagnostic import Confidence
from jitlint.infer.objects import itself
from jitlint.infer.values import (
    Arr,
    Bound,
    Class,
    Descr,
    Ext,
    Func,
    Inst,
    Map,
    Mod,
    Scope,
    Seq,
    Tup,
    Value,
    Xform,
    alternatives,
    const_of,
)
from jitlint.link.engine.effects import Way, inside
from jitlint.link.engine.frame import Slot

if TYPE_CHECKING:
    from jitlint.infer.places import Step
    from jitlint.infer.program import ClassInfo, FuncInfo, ModuleInfo
    from jitlint.link.engine.domain import Activation, Watched
    from jitlint.link.engine.frame import Args, Frame
    from jitlint.link.engine.machine import Machine

ANY: Final = "*"
"""The key of a place that is a whole container or buffer."""

MAX_LOG: Final = 200_000
MAX_REPLAYED: Final = 200
"""Entries of a remembered activation that are logged again."""

Key = tuple[str, int, object]


@dataclass(frozen=True, slots=True)
class Load:
    """Traced code reads a place. kind: name, attr, class, elem, buffer, part (of an object that is not understood). owner: the scope, box or class.

    key: the name, attribute, element, or name and part. A module is a place of the kind model. value: what was read. fn, statement: where. via: the kind of variable that
    holds the container or buffer itself: global, cell, or "" for others.
    """

    kind: str
    owner: Any
    key: object
    value: Value
    module: str
    at: int
    fn: FuncInfo | None
    statement: int
    steps: tuple[Step, ...]
    ground: str
    confidence: Confidence
    via: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """Host code writes a place. fn: the function that does, None at module level. value: None when it is changed in
    place. statement: where the statement is that does it."""

    kind: str
    owner: Any
    key: object
    value: Value | None
    module: str
    at: int
    fn: FuncInfo | None
    statement: int


@dataclass(frozen=True, slots=True)
class Call:
    """Host code calls a staged function, which reads ``loads``. target: the function or transformed function.

    given: objects among its arguments that only equal themselves: for each of them it is compiled.
    """

    target: Any
    given: tuple[Inst, ...]
    loads: dict[Key, Load]
    module: str
    fn: FuncInfo | None
    statement: int


@dataclass(frozen=True, slots=True)
class Side:
    """From here on the log tells of the side ``number``, of which one run sees one; None: after all of them."""

    number: int | None


Entry = Union[Write, Call, Side]


@dataclass(frozen=True, slots=True, eq=False)
class Remade:
    """A transformed function that a remembered activation makes again."""

    born: int


@dataclass(frozen=True, slots=True)
class Episode:
    """A part of the log that runs in one go. fn: the function that nobody was seen to call; None: all module bodies."""

    start: int
    fn: FuncInfo | None


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a remembered activation read, or did to the log. boxes: the instances it was given, and those inside of what it was given."""

    loads: dict[Key, Load] | None
    part: tuple[int, int]
    boxes: tuple[tuple[str, Way, Inst], ...]


@dataclass(slots=True)
class Log:
    """The log of a session. current: the loads of the innermost staged activation, None on the host. kept: containers
    that traced code changes: what it finds there is its own business. births: when something was made that was made
    more than once, since the calls that gave it were remembered."""

    m: Machine
    log: list[Entry] = field(default_factory=list)
    episodes: list[Episode] = field(default_factory=lambda: [Episode(0, None)])
    current: dict[Key, Load] | None = None
    kept: list[Value] = field(default_factory=list)
    rebound: dict[str, frozenset[str]] = field(default_factory=dict)
    births: dict[int, list[int]] = field(default_factory=dict)

    def born(self, value: Func | Inst | Xform | Remade, time: int) -> int | None:
        """When something that is read at a time was made, the last time before; None when it was made later only."""
        births = self.births.get(id(value)) or [value.born]
        return max((birth for birth in births if birth <= time), default=None)

    @property
    def now(self) -> int:
        """The time, by which makings are dated; 0 for what was always there."""
        return 0 if self.m.timeless else len(self.log) + 1

    def begin(self, fn: FuncInfo | None) -> None:
        """A new episode: whatever runs from here on may happen at any time after the modules were run."""
        self.current = None
        if self.episodes[-1].start == len(self.log):
            self.episodes.pop()
        self.episodes.append(Episode(len(self.log), fn))

    def side(self, number: int | None) -> None:
        """Another side begins, or the last has ended; sides on which nothing happened leave no trace."""
        if self.m.timeless:
            return
        if number is None:
            while type(last := self.log[-1]) is Side and last.number is not None:
                self.log.pop()
                if last.number == 0:
                    return
        self.log.append(Side(number))

    def load(
        self, f: Frame, at: int, kind: str, owner: Any, key: object, value: Value, via: str = ""
    ) -> None:
        """Traced code reads a place that is older than its trace."""
        current = self.current
        if current is None:
            return
        place: Key = (kind, id(owner), key)
        if place not in current:
            current[place] = Load(
                kind, owner, key, value, f.module.name, at, f.fn, f.at, f.steps, f.ground, f.confidence, via
            )

    def load_value(self, f: Frame, at: int, value: Value, via: str = "") -> None:
        """What was read is a container or NumPy buffer, which may be changed in place."""
        for alt in alternatives(value):
            if type(alt) is Arr:
                if alt.host and not alt.modes:
                    self.load(f, at, "buffer", alt, ANY, alt, via)
            elif (type(alt) is Map or type(alt) is Seq) and alt.level < f.world.floor:
                self.load(f, at, "elem", alt, ANY, alt, via)

    def load_name(self, f: Frame, at: int, scope: Scope, name: str, value: Value) -> None:
        """Traced code reads a variable of an enclosing scope."""
        kind = type(value)
        if scope.level >= f.world.floor or kind is Ext or kind is Mod or kind is Class:
            return
        if scope.fn is None:
            if type(value) is Func and name not in self._rebound_in(value.fn.module):
                return
        elif scope.watched is None:
            scope.watched = {name}
        else:
            scope.watched.add(name)
        self.load(f, at, "name", scope, name, value)
        self.load_value(f, at, value, "global" if scope.fn is None else "cell")

    def _rebound_in(self, module: ModuleInfo) -> frozenset[str]:
        found = self.rebound.get(module.name)
        if found is None:
            found = self.rebound[module.name] = _rebound(module)
        return found

    def load_attr(self, f: Frame, at: int, inst: Inst, name: str, value: Value) -> None:
        """Traced code reads an attribute of an instance."""
        if inst.level < f.world.floor and not inst.modes:
            self.load(f, at, "attr", inst, name, value)
            self.load_value(f, at, value)

    def load_model(self, f: Frame, at: int, owner: Scope | Inst, model: Inst) -> None:
        """Traced code reads a module with arrays in it, which it was not given."""
        if owner.level < f.world.floor and model.level < f.world.floor and not model.modes:
            self.load(f, at, "model", itself(model), ANY, model)

    def load_class(self, f: Frame, at: int, cls: ClassInfo, name: str, value: Value) -> None:
        """Traced code reads an attribute of a class."""
        kind = type(value)
        if kind is Func or kind is Descr or kind is Class or kind is Xform:
            return
        if cls.scope.level < f.world.floor:
            self.load(f, at, "class", cls, name, value)
            self.load_value(f, at, value)

    def load_item(self, f: Frame, at: int, whole: int, box: Any, index: Value, value: Value) -> None:
        """Traced code reads one element; at ``whole`` the container was read to get there."""
        if box.level >= f.world.floor:
            return
        whole_place: Key = ("elem", id(box), ANY)
        found = self.current.get(whole_place) if self.current is not None else None
        via = found.via if found is not None else ""
        if found is not None and found.at == whole and self.current is not None:
            del self.current[whole_place]
        self.load(f, at, "elem", box, _element(index), value, via)
        self.load_value(f, at, value, via)

    def forget(self, at: int, changed: Value | None = None) -> None:
        """What was read at ``at`` was read only to be changed. changed: a container that traced code keeps itself."""
        current = self.current
        if changed is not None:
            self.kept.append(changed)
        while current:
            place = next(reversed(current))
            if current[place].at != at:
                return
            del current[place]

    def write(self, f: Frame, at: int, kind: str, owner: Any, key: object, value: Value | None) -> None:
        """Host code writes a place."""
        if self.m.timeless or f.world.level or f.world.excused or len(self.log) >= MAX_LOG:
            return
        if f.confidence is not Confidence.POSSIBLE:
            self.log.append(Write(kind, owner, key, value, f.module.name, at, f.fn, f.at))

    def write_item(self, f: Frame, at: int, box: Value, index: Value, value: Value | None) -> None:
        """Host code writes an element of a container or a NumPy array."""
        if type(box) is Arr:
            if box.host:
                self.write(f, at, "buffer", box, ANY, None)
        elif type(box) is Map or type(box) is Seq:
            self.write(f, at, "elem", box, _element(index), value)

    def write_in_place(self, f: Frame, at: int, value: Value) -> None:
        """Host code changes what a NumPy array or a list holds, if the value is one."""
        if type(value) is Arr and value.host:
            self.write(f, at, "buffer", value, ANY, None)
        elif type(value) is Seq:
            self.write(f, at, "elem", value, ANY, None)

    def leave(self, f: Frame, given: Watched, made: Value) -> Remembered | None:
        """An activation ends: what it read counts for its caller too."""
        before, start = ENTERED.of(f) or (None, 0)
        loads = self.current
        self.current = before
        if loads:
            if before is not None:
                for place, load in loads.items():
                    before.setdefault(place, load)
        elif len(self.log) == start and (before is not None or type(made) not in _MADE):
            return None
        told = self._mentioned(loads or {}, start) if any(way for _, way, _, _ in given) else set()
        boxes = tuple(
            [
                (name, way, box)
                for name, way, box, _ in given
                if type(box) is Inst and (not way or id(box) in told)
            ]
        )
        return Remembered(loads, (start, len(self.log)), boxes)

    def _mentioned(self, loads: dict[Key, Load], start: int) -> set[int]:
        """The objects of which something was read, or logged since."""
        told = {place[1] for place in loads}
        for entry in self.log[start : start + 4 * MAX_REPLAYED]:
            if isinstance(entry, Write):
                told.add(id(entry.owner))
            elif isinstance(entry, Call):
                told.update(id(one) for one in entry.given)
                told.update(place[1] for place in entry.loads)
        return told

    def replay(self, memo: Remembered, activation: Activation) -> None:
        """A call that was remembered happens again, perhaps to other instances."""
        other = dict(activation.made)
        for name, way, old in memo.boxes:
            box = inside(activation.bound.get(name), way)
            if box is not None and box is not old:
                other[id(old)] = box
        if memo.loads and self.current is not None:
            for place, load in memo.loads.items():
                owner = other.get(place[1])
                if owner is not None:
                    place, load = (place[0], id(owner), place[2]), replace(load, owner=owner)
                self.current.setdefault(place, load)
        if not self.m.timeless:
            self._repeat(memo.part, other, activation)

    def _repeat(self, part: tuple[int, int], other: dict[int, Value], activation: Activation) -> None:
        """Log again what a part of the log holds. other: the instances that take the place of those it knows."""
        start, end = part
        now = len(self.log) + 1
        kept = _made(activation.value, start)
        for one in kept:
            self.births.setdefault(id(one), [one.born]).append(now)
            one.born = now
        sides = 0
        entries = self.log[start : min(end, start + 4 * MAX_REPLAYED)]
        for again in self._again(start, entries, other, kept, activation.func.scope):
            if isinstance(again, Side):
                self.side(again.number)
                sides += (again.number == 0) - (again.number is None)
            elif len(self.log) >= MAX_LOG:
                break
            else:
                self.log.append(again)
        for _ in range(sides):
            self.side(None)

    def _again(
        self,
        start: int,
        part: Sequence[Entry],
        other: dict[int, Value],
        kept: Sequence[Func | Inst | Xform],
        scope: Scope,
    ) -> Iterator[Entry]:
        """The entries of a part of the log as they are when it happens again, each place once. scope: around the function."""
        now = len(self.log) + 1
        fresh: dict[int, Remade] = {}
        seen: set[tuple[int, int]] = set()
        for entry in part:
            if isinstance(entry, Side):
                yield entry
                continue
            again: Write | Call | None
            if isinstance(entry, Write):
                place_of = (id(entry.owner), entry.at)
                again = _written(entry, start, other, kept)
            else:
                found = _found(scope, entry.target)
                now_called = entry if found is None else replace(entry, target=found)
                place_of = (id(now_called.target), entry.statement)
                given = tuple([_other(one, other) for one in entry.given])
                made = given if found is not None else (entry.target, *given)
                again = replace(now_called, given=given, loads=_moved(entry.loads, other, start, kept))
                if any(one.born > start and one not in kept for one in made):
                    again = replace(again, target=fresh.setdefault(place_of[0], Remade(now)), given=())
            if again is None or place_of in seen:
                continue
            seen.add(place_of)
            if len(seen) > MAX_REPLAYED:
                return
            yield again

    def root(self, inner: Frame) -> None:
        """A staged function is called from the host."""
        ENTERED.put(inner, (self.current, 0))
        self.current = {}

    def called(self, f: Frame, x: Xform, args: Args, inner: Frame) -> None:
        """The call of a staged function is over."""
        before, _ = ENTERED.of(inner) or (None, 0)
        loads = self.current
        self.current = before
        told = not (x.spec.looks or f.world.looks or f.world.excused or self.m.timeless)
        if loads and told and len(self.log) < MAX_LOG:
            target = x.target if type(x.target) is Func else x
            given = [
                v
                for v in (*args.pos, *args.kw.values())
                if type(v) is Inst and not (v.cls.pytree or v.cls.hashable)
            ]
            self.log.append(Call(target, tuple(given), loads, f.module.name, f.fn, f.at))


ENTERED: Final = Slot[tuple[Optional[dict[Key, Load]], int]]()
"""What was read around an activation when it began, and when that was."""


def _element(index: Value) -> object:
    """The key of an element, `ANY` when it is not known which. The number 1 and the text "1" are two."""
    const = const_of(index)
    return const if isinstance(const, (str, int)) and const != ANY else ANY


def _rebound(module: ModuleInfo) -> frozenset[str]:
    """The names in a module that are variables though a function has them: one says ``global``, or two define it."""
    once: set[str] = set()
    found: set[str] = set()
    for fn in module.functions:
        found.update(fn.node.global_names)
        name = fn.node.qualname
        (found if name in once else once).add(name)
    return frozenset(found)


_MADE: Final = (Xform, Func, Inst, Bound, Tup)
"""What is another one each time it is made."""


def _written(
    entry: Write, start: int, other: dict[int, Value], kept: Sequence[Func | Inst | Xform]
) -> Write | None:
    """A write of a call that is remembered, as it happens again; None for another instance, which nobody saw before."""
    if id(entry.owner) in other:
        return replace(entry, owner=other[id(entry.owner)])
    lost = type(entry.owner) is Inst and entry.owner.born > start and entry.owner not in kept
    return None if lost else entry


def _found(scope: Scope | None, target: Value) -> Func | None:
    """The function that a remembered call finds around it now, for the one that it has called before; None if that is not there."""
    while type(target) is Func and scope is not None:
        value = scope.vars.get(target.fn.name)
        if value is not None:
            value = value.target if type(value) is Xform else value
            return value if type(value) is Func and value.fn is target.fn else None
        scope = scope.parent
    return None


def _other(one: Inst, other: dict[int, Value]) -> Inst:
    """The instance that takes the place of one."""
    found = other.get(id(one))
    return found if type(found) is Inst else one


def _moved(
    loads: dict[Key, Load], other: dict[int, Value], start: int, kept: Sequence[Func | Inst | Xform]
) -> dict[Key, Load]:
    """The loads of a call that happens again: of other instances, without those that were made for it."""
    out: dict[Key, Load] = {}
    for place, load in loads.items():
        owner = other.get(place[1], load.owner)
        if type(owner) is Inst and owner is load.owner and owner.born > start and owner not in kept:
            continue
        out[place[0], id(owner), place[2]] = load if owner is load.owner else replace(load, owner=owner)
    return out


def _made(value: Value, start: int) -> list[Func | Inst | Xform]:
    """What a remembered call made and gave back: it is made anew now."""
    made: list[Func | Inst | Xform] = []
    for part in value.items if type(value) is Tup else (value,):
        one = part.func if type(part) is Bound else part
        if type(one) is Xform and one.born > start:
            made.append(one)
            one = one.target
        if isinstance(one, (Inst, Func)) and one.born > start:
            made.append(one)
    return made
