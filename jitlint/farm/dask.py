"""The workers of a Dask cluster that is there already (layer: ``farm``).

Texts and intermediate forms travel with the tasks, so that workers need nothing in common with this machine but the same
jitlint and the same Python. A worker that dies takes nothing with it: the scheduler gives its tasks to others. What kills
worker after worker is tried alone, and then counts as `WorkerDied`. Dask is only imported when it is asked for.
"""

from __future__ import annotations

import functools
import logging
import pickle
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from jitlint.base.config import ConfigError
from jitlint.base.result import AnalysisError
from jitlint.driver.memory.fingerprint import content_fingerprint, python_version
from jitlint.driver.processes.schedule import Outcome, Progress, WorkerDied
from jitlint.driver.run import quiet_collector

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")

_BATCH: Final = 1_000_000
"""So many bytes at least are worth the way to a worker, where there is work enough for all."""
_AHEAD: Final = 3
"""So many batches wait for each thread of a worker: the scheduler keeps what it hands out in its memory."""
_REACHED_WITHIN: Final = "15s"
_LOOKED_AGAIN: Final = 5.0
_FETCHED_WITHIN: Final = 60.0
_ALONE_FOR: Final = 60.0
"""Seconds until a cluster that has lost all its workers is given up: it may be starting new ones."""

# The analysis sets the limits of its whole process, so that two of them in one would be in each other's way.
_ONE_AT_A_TIME: Final = threading.Lock()


def connected(address: str) -> Cluster:
    """The cluster with this scheduler. Raises ConfigError if Dask is missing, nobody answers, or the workers are not like us."""
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise ConfigError("--executor dask needs Dask: pip install 'jitlint[dask]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters of it is said in our words
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})
    try:
        client = Client(address, timeout=_REACHED_WITHIN, set_as_default=False)
    except (OSError, ValueError, TypeError, TimeoutError) as error:
        why = str(error).partition("\n")[0] or type(error).__name__
        raise ConfigError(f"--scheduler {address}: cannot be reached: {why}") from None
    cluster = Cluster(client, address)
    try:
        cluster.refuse_others()
    except BaseException:
        cluster.close()
        raise
    return cluster


@functools.cache
def identity() -> tuple[str, str]:
    """What has to be the same everywhere for the same answers."""
    return content_fingerprint(), python_version()


class Cluster:
    """See `Workers`."""

    remote: Final = True

    def __init__(self, client: Client, address: str) -> None:
        self._client = client
        self._address = address

    def refuse_others(self) -> None:
        """Raises ConfigError if there are no workers, or one of them has another jitlint or Python."""
        where = f"--scheduler {self._address}"
        try:
            self._client.wait_for_workers(1, timeout=_REACHED_WITHIN)
        except TimeoutError:
            raise ConfigError(f"{where}: the cluster has no workers") from None
        found: dict[str, Any] = self._client.run(identity, on_error="return")
        for worker, theirs in sorted(found.items()):
            if isinstance(theirs, ModuleNotFoundError):
                raise ConfigError(f"{where}: worker {worker} has no jitlint of this version: {theirs}")
            if isinstance(theirs, Exception):
                continue  # gone meanwhile; who comes instead is asked with the first task
            if tuple(theirs) != identity():
                raise ConfigError(f"{where}: worker {worker} has {_difference(tuple(theirs))}")

    def close(self) -> None:
        """Leave the cluster; what it still does for us is not wanted."""
        self._client.close()

    def run(
        self,
        work: Callable[[T], bytes],
        inputs: Sequence[T],
        sizes: Sequence[int],
        least: int,
        progress: Progress | None = None,
    ) -> list[Outcome]:
        """See `Workers`. Raises ConfigError for a worker that is not like us, AnalysisError if the cluster is lost."""
        try:
            return _Run(self._client, work, inputs, progress).outcomes(self._batches(sizes))
        except (OSError, TimeoutError) as error:
            raise AnalysisError(f"the cluster at {self._address} was lost: {error}") from error

    def _batches(self, sizes: Sequence[int]) -> list[list[int]]:
        """The inputs in batches, the largest first."""
        threads = sum(self._client.nthreads().values())
        enough = min(_BATCH, sum(sizes) // (max(threads, 1) * _AHEAD))
        out: list[list[int]] = []
        filled = enough + 1
        for index in sorted(range(len(sizes)), key=lambda at: (-sizes[at], at)):
            if filled > enough:
                out.append([])
                filled = 0
            out[-1].append(index)
            filled += sizes[index] + 1
        return out


class _Run:
    """One list of inputs on its way through the cluster."""

    def __init__(
        self,
        client: Client,
        work: Callable[[T], bytes],
        inputs: Sequence[T],
        progress: Progress | None,
    ) -> None:
        self._client = client
        self._payload: Callable[[list[int]], bytes] = lambda batch: pickle.dumps(
            (work, [inputs[index] for index in batch])
        )
        self._out: list[Outcome] = [WorkerDied()] * len(inputs)
        self._progress = progress
        self._done = 0
        self._pending: dict[Future, list[int]] = {}
        self._alone_since = 0.0

    def outcomes(self, batches: list[list[int]]) -> list[Outcome]:
        """What became of all inputs."""
        waiting = batches[::-1]
        while waiting or self._pending:
            room = _AHEAD * max(1, sum(self._client.nthreads().values()))
            while waiting and len(self._pending) < room:
                self._send(waiting.pop())
            for future in self._finished():
                told = self._told(future)
                if told is not None:
                    waiting += self._received(future, told, self._pending.pop(future))
        return self._out

    def _send(self, batch: list[int]) -> None:
        key = f"jitlint-{uuid.uuid4().hex}"
        future = self._client.submit(perform, identity(), self._payload(batch), key=key, pure=False)
        self._pending[future] = batch

    def _finished(self) -> list[Future]:
        """Those that are done, at least one. Raises TimeoutError if there is nobody left to wait for."""
        from distributed import wait

        while True:
            try:
                with self._client.as_current():
                    pending = list(self._pending)
                    return list(wait(pending, timeout=_LOOKED_AGAIN, return_when="FIRST_COMPLETED").done)
            except TimeoutError:
                self._look_for_workers()

    def _look_for_workers(self) -> None:
        """Raises OSError without a scheduler, TimeoutError if there are no workers and none have come for a while."""
        if self._client.status != "running":
            raise OSError("the scheduler does not answer") from None
        now = time.monotonic()
        self._alone_since = 0.0 if self._client.nthreads() else self._alone_since or now
        if self._alone_since and now - self._alone_since > _ALONE_FOR:
            raise TimeoutError("it has no workers any more") from None

    def _told(self, future: Future) -> bytes | None:
        """What a task that is done gave, b"" if it failed; None while nobody has it: its worker died, so that it runs again."""
        if future.status != "finished":
            return b""
        try:
            told: bytes = future.result(timeout=_FETCHED_WITHIN)
        except TimeoutError:
            self._look_for_workers()
            return None
        return told

    def _received(self, future: Future, told: bytes, batch: list[int]) -> list[list[int]]:
        """Note what came back; what has to be tried again."""
        from distributed.scheduler import KilledWorker

        if told:
            for index, outcome in zip(batch, pickle.loads(told)):
                self._out[index] = outcome
        elif future.status != "error":
            raise OSError(f"a task was {future.status}")
        elif not isinstance(error := future.exception(), KilledWorker):
            if isinstance(error, _OtherWorker):
                raise ConfigError(f"a worker has {error}")
            raise AnalysisError(f"a worker failed: {type(error).__name__}: {error}")
        elif len(batch) > 1:
            return [[index] for index in batch]
        self._done += len(batch)
        if self._progress is not None:
            self._progress(self._done, len(self._out))
        return []


class _OtherWorker(Exception):
    """A worker would answer otherwise."""


def perform(expected: tuple[str, str], payload: bytes) -> bytes:
    """In a worker: the outcomes of a batch."""
    if identity() != expected:
        raise _OtherWorker(_difference(identity(), expected))
    work, items = pickle.loads(payload)
    with _ONE_AT_A_TIME, quiet_collector():
        return pickle.dumps([_outcome(work, item) for item in items])


def _outcome(work: Callable[[Any], bytes], item: Any) -> Outcome:
    try:
        return work(item)
    except Exception as error:  # one bad file must not end the run
        return RuntimeError(f"{type(error).__name__}: {error}")


def _difference(theirs: tuple[str, ...], ours: tuple[str, str] | None = None) -> str:
    python = (ours or identity())[1]
    if theirs[1] != python:
        return f"{theirs[1]}, where here is {python}"
    return "another jitlint, or other packages with rules, than are installed here"
