"""What a call makes, made anew for each later call that is remembered (layer: ``link``, room ``engine``).

Two calls of a factory give two objects, and what is stored into one is not in the other. What it does: copies boxes that a call has
made, where they stand in its result or in what it has stored, and the variables of functions that it has made, where one of them
changes some. What it does not: copy more of these than a few.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from jitlint.infer.lattice import parts
from jitlint.infer.values import Bound, Func, Inst, Map, Partial, Scope, Seq, Tup, Union, Value, Xform
from jitlint.link.engine.closures import is_changed_inside
from jitlint.link.engine.domain import Watched

BOXES: Final = (Inst, Map, Seq)
_HOLDERS: Final = (*BOXES, Tup, Union, Bound, Partial, Xform)
_MOST: Final = 64
"""So many boxes are copied."""
_REACH: Final = 512
"""So many values are looked at to see what was there before."""
NEVER: Final = -(10**12)
"""The number of an activation that all others were before."""


class Since(NamedTuple):
    """The activations since a call began. number: its own; theirs are smaller. new: numbers one more; None to keep the number."""

    number: int
    new: Callable[[], int] | None = None


class Copier:
    """Copies boxes, each once. done: what takes the place of a box, by its identity. only: the boxes to copy, None for all.
    since: the call that has made what is to be copied, where variables are copied too. met: boxes that it has come upon and not
    copied. made: the copies, with what they are of. full: there was more than it copies."""

    __slots__ = ("_done", "_functions", "_only", "_scopes", "_since", "_token", "full", "made", "met")

    def __init__(
        self,
        token: object,
        done: Mapping[int, Value],
        only: Mapping[int, Value] | None = None,
        since: Since | None = None,
    ) -> None:
        self._done = dict(done)
        self._functions: dict[int, tuple[Func, Value]] = {}
        self._scopes: dict[int, Scope] = {}
        self.full = False
        self.met: set[int] = set()
        self.made: list[tuple[Value, Value]] = []
        self._only = only
        self._since = since
        self._token = token

    def value(self, value: Value) -> Value:
        """The value with its boxes made anew; the same object where nothing is to be copied."""
        if isinstance(value, BOXES):
            found = self._done.get(id(value))
            if found is not None:
                self.met.add(id(value))
            return self._box(value) if found is None else found
        if type(value) is Func:
            return value if self._since is None else self._function(value, self._since)
        return rebuilt(value, self.value) if isinstance(value, _HOLDERS) else value

    def _function(self, func: Func, since: Since) -> Value:
        if func.scope.key > since.number:
            return func
        if id(func) not in self._functions:
            scope = self._scope(func.scope, since)
            new = func
            if scope is not func.scope:
                new = Func(func.fn, scope, func.defaults, func.owner)
                new.born, new.wraps = func.born, func.wraps
            self._functions[id(func)] = func, new
        return self._functions[id(func)][1]

    def _scope(self, scope: Scope, since: Since) -> Scope:
        """The variables of an activation of this call, made anew where a function inside changes some."""
        if scope.fn is None or scope.key > since.number:
            return scope
        found = self._scopes.get(scope.key)
        if found is not None:
            return found
        parent = None if scope.parent is None else self._scope(scope.parent, since)
        if parent is scope.parent and not is_changed_inside(scope.fn):
            return scope
        if len(self.made) + len(self._scopes) >= _MOST:
            self.full = True
            return scope
        number = scope.key if since.new is None else since.new()
        new = Scope({}, parent, scope.fn, number, scope.level, self._token)
        self._scopes[scope.key] = new
        new.watched = scope.watched
        new.vars.update({name: self.value(held) for name, held in scope.vars.items()})
        return new

    def _box(self, box: Inst | Map | Seq) -> Value:
        if self._only is not None and id(box) not in self._only:
            return box
        if isinstance(box, Inst) and box.like is not None:
            return box
        if len(self.made) >= _MOST:
            self.full = True
            return box
        new: Inst | Map | Seq
        if isinstance(box, Inst):
            new = Inst(box.cls, {}, box.level, self._token, box.open)
            new.born, new.modes, new.why = box.born, box.modes, box.why
        elif isinstance(box, Map):
            new = Map({}, None, box.level, self._token, box.key)
            new.open, new.odd = box.open, box.odd
        else:
            new = Seq(box.kind, None, None, box.level, self._token)
        self._done[id(box)] = new
        self.made.append((box, new))
        self._fill(box, new)
        return new

    def _fill(self, box: Inst | Map | Seq, new: Inst | Map | Seq) -> None:
        if isinstance(box, Inst) and isinstance(new, Inst):
            new.attrs.update({name: self.value(held) for name, held in box.attrs.items()})
        elif isinstance(box, Map) and isinstance(new, Map):
            new.entries.update({key: self.value(held) for key, held in box.entries.items()})
            new.rest = None if box.rest is None else self.value(box.rest)
        elif isinstance(box, Seq) and isinstance(new, Seq):
            new.items = None if box.items is None else [self.value(held) for held in box.items]
            new.rest = None if box.rest is None else self.value(box.rest)


def _inner(value: Value) -> list[Value]:
    if isinstance(value, Xform):
        return [value.target]
    return [value.func, *parts(value)] if isinstance(value, (Bound, Partial)) else parts(value)


def rebuilt(value: Value, one: Callable[[Value], Value]) -> Value:
    """A value that is no box, of which each part is another one; the same object where none is."""
    held = _inner(value)
    new = [one(part) for part in held]
    return value if all(a is b for a, b in zip(held, new)) else _with(value, new)


def _with(value: Value, held: list[Value]) -> Value:
    if isinstance(value, Tup):
        return value.of(held)
    if isinstance(value, Union):
        return Union(tuple(held))
    if isinstance(value, Bound):
        return Bound(held[0], held[1])
    if isinstance(value, Xform):
        new = Xform(value.spec, held[0], value.options, value.site, value.module)
        new.born, new.broken, new.rules, new.origin = value.born, value.broken, value.rules, value
        return new
    if isinstance(value, Partial):
        func, count = held[0], len(value.args) + 1
        return Partial(func, held[1:count], dict(zip(value.keywords, held[count:])), value.site)
    return value


def older(watched: Watched, reads: Iterable[tuple[Value, list[Value]]]) -> dict[int, Value] | None:
    """The boxes that were there before a call: in its arguments, or in what it has read; None if these are too many."""
    found: dict[int, Value] = {id(box): box for _, _, box, _ in watched}
    waiting: deque[Value] = deque()
    for _, _, _, before in watched:
        held = before.parts
        waiting.extend(held.values() if isinstance(held, dict) else held or ())
        waiting.extend([] if before.rest is None else [before.rest])
    for box, contents in reads:
        found[id(box)] = box
        waiting.extend(contents)
    seen = 0
    while waiting:
        value = waiting.popleft()
        if not isinstance(value, _HOLDERS) or id(value) in found:
            continue
        seen += 1
        if seen > _REACH:
            return None
        if isinstance(value, BOXES):
            found[id(value)] = value
        waiting.extend(_inner(value))
    return found


def holds_made(values: Iterable[Value], known: Mapping[int, Value], number: int, depth: int = 4) -> bool:
    """Whether there are boxes in some values that are not among the known ones, or functions made since an activation."""
    for value in values:
        if isinstance(value, BOXES):
            if id(value) not in known:
                return True
        elif type(value) is Func:
            if value.scope.key <= number and _is_changed(value.scope, number):
                return True
        elif depth and isinstance(value, _HOLDERS) and holds_made(_inner(value), known, number, depth - 1):
            return True
    return False


def _is_changed(scope: Scope | None, number: int) -> bool:
    while scope is not None and scope.fn is not None and scope.key <= number:
        if is_changed_inside(scope.fn):
            return True
        scope = scope.parent
    return False
