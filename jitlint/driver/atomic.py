"""Replaces files whole or not at all (layer: ``driver``)."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile


def write_atomically(path: str, data: bytes) -> None:
    """Put ``data`` into the file, through a temporary file beside it; a link keeps pointing where it points.

    The permissions of an existing file stay. Raises OSError if it cannot be done; the file is then as it was.
    """
    target = os.path.realpath(path)
    handle, temporary = tempfile.mkstemp(
        dir=os.path.dirname(target), prefix=os.path.basename(target), suffix=".tmp"
    )
    try:
        with open(handle, "wb") as stream:
            stream.write(data)
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        else:
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
