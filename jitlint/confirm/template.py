"""The worker's main process: imports JAX once, forks a child per task, watches it (layer: ``confirm``).

Started as ``python -m jitlint.confirm.template FOLDER``, where its children work; reads tasks from its standard input and answers on its standard
output. Never imports user code itself, and never starts a JAX backend: threads do not survive a fork.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from typing import NoReturn

from jitlint.confirm.compiling import compile_quickly
from jitlint.confirm.protocol import (
    TOO_LONG,
    Begin,
    Broken,
    Died,
    Done,
    Frames,
    Message,
    Task,
    encode,
    read_task,
    write_all,
)
from jitlint.confirm.sandbox import Limits, become_subreaper, end_children, enter

_STARTUP = 30.0
# What JAX imports when it lowers a function for the first time; not all releases have all of it.
_FOR_LOWERING = ("jaxlib.mlir.dialects.mhlo", "jaxlib.mlir.dialects.builtin", "jaxlib.mlir.extras.meta")


def main() -> int:
    """Serve until the input ends."""
    sys.dont_write_bytecode = True
    tasks, answers = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    become_subreaper()
    _prepare()
    while True:
        try:
            task = read_task(tasks)
            if task is None:
                return 0
            _serve(task, tasks, answers)
        except Broken:
            return 1


def _prepare() -> None:
    """Everything that every child needs, paid for once."""
    import jax

    from jitlint.confirm import child
    from jitlint.confirm.inputs import search
    from jitlint.confirm.watch import instruments
    from jitlint.driver.registry import rules

    assert child and search
    if jax.config.jax_platforms == "cpu":
        compile_quickly()
    rules()
    instruments.prepare()
    jax.make_jaxpr(jax.numpy.sin)(jax.ShapeDtypeStruct((), "float32"))
    for name in _FOR_LOWERING:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _serve(task: Task, tasks: int, answers: int) -> None:
    try:
        directory = tempfile.mkdtemp(dir=sys.argv[1])
        reader, writer = os.pipe()
    except OSError as error:
        _send(answers, Died(f"no place for the code to work in: {error}", ours=True))
        return
    try:
        try:
            child = os.fork()
        except OSError as error:
            os.close(writer)
            _send(answers, Died(f"no process for the code to run in: {error}", ours=True))
            return
        if child == 0:
            _run_child(task, directory, writer, (tasks, answers, reader))
        os.close(writer)
        _watch(task, child, reader, answers)
    finally:
        os.close(reader)
        end_children()
        shutil.rmtree(directory, ignore_errors=True)


def _run_child(task: Task, directory: str, writer: int, others: tuple[int, ...]) -> NoReturn:
    code = 70
    try:
        for descriptor in others:
            os.close(descriptor)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        cpu = int(task.seconds * (len(task.calls) + 1)) + 10
        try:
            reachable = enter(Limits(cpu, task.memory, task.root, directory))
        except Exception as error:
            write_all(writer, encode(Died(f"the code could not be shut in: {error}", ours=True)))
            raise
        from jitlint.confirm.child import run_task

        try:
            run_task(task, lambda message: write_all(writer, encode(message)), reachable)
        except (AttributeError, NameError, TypeError, ValueError, LookupError) as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"
            write_all(writer, encode(Died(f"internal error in the worker: {said}")))
            raise
        code = 0
    except BaseException:  # nothing may return into the template's own loop
        code = 71
    finally:
        os._exit(code)


def _watch(task: Task, child: int, reader: int, answers: int) -> None:
    """Pass messages on, until the child ends or takes too long for one call."""
    frames = Frames()
    deadline = time.monotonic() + _STARTUP
    done = False
    why = ""
    while True:
        left = deadline - time.monotonic()
        ready = select.select([reader], [], [], max(left, 0))[0] if left > 0 else []
        if not ready:
            why = f"{TOO_LONG} {task.seconds:g} s"
            break
        data = os.read(reader, 1 << 16)
        if not data:
            break
        try:
            messages = frames.feed(data)
        except Broken:
            why = "it wrote into the worker's pipe"
            break
        for message in messages:
            if isinstance(message, Died):
                done = True  # it says itself why it ends
            if isinstance(message, Begin):
                deadline = time.monotonic() + task.seconds
            done = done or isinstance(message, Done)
            _send(answers, message)
    code = _end(child, bool(why))
    if not done:
        _send(answers, Died(why or _words(code)))


def _end(child: int, kill: bool) -> int:
    """Collect the child, killing it and its group first if it must go; its exit code."""
    if kill:
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(OSError):  # it may not have made its group yet
            os.kill(child, signal.SIGKILL)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except OSError:
        return 0


def _words(code: int) -> str:
    if code > 128:
        code = 128 - code
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"the process was killed by {signal.Signals(-code).name}"
    return f"the process ended with exit code {code}"


def _send(answers: int, message: Message) -> None:
    write_all(answers, encode(message))


if __name__ == "__main__":
    sys.exit(main())
