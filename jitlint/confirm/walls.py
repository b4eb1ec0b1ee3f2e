"""What Linux lets a process give up for good: privileges, system calls, writing files (layer: ``confirm``).

None of this needs a namespace, and none can be taken back. Each function says whether the kernel went along; on other
systems none does.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import struct
from collections.abc import Sequence

from jitlint.confirm.system import libc, prctl

_NO_NEW_PRIVS, _SECCOMP, _FILTER = 38, 22, 2
_CAPBSET_DROP, _AMBIENT, _CLEAR_ALL, _SECUREBITS = 24, 47, 4, 28
# Root is a user like any other, and nobody changes that: NOROOT, NO_SETUID_FIXUP, NO_CAP_AMBIENT_RAISE, and their locks.
_NO_ROOT = 0x01 | 0x02 | 0x04 | 0x08 | 0x40 | 0x80
_CAPABILITIES_VERSION, _DAC_READ_SEARCH, _LAST_CAPABILITY = 0x20080522, 2, 40

# Loading, jumping and answering in the kernel's filter language.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | errno.EPERM
_DENY_AS_MISSING = 0x00050000 | errno.ENOSYS
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_NEW_NAMESPACES = 0x7E020000
_INET, _NETLINK, _INET6 = 2, 16, 10

# By machine: its number, and those of the system calls.
_MACHINES = {
    "x86_64": (0xC000003E, {"socket": 41, "clone": 56, "clone3": 435}, (
        101, 310, 311, 165, 166, 155, 161, 272, 308, 442, 429, 428, 430, 431, 432, 433, 250, 248, 249, 321, 298, 425,
        246, 175, 313, 176, 169, 304, 323, 438, 103, 163, 167, 168, 320,
    )),
    "aarch64": (0xC00000B7, {"socket": 198, "clone": 220, "clone3": 435}, (
        117, 270, 271, 40, 39, 41, 51, 97, 268, 442, 429, 428, 430, 431, 432, 433, 219, 217, 218, 280, 241, 425,
        104, 105, 273, 106, 142, 265, 282, 438, 116, 89, 224, 225, 294,
    )),
}  # fmt: skip

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_BENEATH = 1
# Rights of Landlock: writing, removing, making, and with later versions moving, shortening, and device controls.
_WRITES = 0b1_1111_1111_0010
_WRITE_FILE = 1 << 1
_LATER = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_TCP, _SCOPES = 0b11, 0b11
_O_PATH = getattr(os, "O_PATH", 0)


def forbid_new_privileges() -> bool:
    """No program that is started gets more rights than its parent has."""
    return prctl(_NO_NEW_PRIVS, 1) == 0


def drop_capabilities() -> bool:
    """Give up all special rights, even as root; but for reading what others may not read, which is restricted nowhere."""
    library = libc()
    if library is None:
        return False
    prctl(_SECUREBITS, _NO_ROOT)
    for number in range(_LAST_CAPABILITY + 1):
        prctl(_CAPBSET_DROP, number)
    prctl(_AMBIENT, _CLEAR_ALL)
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    for kept in (1 << _DAC_READ_SEARCH, 0):  # who has none cannot keep one
        data = struct.pack("=6I", kept, kept, 0, 0, 0, 0)
        if library.syscall(_capset(), ctypes.c_char_p(header), ctypes.c_char_p(data)) == 0:
            return True
    return False


def _capset() -> int:
    return 126 if platform.machine() == "x86_64" else 91


def forbid_calls(network: bool) -> bool:
    """No more sockets, mounts, namespaces, debugging of others. ``network``: the network is nobody else's, and may stay."""
    known = _MACHINES.get(platform.machine())
    library = libc()
    if known is None or library is None:
        return False
    machine, named, denied = known
    code = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, machine), (_ANSWER, 0, 0, _DENY), (_LOAD, 0, 0, _NUMBER)]
    # Numbers of another calling convention of the same machine.
    code += [(_AT_LEAST, 0, 1, 0x40000000), (_ANSWER, 0, 0, _DENY)]
    for number in denied:
        code += [(_EQUAL, 0, 1, number), (_ANSWER, 0, 0, _DENY)]
    # What it is asked for stands in memory, where a filter cannot look; without it the C library takes the older one.
    code += [(_EQUAL, 0, 1, named["clone3"]), (_ANSWER, 0, 0, _DENY_AS_MISSING)]
    code += [
        (_EQUAL, 0, 4, named["clone"]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _NEW_NAMESPACES),
        (_ANSWER, 0, 0, _DENY),
        (_ANSWER, 0, 0, _ALLOW),
    ]
    families = (_INET, _INET6, _NETLINK) if network else ()
    code += [(_EQUAL, 0, 2 + 2 * len(families), named["socket"]), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    for family in families:
        code += [(_EQUAL, 0, 1, family), (_ANSWER, 0, 0, _ALLOW)]
    code += [(_ANSWER, 0, 0, _DENY), (_ANSWER, 0, 0, _ALLOW)]
    return _filter(library, code)


def _filter(library: ctypes.CDLL, code: Sequence[tuple[int, int, int, int]]) -> bool:
    text = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    instructions = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("@HP", len(code), ctypes.addressof(instructions))
    return bool(library.prctl(_SECCOMP, _FILTER, ctypes.c_char_p(program), 0, 0) == 0)


def landlock_version() -> int:
    """The kernel's version of Landlock; 0 if it has none."""
    library = libc()
    return (
        0 if library is None else max(0, int(library.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)))
    )


def write_below(folders: Sequence[str], files: Sequence[str]) -> int:
    """Files can be changed and made below these folders only, and written to besides. The version of Landlock that sees to
    it, 0 for none; from 6 on, processes that are not descendants can no longer be signalled, either."""
    library, version = libc(), landlock_version()
    if library is None or version < 1:
        return 0
    rights = _WRITES | sum(right for since, right in _LATER.items() if version >= since)
    fields = [rights]
    fields += [_TCP] if version >= 4 else []
    fields += [_SCOPES] if version >= 6 else []
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    size = ctypes.c_size_t(len(attributes))
    rules = int(library.syscall(_CREATE_RULESET, ctypes.c_char_p(attributes), size, 0))
    if rules < 0:
        return 0
    try:
        for path in folders:
            _allow(library, rules, path, rights)
        for path in files:
            _allow(library, rules, path, rights & (_WRITE_FILE | 1 << 14 | 1 << 15))
        done = int(library.syscall(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)
    return version if done == 0 else 0


def _allow(library: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    with contextlib.suppress(OSError):
        opened = os.open(path, _O_PATH | os.O_CLOEXEC)
        try:
            rule = struct.pack("=Qi", rights, opened)
            library.syscall(_ADD_RULE, rules, _BENEATH, ctypes.c_char_p(rule), 0)
        finally:
            os.close(opened)
