"""Pipes and devices made for a test, so that none of the machine's own is at stake."""

from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

# Numbers of Linux's memory devices: what `/dev/null` and `/dev/full` are.
NULL, FULL = (1, 3), (1, 7)


def pipe(path: Path) -> Path:
    """A named pipe."""
    os.mkfifo(path)
    return path


def device(path: Path, numbers: tuple[int, int]) -> Path:
    """A character device; the test is skipped where none can be made or used."""
    if not sys.platform.startswith("linux"):
        pytest.skip("these are Linux's numbers of devices")
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(*numbers))
        os.close(os.open(path, os.O_WRONLY))
    except (AttributeError, OSError) as error:
        pytest.skip(f"no device can be made here: {error}")
    return path


def is_device(path: Path, numbers: tuple[int, int]) -> bool:
    """Whether the file still is that device."""
    found = path.lstat()
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == os.makedev(*numbers)


class Reader:
    """Reads a pipe to its end, beside the test."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = b""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._read = self._path.read_bytes()

    def text(self) -> bytes:
        """All that was written, once the writer has closed."""
        self._thread.join(60)
        assert not self._thread.is_alive(), "nobody wrote into the pipe"
        return self._read
