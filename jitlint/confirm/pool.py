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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import jitlint
from jitlint.base.config import ConfigError
from jitlint.confirm.protocol import (
    TOO_LONG,
    Begin,
    Broken,
    Call,
    Died,
    Done,
    Frames,
    Seen,
    Task,
    encode,
    write_all,
)
from jitlint.confirm.sandbox import become_subreaper, children, end_children
from jitlint.confirm.stopping import Stop

# The template gets so much longer than a call may take, and so long to import JAX.
_GRACE = 10.0
_IMPORT = 120.0
# So often somebody asks whether to go on.
_LOOK = 0.25


class _Stopped(Broken):
    """The whole run ends."""


@dataclass(slots=True)
class Answer:
    """What came back for a task. calls: by index into its calls. files: project files that took part. died: a
    process ended before its time. reachable: see `Done`."""

    task: Task
    calls: dict[int, Seen] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    died: bool = False
    reachable: list[str] = field(default_factory=list)


def run_tasks(
    tasks: Sequence[Task],
    jobs: int,
    platform: str,
    done: Callable[[Answer], None] | None = None,
    stop: Stop | None = None,
) -> list[Answer]:
    """Run all tasks, up to ``jobs`` at a time, until ``stop`` is over; the answers in the order of the tasks.

    Raises ConfigError if JAX cannot be imported.
    """
    stop = stop if stop is not None else Stop()
    become_subreaper()
    ours = frozenset(children())
    answers: list[Answer] = [Answer(task) for task in tasks]
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    # Long tasks first, so that none is left over at the end.
    for index in sorted(range(len(tasks)), key=lambda index: -len(tasks[index].calls)):
        waiting.put(index)
    errors: list[BaseException] = []
    # Whatever happens to the workers, their folders go with this one.
    folder = tempfile.mkdtemp(prefix="jitlint-")
    workers = [_Worker(platform, folder, stop) for _ in range(max(1, min(jobs, len(tasks))))]

    def serve(worker: _Worker) -> None:
        try:
            while not errors and not stop.is_over():
                index = waiting.get_nowait()
                worker.run(answers[index])
                if done is not None:
                    done(answers[index])
        except queue.Empty:
            pass
        except BaseException as error:  # handed to the caller below
            errors.append(error)

    threads = [threading.Thread(target=serve, args=(worker,), daemon=True) for worker in workers]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for worker in workers:
            worker.stop()
        end_children(ours)  # what a worker that was killed from inside has left behind
        shutil.rmtree(folder, ignore_errors=True)
    if errors:
        raise errors[0]
    return answers


class _Worker:
    """One template process at a time, started when needed."""

    def __init__(self, platform: str, folder: str, stop: Stop) -> None:
        self._platform = platform
        self._stop = stop
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._proved = False

    def run(self, answer: Answer) -> None:
        """Run a task to its end, in as many workers as it takes."""
        task, first = answer.task, 0
        while first < len(task.calls):
            calls = task.calls[first:]
            current = _Conversation(answer, first)
            why = self._talk(_with_calls(task, calls), current)
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
            current.open = following if current.open is None else current.open
            answer.calls[current.open] = Seen(current.open - first, [], "", why, "end")
            first = current.open + 1

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
    """Where a task is. offset: of the first call that this worker makes. open: the call being made."""

    answer: Answer
    offset: int
    open: int | None = None

    def take(self, message: Begin | Seen) -> None:
        """Note a message."""
        number = message.call + self.offset
        if isinstance(message, Begin):
            self.open = number
        else:
            self.answer.calls[number] = message
            self.open = None


def _with_calls(task: Task, calls: list[Call]) -> Task:
    return Task(
        task.entry, task.module, task.root, task.search_path, task.flags, calls, task.seconds, task.memory
    )


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
