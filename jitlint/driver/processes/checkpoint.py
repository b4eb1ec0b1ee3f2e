"""An analysis that has stopped before what somebody types into, and ends as often as that changes (layer: ``driver``).

A process of its own runs everything that does not reach a file's functions, and waits. For each change to their bodies it
forks: the copy puts the new bodies in place, runs what is left, answers and ends. So an answer costs what the change can
reach, and what many processes of one kind share in memory is there once. `jitlint.driver.ahead` is the other side.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, Pipe, wait
from typing import Union

import msgspec

from jitlint.driver.linking import to_remember
from jitlint.driver.processes.deep import on_deep_stack
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


@dataclass(frozen=True, slots=True)
class _Copy:
    """A copy of this process. connection: to it."""

    pid: int
    connection: Connection

    def end(self) -> None:
        """End it, if it has not."""
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self.pid, 0)
        self.connection.close()


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


class _Point:
    """Stops before the functions of one module. A `jitlint.link.program.Checkpoint`."""

    def __init__(self, module: str, calls: Calls, upstream: Connection) -> None:
        self._module = module
        self._calls = calls
        self._upstream = upstream
        self._number = 0

    def first(self, m: Machine) -> tuple[Collection[int], Calls]:
        """All functions of the module."""
        return [fn.id for fn in m.modules[self._module].functions], self._calls

    def reached(self, m: Machine) -> Collection[int]:
        """Waits for changes, for good; copies of the process get out of here, each with one."""
        functions = m.modules[self._module].functions
        self._tell(Ready([number for number, fn in enumerate(functions) if not fn.is_looked_at]))
        copy: _Copy | None = None
        try:
            while True:
                waiting = [self._upstream] if copy is None else [self._upstream, copy.connection]
                if self._upstream not in wait(waiting):
                    assert copy is not None
                    with contextlib.suppress(EOFError):  # it failed
                        self._upstream.send_bytes(copy.connection.recv_bytes())
                    copy.end()
                    copy = None
                    continue
                change = msgspec.msgpack.decode(self._upstream.recv_bytes(), type=Change)
                if copy is not None:
                    copy.end()
                made = _copied()
                if isinstance(made, Connection):
                    copy = None
                    self._go_on(m, change, made)
                    return ()
                copy = made
        finally:
            if copy is not None:
                copy.end()

    def _go_on(self, m: Machine, change: Change, upstream: Connection) -> None:
        """In a copy: put the change in place."""
        self._upstream, self._number = upstream, change.number
        if not replace_bodies(m, self._module, change.patch):
            self.answer(None)
            os._exit(0)

    def answer(self, found: bytes | None) -> None:
        """Tell what was found with the change."""
        self._tell(Answer(self._number, found))

    def _tell(self, reply: Reply) -> None:
        self._upstream.send_bytes(msgspec.msgpack.encode(reply))


if __name__ == "__main__":
    serve(int(sys.argv[1]))
