"""An analysis that has stopped before what somebody types into, and ends as often as that changes (layer: ``driver``).

A process of its own runs everything that does not reach a file's functions, and waits. For each change to their bodies it
forks: the copy puts the new bodies in place, runs what is left, answers and ends. So an answer costs what the change can
reach, and what many processes of one kind share in memory is there once. `jitlint.driver.processes.ahead` is the other side.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
from collections.abc import Collection
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, Pipe, wait
from typing import Final, Union

import msgspec

from jitlint.driver.linking import to_remember
from jitlint.driver.processes.deep import on_deep_stack
from jitlint.driver.registry import rules
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.schedule import Calls
from jitlint.link.program import ModuleInput, Options, analyse, replace_bodies
from jitlint.syntax.difference import Patch


class Begin(msgspec.Struct, frozen=True):
    """What to analyse. module: the one that is typed into. calls: who calls whom, None if nobody knows yet; the rest: see
    `jitlint.link.program.Options`."""

    modules: list[ModuleInput]
    module: str
    traced: tuple[str, ...]
    include_possible: bool
    catalogue: tuple[str, ...]
    jax_version: str
    jax_before: str
    flax: tuple[str, str]
    calls: Union[dict[int, list[int]], None] = None

    @property
    def options(self) -> Options:
        """Without a checkpoint."""
        return Options(
            traced=self.traced,
            include_possible=self.include_possible,
            parameters=False,
            catalogue=self.catalogue,
            jax_version=self.jax_version,
            jax_before=self.jax_before,
            flax=self.flax,
        )


class Ready(msgspec.Struct, frozen=True, tag=True):
    """All the rest has run. free: the module's functions that nobody has looked at."""

    free: list[int]


class Change(msgspec.Struct, frozen=True):
    """Other bodies of free functions; what came before is not wanted any more. number: stands for this request."""

    number: int
    patch: Patch


class Answer(msgspec.Struct, frozen=True, tag=True):
    """What the analysis found with a change: an encoded `jitlint.driver.drafts.Linked`; nothing if that could not be said."""

    number: int
    linked: Union[bytes, None]


Reply = Union[Ready, Answer]


def serve(descriptor: int) -> None:
    """Be such a process. descriptor: of the connection to whoever asks; when that ends, so does the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who asks decides
    gc.disable()
    rules()  # copies have them then
    upstream = Connection(descriptor)
    with contextlib.suppress(EOFError, OSError):
        begin = msgspec.msgpack.decode(upstream.recv_bytes(), type=Begin)
        calls: Calls = _calls(begin) if begin.calls is None else begin.calls
        on_deep_stack(lambda: _run(begin, _Point(begin.module, calls, upstream)))


def _run(begin: Begin, point: _Point) -> None:
    """Copies of the process come back from the analysis, each once; the process itself does not."""
    try:
        options = replace(begin.options, checkpoint=point)
        found = to_remember(analyse(begin.modules, options), begin.modules, options)
        point.answer(msgspec.msgpack.encode(found))
    finally:
        os._exit(0)


def _calls(begin: Begin) -> Calls:
    """Who calls whom, by an analysis of which nothing else is left."""
    copy = _copied()
    if isinstance(copy, Connection):
        try:
            found = on_deep_stack(lambda: analyse(begin.modules, replace(begin.options, calls=True)))
            copy.send_bytes(msgspec.msgpack.encode(found.calls))
        finally:
            os._exit(0)
    try:
        return msgspec.msgpack.decode(copy.connection.recv_bytes(), type=dict[int, set[int]])
    finally:
        copy.end()


@dataclass(eq=False, slots=True)
class _Copy:
    """A copy of this process. connection: to it. before: the functions that it stops before, none if it only answers. free: of
    these, what nobody has looked at there; None: it has not got there."""

    pid: int
    connection: Connection
    before: frozenset[int] = frozenset()
    free: frozenset[int] | None = None

    def end(self) -> None:
        """End it, if it has not."""
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self.pid, 0)
        self.connection.close()

    def serves(self, functions: Collection[int]) -> bool:
        """Whether it can go on with other bodies of these functions."""
        return bool(self.free and self.free.issuperset(functions))


def _copied() -> _Copy | Connection:
    """Copy this process: here the copy, there the connection to this one."""
    ours, theirs = Pipe()
    gc.freeze()  # what is inherited must not be touched, or its pages are copied
    pid = os.fork()
    if pid:
        theirs.close()
        return _Copy(pid, ours)
    ours.close()
    return theirs


_PARTS: Final = 8
"""Into so many parts the functions of a module are divided: each costs a process."""

_WORTH_A_COPY: Final = 12
"""Fewer functions than this run as quickly as a process is found that has run them."""

_MEMORY: Final = 768 * 1024
"""Kilobytes that the copies near to parts may have of their own, all together; one there is whatever it costs."""


def _own_memory(pid: int) -> int:
    """Kilobytes that a process shares with no other; 0 where the system does not tell."""
    found = 0
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
        found = sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
    return found


def _distance(part: frozenset[int], changed: frozenset[int]) -> int:
    """How far the functions of a part are from those that were changed, in functions of the file."""
    return min((abs(one - other) for one in part for other in changed), default=0)


class _Point:
    """Stops before all functions of one module. Copies of the process get nearer: each to a part of the functions, for whoever
    goes to one of these, and to what was changed last, with which most people go on. A `jitlint.link.program.Checkpoint`."""

    def __init__(self, module: str, calls: Calls, upstream: Connection) -> None:
        self._module = module
        self._calls = calls
        self._upstream = upstream
        self._before = frozenset[int]()
        """The functions that have not run here."""
        self._parts: list[frozenset[int]] = []
        """Of these, what copies may stop before; none in a copy."""
        self._number = 0
        """Of the last change."""
        self._last = frozenset[int]()
        """The functions that it changed."""
        self._kept = frozenset[int]()
        """What stays changed from one change to the next: no copy near to a part has run it."""
        self._asked: _Copy | None = None
        """Who has the last change and has not answered: one of the nearer copies, or one that ends then."""
        self._nearer: list[_Copy] = []
        self._failed: set[frozenset[int]] = set()
        """What copies did not get to."""
        self._most = _PARTS
        """So many parts may have a copy near to them."""

    def first(self, m: Machine) -> tuple[Collection[int], Calls]:
        """All functions of the module."""
        functions = m.modules[self._module].functions
        self._before = frozenset(range(len(functions)))
        size = max(_WORTH_A_COPY, -(-len(functions) // _PARTS))
        if len(functions) > size:
            numbers = sorted(self._before)
            self._parts = [frozenset(numbers[start : start + size]) for start in range(0, len(numbers), size)]
        return [fn.id for fn in functions], self._calls

    def reached(self, m: Machine) -> Collection[int]:
        """Waits for changes, for good. Copies of the process get out of here: each with one, or to get nearer to some functions."""
        functions = m.modules[self._module].functions
        self._tell(Ready([number for number in self._before if not functions[number].is_looked_at]))
        while True:
            change = self._next()
            if isinstance(change, frozenset):
                copy = self._copied()
                if copy is None:
                    self._before, self._parts, self._last = change, [], frozenset()
                    return [functions[number].id for number in change]
                copy.before = change
                self._nearer.append(copy)
                continue
            self._aim(frozenset(change.patch.functions))
            near = [copy for copy in self._nearer if copy.serves(self._last)]
            if near:
                self._asked = min(near, key=lambda copy: len(copy.before))
                self._asked.connection.send_bytes(msgspec.msgpack.encode(change))
                continue
            self._asked = self._copied()
            if self._asked is None:
                self._put_in_place(m, change)
                return ()

    def _aim(self, changed: frozenset[int]) -> None:
        """These functions are what a change changes; what came before it is not wanted any more."""
        if self._asked is not None and self._asked not in self._nearer:
            self._end(self._asked)
        self._asked = None
        if not self._last & changed <= self._kept:
            self._kept = self._last & changed
        self._last = changed

    def _next(self) -> Change | frozenset[int]:
        """The next change, or, when there is time, what to get nearer to. Hands on what copies say meanwhile."""
        while True:
            if self._asked is None and all(copy.free is not None for copy in self._nearer):
                missing = self._missing()
                if missing:
                    return missing
            copies = self._copies
            ready = wait([self._upstream, *[copy.connection for copy in copies]])
            if self._upstream in ready:
                try:
                    change = msgspec.msgpack.decode(self._upstream.recv_bytes(), type=Change)
                except (EOFError, OSError):  # nobody asks any more
                    for copy in copies:
                        self._end(copy)
                    os._exit(0)
                self._number = change.number
                return change
            for copy in copies:
                if copy.connection in ready:
                    self._hear(copy)

    @property
    def _copies(self) -> list[_Copy]:
        """All that there are."""
        others = [] if self._asked is None or self._asked in self._nearer else [self._asked]
        return [*others, *self._nearer]

    def _missing(self) -> frozenset[int]:
        """What no copy is near to and one should be; none if there is nothing. Ends copies that nobody needs."""
        nearest = sorted(self._parts, key=lambda part: _distance(part, self._last))[: self._most]
        wanted = [aim for part in nearest if self._is_apart(aim := part | self._kept)]
        if self._is_apart(self._last) and not any(aim.issuperset(self._last) for aim in wanted):
            wanted.insert(0, self._last)
        for copy in [copy for copy in self._nearer if copy.before not in wanted]:
            self._end(copy)
        near = [copy.before for copy in self._nearer]
        return next((aim for aim in wanted if aim not in near), frozenset())

    def _is_apart(self, functions: frozenset[int]) -> bool:
        """Whether a copy may get nearer to some functions than this process."""
        return functions not in (frozenset(), self._before) and functions not in self._failed

    def _hear(self, copy: _Copy) -> None:
        """A copy says something, or has failed."""
        try:
            reply = msgspec.msgpack.decode(copy.connection.recv_bytes(), type=Reply)
        except (EOFError, OSError):
            if copy is self._asked:
                self._tell(Answer(self._number, None))
            self._failed.add(copy.before)
            self._end(copy)
            return
        if isinstance(reply, Ready):
            copy.free = frozenset(reply.free)
            own = _own_memory(copy.pid)
            if own:
                self._most = max(1, min(_PARTS, _MEMORY // own))
            return
        self._tell(reply)
        if reply.number != self._number:
            return
        if copy not in self._nearer:
            self._end(copy)
        self._asked = None

    def _end(self, copy: _Copy) -> None:
        copy.end()
        if copy in self._nearer:
            self._nearer.remove(copy)
        if copy is self._asked:
            self._asked = None

    def _copied(self) -> _Copy | None:
        """Copy this process; None in the copy, which answers to this one."""
        made = _copied()
        if isinstance(made, _Copy):
            return made
        for connection in (self._upstream, *[copy.connection for copy in self._copies]):
            connection.close()
        self._upstream, self._asked, self._nearer = made, None, []
        return None

    def _put_in_place(self, m: Machine, change: Change) -> None:
        if not replace_bodies(m, self._module, change.patch):
            self.answer(None)
            os._exit(0)

    def answer(self, found: bytes | None) -> None:
        """Tell what was found with the change."""
        self._tell(Answer(self._number, found))

    def _tell(self, reply: Reply) -> None:
        self._upstream.send_bytes(msgspec.msgpack.encode(reply))
