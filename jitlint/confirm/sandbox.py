"""Keeps user code from disturbing anything but itself (layer: ``confirm``).

A process of its own session, with limits on CPU time, memory, file size and open files, an empty temporary working
directory, no standard input and nowhere to print. Where the kernel allows, also without network, with a process table of
its own (so that nothing outlives it, and nobody else can be signalled) and with all other files read-only; then it gives up
all privileges (`jitlint.confirm.walls`). Needs none itself: what is not allowed is left out, and told.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from jitlint.confirm import walls
from jitlint.confirm.system import libc, prctl

_NEWNS, _NEWUSER, _NEWPID, _NEWNET, _NEWIPC = 0x20000, 0x10000000, 0x20000000, 0x40000000, 0x8000000
_ISOLATED = _NEWNS | _NEWPID | _NEWNET | _NEWIPC
_PDEATHSIG, _SUBREAPER = 1, 36
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
# A system call without a wrapper in the C library; the number is the same on all machines since Linux 5.12.
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000
_READ_ONLY, _NO_DEVICES = 0x1, 0x4
_FILE_SIZE = 16 << 20
_OPEN_FILES = 256
# Devices that programs need, and those of accelerators.
_DEVICES = ("null", "zero", "full", "random", "urandom")
_ACCELERATORS = ("nvidia", "kfd", "dri", "accel", "vfio")
# Here other programs wait to be spoken to.
_SOCKETS = ("/run", "/var/run")
# What may be left open, in words.
NETWORK, FILES, PROCESSES, SOCKETS = (
    "the network",
    "your files",
    "your processes",
    "programs that listen on sockets",
)


@dataclass(frozen=True, slots=True)
class Limits:
    """cpu: seconds. memory: bytes of data. project: what may not be written to. directory: to work in."""

    cpu: int
    memory: int
    project: str
    directory: str


def become_subreaper() -> None:
    """Orphans among the descendants become children of this process, so that they can be found and ended."""
    prctl(_SUBREAPER, 1)


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


def enter(limits: Limits) -> list[str]:
    """Shut this process (a fresh fork) in. Returns in the process that may run user code, which may be a child.

    What it could still reach, in words; nothing if everything is closed. Raises OSError if not even the limits can be set.
    """
    os.setsid()
    isolated = _isolate()
    if isolated:
        inner = os.fork()  # only children live in the new process table
        if inner:
            _wait_and_exit(inner)
        prctl(_PDEATHSIG, signal.SIGKILL)
    closed = _close_files(limits.directory) if isolated else False
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
    return _give_up(limits.directory, isolated, closed)


def _give_up(directory: str, isolated: bool, closed: bool) -> list[str]:
    """Give all rights up for good, once nothing has to be mounted any more; what is left open."""
    walls.forbid_new_privileges()
    landlock = walls.write_below([directory], [f"/dev/{name}" for name in _DEVICES])
    walls.drop_capabilities()
    filtered = walls.forbid_calls(network=isolated)
    still_open = {
        NETWORK: not (isolated or filtered),
        FILES: not (closed or landlock),
        PROCESSES: not (isolated or landlock >= 6),
        SOCKETS: not filtered,
    }
    return [what for what, is_open in still_open.items() if is_open]


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


def _isolate() -> bool:
    """Enter new namespaces; whether that was allowed."""
    library = libc()
    if library is None:
        return False
    user, group = os.getuid(), os.getgid()
    if library.unshare(_ISOLATED) == 0:
        return True
    if library.unshare(_NEWUSER | _ISOLATED) != 0:
        return False
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with contextlib.suppress(OSError), open(f"/proc/self/{name}", "w", encoding="ascii") as stream:
            stream.write(text)
    return True


def _close_files(directory: str) -> bool:
    """All files but those in ``directory`` are read-only for this process and its children, devices none, and the process
    table in ``/proc`` its own; whether the kernel went along."""
    library = libc()
    if library is None or library.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        return False
    _fresh_proc(library)
    for folder in dict.fromkeys(os.path.realpath(path) for path in _SOCKETS if os.path.isdir(path)):
        if not _covers(folder, directory):
            library.mount(b"none", os.fsencode(folder), b"tmpfs", _MS_NOSUID | _MS_NODEV, b"size=4k")
    own = [os.fsencode(f"/dev/{name}") for name in _device_names()]
    own = [path for path in own if library.mount(path, path, None, _MS_BIND | _MS_REC, None) == 0]
    place = os.fsencode(directory)
    if library.mount(place, place, None, _MS_BIND, None) != 0:
        return False
    if not _change(library, b"/", _READ_ONLY | _NO_DEVICES, 0, True):
        return False
    for path in own:
        _change(library, path, 0, _NO_DEVICES, True)
    return _change(library, place, 0, _READ_ONLY, False)


def _fresh_proc(library: ctypes.CDLL) -> None:
    """The processes of this table only. Where even that is not allowed, nothing: others' files can be reached through it."""
    flags = _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    if library.mount(b"proc", b"/proc", b"proc", flags, None) != 0:
        library.mount(b"none", b"/proc", b"tmpfs", flags, b"size=4k")


def _covers(folder: str, path: str) -> bool:
    return os.path.commonpath([folder, os.path.realpath(path)]) == folder


def _device_names() -> Sequence[str]:
    if os.environ.get("JAX_PLATFORMS", "cpu") == "cpu":
        return _DEVICES
    found = [name for name in os.listdir("/dev") if name.startswith(_ACCELERATORS)]
    return [*_DEVICES, *found]


class _MountAttributes(ctypes.Structure):
    """``struct mount_attr``."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user_namespace")]


def _change(library: ctypes.CDLL, path: bytes, add: int, remove: int, below: bool) -> bool:
    """Change what a mount allows, and with ``below`` everything below it; whether that worked."""
    attributes = _MountAttributes(add, remove, 0, 0)
    where = _AT_RECURSIVE if below else 0
    size = ctypes.sizeof(attributes)
    done: int = library.syscall(_MOUNT_SETATTR, _AT_FDCWD, path, where, ctypes.byref(attributes), size)
    return done == 0
