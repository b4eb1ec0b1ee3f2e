"""Clocks that are read by somebody else: stopwatches with methods, and ``with`` blocks (layer: ``link``, room ``domains``).

What it does: runs a method that reads a clock, or calls one that does, with the readings that its object has stored, and
a context manager around its block. What it does not: look at objects of libraries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Optional, Union

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.host_calls import HostCall
from jitlint.infer.program import FuncInfo
from jitlint.link.domains.timing import buffers
from jitlint.link.domains.timing import calls as timing_calls
from jitlint.link.domains.timing import walk as timing_walk
from jitlint.link.domains.timing.state import DONE, ENTRY, PROFILE, Clocks, Pending, Work, either, join_all
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.link.domains.timing.walk import Walker

MAX_INNER: Final = 4
LEVELS: Final = 3


def method(w: Walker, node: ir.Call, noted: HostCall) -> bool:
    """A call that may be a method of a stopwatch; False when it is not, and nothing has been done."""
    if type(node.func) is not ir.Attr or noted.shift != 1 or len(noted.functions) != 1:
        return False
    fn = next(iter(noted.functions))
    owner = buffers.path_of(node.func.obj)
    return bool(owner) and run(w, fn, owner, node.at)


def run(w: Walker, fn: FuncInfo, owner: str, at: int) -> bool:
    """Run a method on the readings that the object ``owner`` holds, and on the profile of the process."""
    if fn.id not in w.clocked or not fn.node.params or fn.node.is_generator or w.depth >= MAX_INNER:
        return False
    inner = w.enter(fn)
    own = fn.first
    before = _renamed(w.state, owner, own)
    inner.state.readings |= before
    inner.state.readings[ENTRY] = None
    _walk(inner)
    _early(w, inner, list(before.values()), at)
    after = join_all(inner.exits)
    if after is None:
        return True
    _leave(w, after.readings.get(ENTRY), at)
    w.state.readings.pop(PROFILE, None)
    w.state.readings |= _renamed(after, own, owner)
    return True


def _renamed(state: Clocks, owner: str, other: str) -> dict[str, Pending]:
    """The readings that an object holds, under another name of it; the profile has none."""
    return {
        other + name.removeprefix(owner) if name != PROFILE else name: work
        for name, work in state.readings.items()
        if name == PROFILE or name.startswith(owner + ".")
    }


_Manager = Union[FuncInfo, tuple[Optional[FuncInfo], FuncInfo], str, None]
"""The generator that is a context manager, or ``__enter__`` and ``__exit__``; `PROFILE`; None when that is not known."""


def block(w: Walker, node: ir.With) -> bool:
    """A ``with`` statement."""
    done = len(w.exits)
    inside: list[tuple[int, str, _Manager]] = []
    for item in node.items:
        at = item.value.at
        manager = _manager(w, item)
        kind = "" if type(manager) is FuncInfo else timing_walk.evaluate(w, item.value)
        if item.target is not None:
            timing_walk.bind(w, item.target, kind)
        owner = buffers.path_of(item.target) or buffers.path_of(item.value) or _mark(at)
        if isinstance(manager, tuple) and manager[0] is not None:
            run(w, manager[0], owner, at)
        w.state.readings[_mark(at)] = None
        inside.append((at, owner, manager))
    reached = timing_walk.run_block(w, node.body)
    for at, owner, manager in reversed(inside):
        _closed(w, at, owner, manager, [*w.exits[done:], *([w.state] if reached else [])], reached)
    return reached


def _mark(at: int) -> str:
    """The pseudo reading at the start of a block."""
    return f"$with{at}"


def _closed(w: Walker, at: int, owner: str, manager: _Manager, ends: list[Clocks], reached: bool) -> None:
    mark = _mark(at)
    if type(manager) is FuncInfo:
        _generator(w, manager, _running(ends, mark), at)
    elif manager == PROFILE:
        timing_calls.profiled(w, at, _running(ends, mark))
    elif isinstance(manager, tuple):
        after, end = w.state, join_all(ends)  # a block that is left by `return` is left with what ran then
        w.state = end.copy() if end is not None else w.state
        if not run(w, manager[1], owner, at) and w.summary_of(manager[1]) is DONE:
            w.state.waited()
        w.state = w.state if reached else after
    for name in [name for name in w.state.readings if name == mark or name.startswith(mark + ".")]:
        del w.state.readings[name]


def _running(ends: list[Clocks], mark: str) -> Pending:
    """What surely runs since a block began, however it is left."""
    pending: Pending = None
    for i, state in enumerate(ends):
        one = state.readings.get(mark)
        pending = one if i == 0 else either(pending, one)
    return pending


def _manager(w: Walker, item: ir.WithItem) -> _Manager:
    """A pair of ``__enter__`` (or None) and ``__exit__``, or the generator that is a context manager, or None."""
    made = item.value
    if type(made) is ir.Call and w.dotted(made.func) in lexicon().timing.profiled_blocks:
        return PROFILE
    place = (w.module.name, item.value.at)
    known = w.m.host_calls.managers.get(place)
    if known is not None:
        return next(iter(known)) if len(known) == 1 else None
    noted = w.m.host_calls.calls.get(place)
    if noted is None or noted.others or noted.jitted or len(noted.functions) != 1:
        return None
    fn = next(iter(noted.functions))
    return fn if fn.node.is_generator and fn.id in w.clocked else None


def _generator(w: Walker, fn: FuncInfo, pending: Pending, at: int) -> None:
    """Run a generator whose ``yield`` is where the block runs."""
    if w.depth >= MAX_INNER:
        return
    inner = w.enter(fn)
    inner.block = pending
    inner.state.readings[ENTRY] = None
    _walk(inner)
    _early(w, inner, [pending], at)
    after = join_all(inner.exits)
    if after is not None and after.readings.get(ENTRY) is DONE:
        w.state.waited()


def _walk(inner: Walker) -> None:
    assert inner.fn is not None
    if timing_walk.run_block(inner, inner.fn.body):
        inner.exits.append(inner.state)


def _early(w: Walker, inner: Walker, pending: list[Pending], at: int) -> None:
    """A clock read inside comes too early for work that runs outside: that is to be said outside."""
    for (_, since), work in inner.found.items():
        if any(work is one for one in pending):
            w.found.setdefault((at, PROFILE if since == PROFILE else ""), work)


def _leave(w: Walker, left: Pending, at: int) -> None:
    if left is DONE:
        w.state.waited()
    elif isinstance(left, Work):
        w.state.started(Work(w.module.name, at, left.name, False))


def clocked(clocks: Any, callers: dict[int, Any]) -> frozenset[int]:
    """The numbers of the functions that read a clock, and of the methods that call these."""
    out = {fn.id for _, fn in clocks if fn is not None}
    new = set(out)
    for _ in range(LEVELS):
        found = {
            user.id for number in new for _, user in callers.get(number, ()) if user and _is_method(user)
        }
        new = found - out
        out |= new
    return frozenset(out)


def _is_method(fn: FuncInfo) -> bool:
    return fn.first == "self"
