"""Linux's C library, where there is one (layer: ``confirm``)."""

from __future__ import annotations

import contextlib
import ctypes
import sys


def libc() -> ctypes.CDLL | None:
    """The C library; None on other systems than Linux."""
    if not sys.platform.startswith("linux"):
        return None
    with contextlib.suppress(OSError):
        return ctypes.CDLL(None, use_errno=True)
    return None


def prctl(option: int, value: int) -> int:
    """Ask something of this process; -1 if that cannot be."""
    library = libc()
    return -1 if library is None else int(library.prctl(option, value, 0, 0, 0))
