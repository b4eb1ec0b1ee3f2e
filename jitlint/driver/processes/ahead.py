"""Answers while somebody types into a file, before the analysis of all that it changes has run (layer: ``driver``).

Most edits change the body of one function. For the file that is typed into, an analysis waits in a process of its own, just
before it looks at the file's functions (`jitlint.driver.processes.checkpoint`). An early answer is what that finds with the new
bodies. It is nearly always the exact one; it may differ in which of several paths to a finding is told, where budgets are
met, and where a function calls now what it did not reach before. Whoever asks for an early answer asks for the exact one
later, when nobody types. What it does not: decide when that is.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from typing import TYPE_CHECKING, Final

import msgspec

from jitlint.driver.drafts import Draft, Linked, Told
from jitlint.driver.lowering import Lowered
from jitlint.driver.workspace import Workspace

if TYPE_CHECKING:
    from jitlint.driver.linking import Stop, Task
    from jitlint.link.engine.schedule import Calls
    from jitlint.syntax import ir
    from jitlint.syntax.difference import Origins

_WORTH_WAITING: Final = 100_000
"""Below this many bytes of intermediate form an analysis is as quick."""

_PATIENCE: Final = 0.005
"""Seconds between two looks at whether the answer is still wanted."""

_PROGRAM: Final = "import sys; sys.path[:] = {path!r}; from jitlint.driver.processes.checkpoint import serve; serve({descriptor})"


@dataclass(slots=True)
class _Waiting:
    """An analysis that waits. digests: of the unit's files, by path, as it knows them. tree: the file that is typed into.
    free: its functions that may change; None: it is not there yet. asked: how many requests there were."""

    task: Task
    path: str
    digests: dict[str, bytes]
    tree: ir.Module
    process: subprocess.Popen[bytes]
    connection: Connection
    sending: threading.Thread
    free: frozenset[int] | None = None
    asked: int = 0

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.sending.join()
        self.connection.close()


@dataclass(slots=True)
class Ahead:
    """Keeps an analysis waiting for the file that is typed into. path: that file."""

    path: str = ""
    _waiting: _Waiting | None = field(default=None, init=False)

    @property
    def is_ready(self) -> bool:
        """Whether the next answer may be an early one."""
        return self._waiting is not None and self._look()

    def answer(
        self,
        workspace: Workspace,
        lowered: Lowered,
        task: Task,
        groups: Sequence[Sequence[str]],
        stop: Stop | None,
    ) -> Linked | None:
        """What is found in the one unit that says something new, if that are bodies that the analysis waits for. Raises Stopped."""
        try:
            return self._answer(workspace, lowered, task, groups[0], stop) if len(groups) == 1 else None
        except (EOFError, OSError, msgspec.DecodeError):  # it is not there any more
            self.close()
            return None

    def _answer(
        self, workspace: Workspace, lowered: Lowered, task: Task, group: Sequence[str], stop: Stop | None
    ) -> Linked | None:
        from jitlint.driver.processes.checkpoint import Answer, Change
        from jitlint.syntax import ir
        from jitlint.syntax.difference import difference

        waiting = self._waiting
        if waiting is None or not self._look() or not _fits(waiting, lowered, task, group):
            return None
        found = difference(waiting.tree, ir.decode_module(lowered.module(waiting.path)))
        if found is None or waiting.free is None or not waiting.free.issuperset(found[0].functions):
            return None
        waiting.asked += 1
        waiting.connection.send_bytes(msgspec.msgpack.encode(Change(waiting.asked, found[0])))
        while True:
            reply = _received(waiting.connection, stop)
            if isinstance(reply, Answer) and reply.number == waiting.asked:
                break
        if reply.linked is None:
            return None
        linked = msgspec.msgpack.decode(reply.linked, type=Linked)
        return _newer(linked, workspace.names[waiting.path], found[1])

    def follow(
        self,
        workspace: Workspace,
        lowered: Lowered,
        task: Task,
        known: Sequence[tuple[Sequence[str], tuple[Linked, Calls]]],
    ) -> None:
        """An exact answer was given; let an analysis wait for the next edit. known: units that were analysed, and who calls whom
        in them."""
        if self.path not in lowered.digests or self.path in lowered.rests:
            return  # it does not concern JAX, or is half a statement
        groups = [group for group in workspace.units if self.path in group]
        if not groups or self._serves(lowered, task, groups[0]):
            return
        self.close()
        calls = [calls for group, (_, calls) in known if calls and self.path in group]
        self._begin(workspace, lowered, task, groups[0], calls[0] if calls else None)

    def close(self) -> None:
        """Nobody types any more."""
        if self._waiting is not None:
            self._waiting.end()
            self._waiting = None

    def _look(self) -> bool:
        """Whether the analysis has got to where it waits."""
        from jitlint.driver.processes.checkpoint import Ready

        waiting = self._waiting
        if waiting is not None and waiting.free is None:
            try:
                if waiting.connection.poll():
                    reply = _received(waiting.connection, None)
                    waiting.free = frozenset(reply.free if isinstance(reply, Ready) else ())
            except (EOFError, OSError, msgspec.DecodeError):
                self.close()
        return self._waiting is not None and self._waiting.free is not None

    def _serves(self, lowered: Lowered, task: Task, group: Sequence[str]) -> bool:
        """Whether the analysis that waits can answer an edit from here."""
        from jitlint.syntax import ir
        from jitlint.syntax.difference import difference

        self._look()
        waiting = self._waiting
        if waiting is None or waiting.path != self.path or not _fits(waiting, lowered, task, group):
            return False
        found = difference(waiting.tree, ir.decode_module(lowered.module(self.path)))
        return found is not None and (waiting.free is None or waiting.free.issuperset(found[0].functions))

    def _begin(
        self, workspace: Workspace, lowered: Lowered, task: Task, group: Sequence[str], calls: Calls | None
    ) -> None:
        from jitlint.driver.linking import module_inputs
        from jitlint.driver.processes.checkpoint import Begin
        from jitlint.syntax import ir

        if not hasattr(os, "fork"):
            return
        inputs = module_inputs(workspace, lowered, group)
        tree = ir.decode_module(lowered.module(self.path))
        small = sum(len(module.data) for module in inputs) < _WORTH_WAITING
        if small or not tree.functions:
            return
        begin = Begin(
            inputs,
            workspace.names[self.path],
            task.settings.traced,
            task.possible,
            task.settings.catalogue,
            task.target.version,
            task.target.before,
            task.target.flax,
            None if calls is None else {caller: list(called) for caller, called in calls.items()},
        )
        ours, theirs = Pipe()
        program = _PROGRAM.format(path=sys.path, descriptor=theirs.fileno())
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", program],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        theirs.close()
        data = msgspec.msgpack.encode(begin)
        sending = threading.Thread(target=_send, args=(ours, data), name="jitlint ahead", daemon=True)
        sending.start()
        digests = {path: lowered.digests[path] for path in group if path in lowered.digests}
        self._waiting = _Waiting(task, self.path, digests, tree, process, ours, sending)


def _send(connection: Connection, data: bytes) -> None:
    """Send what may have to wait until somebody reads it."""
    with contextlib.suppress(OSError):
        connection.send_bytes(data)


def _fits(waiting: _Waiting, lowered: Lowered, task: Task, group: Sequence[str]) -> bool:
    """Whether nothing but the one file may be another than an analysis knows it."""
    now = {path: lowered.digests[path] for path in group if path in lowered.digests}
    path = waiting.path
    return (
        waiting.task == task
        and path in now
        and now.keys() == waiting.digests.keys()
        and all(digest == waiting.digests[other] for other, digest in now.items() if other != path)
    )


def _received(connection: Connection, stop: Stop | None) -> object:
    """The next reply. Raises Stopped."""
    from jitlint.driver.linking import Stopped
    from jitlint.driver.processes.checkpoint import Reply

    while stop is not None and not connection.poll(_PATIENCE):
        if stop():
            raise Stopped
    return msgspec.msgpack.decode(connection.recv_bytes(), type=Reply)


def _newer(linked: Linked, module: str, origins: Origins) -> Linked:
    """What was found, with the origins that the new text has."""

    def step(told: Told) -> Told:
        return msgspec.structs.replace(told, at=origins.newer(told.at)) if told.module == module else told

    def steps(told: tuple[Told, ...]) -> tuple[Told, ...]:
        return tuple(map(step, told)) if any(each.module == module for each in told) else told

    def draft(each: Draft) -> Draft:
        at = origins.newer(each.at) if each.module == module else each.at
        return msgspec.structs.replace(each, at=at, steps=steps(each.steps), also=steps(each.also))

    drafts = {name: [draft(each) for each in found] for name, found in linked.drafts.items()}
    return msgspec.structs.replace(linked, drafts=drafts)
