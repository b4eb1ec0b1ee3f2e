"""Writes what users asked for without harm to what is there: the only code that replaces files (layer: ``driver``).

A regular file is replaced whole or not at all. What is no regular file (a device, a pipe) is written in place and stays
what it is. Reads nothing, and does not decide where anything goes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator

from jitlint.base.config import ConfigError

STDOUT = 1
_STDERR = 2
# More links than any system follows.
_LINKS = 40
_PATIENCE = 10.0


def save(path: str, data: bytes) -> None:
    """`write_file` for a file that the user has named. Raises ConfigError if it cannot be done."""
    try:
        write_file(path, data)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from None


def write_file(path: str, data: bytes) -> None:
    """Put ``data`` into the file that ``path`` names, through links.

    A file that exists keeps its permissions and its owner. Raises OSError if it cannot be done; a regular file is then
    as it was.
    """
    descriptor = descriptor_of(path)
    if descriptor is not None:
        _write_to(descriptor, data)
        return
    known = _status(path)
    if known is None or stat.S_ISREG(known.st_mode):
        if path.endswith(os.sep):
            raise _error(errno.EISDIR)
        target = os.path.realpath(path)
        if known is not None and not _may_write(target):
            raise _error(errno.EACCES)  # as for everybody else who writes into it
        _replace(target, data, known, durable=True)
    elif stat.S_ISSOCK(known.st_mode):
        raise OSError(errno.ENXIO, "it is a socket")
    else:
        _write_in_place(path, data)


def replace_file(path: str, data: bytes) -> None:
    """Put ``data`` into a file of our own, at this very name: a link is replaced, nothing that it points to.

    For a cache, which may lie in a project that somebody else has packed. Raises OSError if it cannot be done, and for
    what is neither a regular file nor a link.
    """
    try:
        known = os.lstat(path)
    except FileNotFoundError:
        known = None
    if known is not None and not (stat.S_ISREG(known.st_mode) or stat.S_ISLNK(known.st_mode)):
        raise OSError(errno.EINVAL, "it is not a regular file")
    _replace(path, data, None, durable=False)


def append_file(path: str, data: bytes) -> None:
    """Add ``data`` to a file of our own, at once. Raises OSError if it cannot be done, and for a link."""
    flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(path, flags), "wb") as stream:
        stream.write(data)


@contextlib.contextmanager
def alone(path: str) -> Iterator[None]:
    """While nobody else is between these lines with the same path, a file of our own that is made for that.

    Where it cannot be made or locked, or somebody keeps it for long, it goes on all the same: for what is better done by
    one at a time, but right in any case.
    """
    descriptor = -1
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.02)
    try:
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def descriptor_of(path: str) -> int | None:
    """The number that ``path`` means if it is a name for a stream of this process (`/dev/stdout`, `/dev/fd/3`).

    Such a stream must be written itself: opened by its name, a file would be written from its start, and a socket not
    at all.
    """
    folders = {"/dev/fd", os.path.realpath("/proc/self/fd")}
    for _ in range(_LINKS):
        folder, name = os.path.split(os.path.abspath(path))
        folder = os.path.realpath(folder)
        if folder in folders and name.isdecimal():
            return int(name)
        try:
            path = os.path.join(folder, os.readlink(os.path.join(folder, name)))
        except (OSError, ValueError):
            return None
    return None


def _may_write(path: str) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _write_to(descriptor: int, data: bytes) -> None:
    for number, stream in ((STDOUT, sys.stdout), (_STDERR, sys.stderr)):
        if number == descriptor and stream is not None:
            stream.flush()
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _write_in_place(path: str, data: bytes) -> None:
    """The file keeps its identity; on failure it may hold a part. A pipe waits for its reader."""
    descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0))
    try:
        _write_to(descriptor, data)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.ftruncate(descriptor, len(data))
    finally:
        os.close(descriptor)


def _replace(target: str, data: bytes, known: os.stat_result | None, durable: bool) -> None:
    """Write a file beside the target and give it the target's name. known: what is there, to look like it."""
    temporary = os.path.join(os.path.dirname(target), f".jitlint-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666 if known is None else 0o600)
    try:
        try:
            _write_to(descriptor, data)
            if durable:  # or after a power cut the new name may stand for an empty file
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if known is None or _made_alike(temporary, known):
            os.replace(temporary, target)
            return
        # It would belong to somebody else. There was room for it a moment ago, so there is after this.
        os.unlink(temporary)
        _write_in_place(target, data)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _made_alike(path: str, known: os.stat_result) -> bool:
    """Give the file the owner and permissions that are known; whether that is allowed."""
    made = os.stat(path)
    if (made.st_uid, made.st_gid) != (known.st_uid, known.st_gid):
        try:
            os.chown(path, known.st_uid, known.st_gid)
        except OSError:
            return False
    os.chmod(path, stat.S_IMODE(known.st_mode))
    return True
