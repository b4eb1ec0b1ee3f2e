"""Keeps user code from disturbing anything but itself (layer: ``confirm``).

A process of its own session, with limits on CPU time, memory, file size and open files, an empty temporary working
directory, no standard input and nowhere to print. Where the kernel allows, also without network, with a process table of
its own (so that nothing outlives it, and nobody else can be signalled) and with all other files read-only.
Needs no privileges: what is not allowed is left out.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from dataclasses import dataclass

_NEWNS, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x10000000, 0x20000000, 0x40000000
_ISOLATED = _NEWNS | _NEWPID | _NEWNET
_PDEATHSIG, _SUBREAPER = 1, 36
_MS_RDONLY, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
# A system call without a wrapper in the C library; the number is the same on all machines since Linux 5.12.
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000
_FILE_SIZE = 16 << 20
_OPEN_FILES = 256


@dataclass(frozen=True, slots=True)
class Limits:
    """cpu: seconds. memory: bytes of data. project: what may not be written to. directory: to work in."""

    cpu: int
    memory: int
    project: str
    directory: str


def become_subreaper() -> None:
    """Orphans among the descendants become children of this process, so that they can be found and ended."""
    _prctl(_SUBREAPER, 1)


def end_children(known: frozenset[int] = frozenset()) -> None:
    """Kill and collect all children of this process except ``known`` ones."""
    for _ in range(100):
        strangers = [pid for pid in children() if pid not in known]
        if not strangers:
            return
        for pid in strangers:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(pid, 0)


def children() -> list[int]:
    """The processes below this one; none where the system does not say."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children", encoding="ascii") as stream:
                found += [int(pid) for pid in stream.read().split()]
    return found


def enter(limits: Limits) -> bool:
    """Shut this process (a fresh fork) in. Returns in the process that may run user code, which may be a child.

    Whether the kernel gave it a network and a process table of its own.
    """
    os.setsid()
    isolated = _isolate()
    if isolated:
        _protect(limits.project, limits.directory)
        inner = os.fork()  # only children live in the new process table
        if inner:
            _wait_and_exit(inner)
        _prctl(_PDEATHSIG, signal.SIGKILL)
    _limit(resource.RLIMIT_CPU, limits.cpu)
    _limit(resource.RLIMIT_DATA, limits.memory)
    _limit(resource.RLIMIT_FSIZE, _FILE_SIZE)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _limit(resource.RLIMIT_CORE, 0)
    os.chdir(limits.directory)
    os.environ.update(HOME=limits.directory, TMPDIR=limits.directory)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    return isolated


def _limit(kind: int, value: int) -> None:
    with contextlib.suppress(ValueError, OSError):
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def _wait_and_exit(pid: int) -> None:
    """End as the inner process ends."""
    status = os.waitpid(pid, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        # As a signal would say it; dying of the signal itself would be reported by the kernel in the same way.
        os._exit(128 - code)
    os._exit(code)


def _libc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    with contextlib.suppress(OSError):
        return ctypes.CDLL(None, use_errno=True)
    return None


def _prctl(option: int, value: int) -> None:
    libc = _libc()
    if libc is not None:
        libc.prctl(option, value, 0, 0, 0)


def _isolate() -> bool:
    """Enter new namespaces; whether that was allowed."""
    libc = _libc()
    if libc is None:
        return False
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_ISOLATED) == 0:
        return True
    if libc.unshare(_NEWUSER | _ISOLATED) != 0:
        return False
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with contextlib.suppress(OSError), open(f"/proc/self/{name}", "w", encoding="ascii") as stream:
            stream.write(text)
    return True


def _protect(project: str, directory: str) -> None:
    """Make all files but those in ``directory`` read-only for this process and its children.

    At least the project's, where the kernel is too old for all; nothing where it does not go along.
    """
    libc = _libc()
    if libc is None or libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        return
    own, whole = os.fsencode(directory), os.fsencode(project)
    if libc.mount(own, own, None, _MS_BIND, None) == 0 and _set_read_only(libc, b"/", True):
        _set_read_only(libc, own, False)
        return
    inside = os.path.commonpath([project, directory]) == project
    if not inside and libc.mount(whole, whole, None, _MS_BIND | _MS_REC, None) == 0:
        libc.mount(None, whole, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY, None)


class _MountAttributes(ctypes.Structure):
    """``struct mount_attr``."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user_namespace")]


def _set_read_only(libc: ctypes.CDLL, path: bytes, read_only: bool) -> bool:
    """Change a mount, and with ``read_only`` everything below it; whether that worked."""
    attributes = _MountAttributes(int(read_only), int(not read_only), 0, 0)
    where = _AT_RECURSIVE if read_only else 0
    size = ctypes.sizeof(attributes)
    done: int = libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, where, ctypes.byref(attributes), size)
    return done == 0
