"""Runs tasks in worker processes and collects what they say (layer: ``confirm``).

A worker that dies takes nothing with it: the call it was making is marked, the remaining ones go to a new worker.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import msgspec

import jitlint
from jitlint.base.config import ConfigError
from jitlint.confirm.protocol import (
    TOO_LONG,
    Begin,
    Broken,
    Died,
    Done,
    Frames,
    Seen,
    Shown,
    Task,
    encode,
    spend,
    write_all,
)
from jitlint.confirm.sandbox import become_subreaper, children, end_children
from jitlint.confirm.stopping import Stop

# The template gets so much longer than a call may take, and so long to import JAX.
_GRACE = 10.0
_IMPORT = 120.0
# So often somebody asks whether to go on.
_LOOK = 0.25
# What the thread of `run` has to do next.
_Events: TypeAlias = "queue.SimpleQueue[Callable[[], None]]"

News: TypeAlias = Callable[[Callable[[], None]], None]
"""Has something called in the thread of `run`."""


class _Stopped(Broken):
    """The whole run ends."""


@dataclass(slots=True)
class Answer:
    """What came back for a task. calls: by index into its calls. seconds: how long these took. files: project files that
    took part. died: a process ended before its time. reachable: see `Done`. left: see `Task`, when it was begun."""

    task: Task
    calls: dict[int, Seen] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    died: bool = False
    reachable: list[str] = field(default_factory=list)
    seconds: dict[int, float] = field(default_factory=dict)
    left: dict[int, float] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether all was run that its task asks for; where a process died, or time was short, it may do better next time."""
        return not self.died and all(seen.stage != "budget" for seen in self.calls.values())


class Work(Protocol):
    """What there is to be run. All of it is asked, and told, in the thread of `run`."""

    def take(self) -> Answer | None:
        """The next task, in an answer to be filled; None if there is nothing to do before others are finished."""

    def heard(self, answer: Answer, call: int) -> None:
        """A call of a task is over."""

    def finished(self, answer: Answer) -> None:
        """A task is over."""


def run(
    work: Work, jobs: int, platform: str, stop: Stop, source: Callable[[News], None] | None = None
) -> None:
    """Run tasks, up to ``jobs`` at a time, until there are none or ``stop`` is over.

    source: finds out what there is to do, in a thread of its own; while it runs, one worker fewer does. Raises what that
    raises, and ConfigError if JAX cannot be imported.
    """
    become_subreaper()
    ours = frozenset(children())
    # Whatever happens to the workers, their folders go with this one.
    folder = tempfile.mkdtemp(prefix="jitlint-")
    workers = [_Worker(platform, folder, stop) for _ in range(max(1, jobs))]
    shift = _Shift(work, [*reversed(workers)])
    if source is not None:
        shift.begin(source)
    try:
        while not (stop.asked and shift.is_fed):
            kept = 1 if shift.is_fed and len(workers) > 1 else 0
            while len(shift.free) > kept and not stop.is_over() and (answer := work.take()) is not None:
                shift.assign(answer)
            if len(shift.free) == len(workers) and not shift.is_fed:
                return
            try:
                # Not for ever: another thread may get the signal, and only this one takes notice of it.
                shift.events.get(timeout=_LOOK)()
            except queue.Empty:
                if shift.is_fed:  # there is time to import JAX before it is needed
                    workers[0].begin()
    finally:
        for worker in workers:
            worker.stop()
        end_children(ours)  # what a worker that was killed from inside has left behind
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(slots=True)
class _Shift:
    """Who works and who does not. is_fed: there may be more to do than is known."""

    work: Work
    free: list[_Worker]
    events: _Events = field(default_factory=queue.SimpleQueue)
    is_fed: bool = False

    def begin(self, source: Callable[[News], None]) -> None:
        """Let somebody find out what there is to do."""
        self.is_fed = True

        def feed() -> None:
            source(self.events.put)
            self.events.put(self._end_feeding)

        self._beside(feed)

    def assign(self, answer: Answer) -> None:
        """Have a task done by one who is free, and hear of each call and of the end."""
        worker = self.free.pop()

        def serve() -> None:
            worker.run(answer, lambda call: self.events.put(lambda: self.work.heard(answer, call)))
            self.events.put(lambda: self._finished(worker, answer))

        self._beside(serve)

    def _beside(self, does: Callable[[], None]) -> None:
        def run() -> None:
            try:
                does()
            except BaseException as error:  # for the thread that waits
                self.events.put(_raising(error))

        threading.Thread(target=run, daemon=True).start()

    def _end_feeding(self) -> None:
        self.is_fed = False

    def _finished(self, worker: _Worker, answer: Answer) -> None:
        self.free.append(worker)
        self.work.finished(answer)


def _raising(error: BaseException) -> Callable[[], None]:
    def again() -> None:
        raise error

    return again


class _Worker:
    """One template process at a time, started when needed."""

    def __init__(self, platform: str, folder: str, stop: Stop) -> None:
        self._platform = platform
        self._stop = stop
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._proved = False

    def begin(self) -> None:
        """Import JAX, as long as nothing is asked for. That there is none is said to who asks."""
        if self._process is None:
            self._started()

    def run(self, answer: Answer, told: Callable[[int], None]) -> None:
        """Run a task to its end, in as many workers as it takes. ``told``: of each call that is over."""
        task, first = answer.task, 0
        while first < len(task.calls):
            current = _Conversation(answer, first, told)
            why = self._talk(_from_call(answer, first), current)
            if why is None:
                return
            answer.died = True
            if self._stop.is_over():
                return
            following = max((n + 1 for n in answer.calls if n >= first), default=first)
            if following > first and current.open in (None, following) and not why.startswith(TOO_LONG):
                # What an earlier call left behind may have ended it: it gets a worker of its own.
                first = following
                continue
            first = current.die(why, following) + 1

    def _talk(self, task: Task, current: _Conversation) -> str | None:
        """Send a task and read the answers; None if it went to its end, else why not."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        frames = Frames()
        deadline = time.monotonic() + (_GRACE + task.seconds if self._proved else _IMPORT)
        try:
            write_all(process.stdin.fileno(), encode(task))
            while True:
                self._wait(process.stdout.fileno(), deadline, task.seconds)
                data = os.read(process.stdout.fileno(), 1 << 16)
                if not data:
                    raise Broken("the worker was ended from inside")
                for message in frames.feed(data):
                    self._proved = True
                    deadline = time.monotonic() + _GRACE + task.seconds
                    if isinstance(message, Done):
                        current.answer.files.update(message.files)
                        current.answer.reachable = message.reachable
                        return None
                    if isinstance(message, Died):
                        if message.ours:
                            raise ConfigError(message.why)
                        return message.why
                    current.take(message)
        except Broken as error:
            self.stop()
            if isinstance(error, _Stopped):
                return str(error)
            if not self._proved:
                raise ConfigError(_why_no_jax()) from None
            return str(error)

    def _wait(self, descriptor: int, deadline: float, seconds: float) -> None:
        """Until there is something to read. Raises Broken when the time is up, that of this call or of the run."""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise Broken(f"{TOO_LONG} {seconds:g} s")
            if self._stop.is_over():
                raise _Stopped(self._stop.why)
            if select.select([descriptor], [], [], min(left, _LOOK))[0]:
                return

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            environment = os.environ | {
                "JAX_PLATFORMS": self._platform,
                "TF_CPP_MIN_LOG_LEVEL": "3",
                # What is compiled runs for a moment only.
                "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
                "PYTHONPATH": _import_path(),
            }
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jitlint.confirm.template", self._folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if os.environ.get("JITLINT_DEBUG") else subprocess.DEVNULL,
                env=environment,
                # Modules of the project must not take the place of others: it is not where imports start.
                cwd=os.path.abspath(os.sep),
                start_new_session=True,
            )
        return self._process

    def stop(self) -> None:
        """End the template and everything below it."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@dataclass(slots=True)
class _Conversation:
    """Where a task is. offset: of the first call that this worker makes. open: the call being made; shown: what it has shown by
    now. told: of each that is over."""

    answer: Answer
    offset: int
    told: Callable[[int], None]
    open: int | None = None
    began: float = 0.0
    shown: list[Shown] = field(default_factory=list)

    def take(self, message: Begin | Shown | Seen) -> None:
        """Note a message."""
        if isinstance(message, Shown):
            self.shown.append(message)
        elif isinstance(message, Begin):
            self.shown = []
            self.open, self.began = message.call + self.offset, time.monotonic()
        else:
            self.close(message)

    def die(self, why: str, following: int) -> int:
        """The process has ended in a call, the open one or the ``following``; which. What it has shown stays shown."""
        number = following if self.open is None else self.open
        inputs = self.shown[0].inputs if self.shown else ""
        results = [message.result for message in self.shown]
        self.close(Seen(number - self.offset, results, inputs, why, "end"))
        return number

    def close(self, seen: Seen) -> None:
        """Note what a call showed."""
        number = seen.call + self.offset
        self.answer.calls[number] = seen
        self.answer.seconds[number] = time.monotonic() - self.began if self.began else 0.0
        self.open = None
        self.told(number)


def _from_call(answer: Answer, first: int) -> Task:
    """What is left of a task from one of its calls on."""
    task, left = answer.task, dict(answer.left)
    for number, seconds in answer.seconds.items():
        spend(left, task.calls[number].flags, seconds)
    return msgspec.structs.replace(task, calls=task.calls[first:], left=left)


def _import_path() -> str:
    """Where the worker finds this package, and what the user has set."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(jitlint.__file__)))
    given = [os.path.abspath(part) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    return os.pathsep.join(dict.fromkeys([own, *given]))


def _why_no_jax() -> str:
    done = subprocess.run(
        [sys.executable, "-c", "import jax.numpy"],
        capture_output=True,
        text=True,
        check=False,
        timeout=_IMPORT,
    )
    said = done.stderr.strip().splitlines()
    why = f": {said[-1]}" if said else ""
    return f"JAX cannot be imported{why}; `pip install 'jitlint[confirm]'` installs it"
