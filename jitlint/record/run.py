"""Runs the user's command with the recorder in it (layer: ``record``).

Nothing of the command changes but its environment: a folder at the front of ``PYTHONPATH`` whose ``sitecustomize``
starts the recorder in every Python process that the command makes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from jitlint.base.config import ConfigError
from jitlint.record.store import Store, digest, merged, read_parts

_SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")


def record(
    command: Sequence[str], root: str, reasons: bool = False, directory: str | None = None
) -> tuple[Store, int]:
    """Run a command to its end; what was seen of the project at ``root``, and the command's exit code.

    reasons: also ask JAX why it traces again, which makes it compare signatures on every miss. directory: where it runs, if
    not here. Raises ConfigError if the command cannot be started.
    """
    folder = tempfile.mkdtemp(prefix="jitlint-record-")
    path = os.environ.get("PYTHONPATH")
    environment = {
        **os.environ,
        "PYTHONPATH": _SITE + (os.pathsep + path if path else ""),
        "JITLINT_RECORD_FOLDER": folder,
        "JITLINT_RECORD_ROOT": os.path.realpath(root),
    }
    if reasons:
        environment["JITLINT_RECORD_REASONS"] = "1"
    try:
        code = _run(command, environment, directory)
        store = merged(read_parts(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    store.command = list(command)
    files = {name for f in store.functions for name in (f.file, *(error.file for error in f.errors))} | set(
        store.ran
    )
    store.digests = {name: digest(os.path.join(root, name)) for name in sorted(files)}
    return store, code


def _run(command: Sequence[str], environment: dict[str, str], directory: str | None) -> int:
    try:
        process = subprocess.Popen(command, env=environment, cwd=directory)
    except OSError as error:
        raise ConfigError(f"{command[0]}: cannot be run: {error.strerror or error}") from None
    with _passing_on(process):
        while True:
            try:
                code = process.wait()
                return code if code >= 0 else 128 - code  # ended by a signal: as shells say it
            except KeyboardInterrupt:  # the command got it too, and decides what it means
                continue


@contextlib.contextmanager
def _passing_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Who ends us means the command; what it was seen to do until then is kept."""

    def pass_on(number: int, frame: object) -> None:
        process.send_signal(number)

    wanted = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before: list[tuple[int, Any]] = []
    try:
        for number in wanted:
            with contextlib.suppress(ValueError):  # not the main thread
                before.append((number, signal.signal(number, pass_on)))
        yield
    finally:
        for number, old in before:
            signal.signal(number, old)
