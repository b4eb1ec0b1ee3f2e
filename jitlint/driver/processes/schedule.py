"""Runs one function over many inputs in forked worker processes (layer: ``driver``).

Workers are forked after the costly imports, inherit the inputs (only indices and result bytes travel) and
take one task at a time, largest first. A worker that dies takes only its own task with it. Where forking
is impossible or not worth it, everything runs in this process.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, Union

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")

Outcome = Union[bytes, Exception]
"""What became of a task: its result, or the exception that it raised or died of."""


Progress = Callable[[int, int], None]
"""Told how many tasks are done, and of how many."""


class WorkerDied(Exception):
    """The process that ran a task ended without an answer (killed, out of memory, a crash in native code)."""


class Workers(Protocol):
    """Who does the work of a run. remote: they are somewhere else, share no disk with us, and get work however little it is."""

    @property
    def remote(self) -> bool: ...

    def run(
        self,
        work: Callable[[T], bytes],
        inputs: Sequence[T],
        sizes: Sequence[int],
        least: int,
        progress: Progress | None = None,
    ) -> list[Outcome]:
        """As `run_tasks`. least: below so many bytes it is not worth it to ask others than this process."""
        ...


@dataclass(frozen=True, slots=True)
class Forked:
    """Processes that are forked from this one. jobs: how many at most."""

    jobs: int
    remote: bool = False

    def run(
        self,
        work: Callable[[T], bytes],
        inputs: Sequence[T],
        sizes: Sequence[int],
        least: int,
        progress: Progress | None = None,
    ) -> list[Outcome]:
        """See `Workers`."""
        return run_tasks(work, inputs, sizes, self.jobs if sum(sizes) >= least else 1, progress)


def available_cpus() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def run_tasks(
    work: Callable[[T], bytes],
    inputs: Sequence[T],
    sizes: Sequence[int],
    jobs: int,
    progress: Progress | None = None,
) -> list[Outcome]:
    """``work`` applied to every input; the outcomes in the order of the inputs.

    sizes: how large each input is, for balance. jobs: the most processes to use; 1 means this one.
    """
    order = sorted(range(len(inputs)), key=lambda i: (-sizes[i], i))
    jobs = min(jobs, len(inputs))
    if jobs <= 1 or not hasattr(os, "fork"):
        done: list[Outcome] = []
        for item in inputs:
            done.append(_attempt(work, item))
            if progress is not None:
                progress(len(done), len(inputs))
        return done
    outcomes: list[Outcome] = [WorkerDied()] * len(inputs)
    pool = _Pool(work, inputs)
    try:
        pool.run(order, jobs, outcomes, progress)
    finally:
        pool.close()
    return outcomes


def _attempt(work: Callable[[T], bytes], item: T) -> Outcome:
    try:
        return work(item)
    except Exception as error:  # one bad file must not end the run
        return error


class _Pool:
    """The forked workers and the pipes to them."""

    def __init__(self, work: Callable[[T], bytes], inputs: Sequence[T]) -> None:
        self._answer: Callable[[int], Outcome] = lambda index: _attempt(work, inputs[index])
        self._pids: dict[Connection, int] = {}

    def run(self, order: list[int], jobs: int, outcomes: list[Outcome], progress: Progress | None) -> None:
        from multiprocessing.connection import Connection, wait

        waiting = list(reversed(order))
        busy: dict[Connection, int] = {}
        for _ in range(jobs):
            connection = self._fork()
            busy[connection] = waiting.pop()
            self._assign(connection, busy[connection])
        while busy:
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                connection, index = ready, busy.pop(ready)
                try:
                    failed, payload = ready.recv_bytes(), ready.recv_bytes()
                except (EOFError, OSError):
                    self._bury(ready)
                    if not waiting:
                        continue
                    connection = self._fork()
                else:
                    outcomes[index] = RuntimeError(payload.decode()) if failed == b"!" else payload
                if waiting:
                    busy[connection] = waiting.pop()
                    self._assign(connection, busy[connection])
                if progress is not None:
                    progress(len(order) - len(waiting) - len(busy), len(order))

    def _assign(self, connection: Connection, index: int) -> None:
        with contextlib.suppress(OSError):  # a worker that just died shows at the next wait
            connection.send_bytes(index.to_bytes(8, "little"))

    def close(self) -> None:
        """End all workers, also when the run itself was interrupted."""
        for connection in list(self._pids):
            pid = self._pids[connection]
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            self._bury(connection)
        gc.unfreeze()

    def _bury(self, connection: Connection) -> None:
        connection.close()
        with contextlib.suppress(OSError):
            os.waitpid(self._pids.pop(connection), 0)

    def _fork(self) -> Connection:
        from multiprocessing import Pipe

        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        gc.freeze()  # the inherited objects must not be touched, or their pages are copied
        pid = os.fork()
        if pid:
            theirs.close()
            self._pids[ours] = pid
            return ours
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
            ours.close()
            for other in self._pids:
                other.close()
            gc.disable()
            self._serve(theirs)
        finally:
            os._exit(0)

    def _serve(self, connection: Connection) -> None:
        """Answer until the parent hangs up."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                outcome = self._answer(int.from_bytes(connection.recv_bytes(), "little"))
                if isinstance(outcome, Exception):
                    connection.send_bytes(b"!")
                    connection.send_bytes(f"{type(outcome).__name__}: {outcome}".encode("utf-8", "replace"))
                else:
                    connection.send_bytes(b".")
                    connection.send_bytes(outcome)
