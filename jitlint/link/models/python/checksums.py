"""Numbers that stand for texts (layer: ``link``, room ``models``).

What it does: computes the checksum of bytes that are known, with which people name streams of random numbers. What it does not: so for
cryptographic digests.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

from jitlint.infer.values import INT, Value, py
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values.boxes import only_constant

_LONGEST: Final = 10_000


def _handler(computed: Callable[[bytes], int]) -> Callable[[Machine, Frame, int, Args], Value]:
    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        """``zlib.crc32(data)``."""
        data = only_constant(args)
        return py(computed(data)) if isinstance(data, bytes) and len(data) <= _LONGEST else INT

    return handler


CHECKSUM_CALLS: Final = {
    "binascii.crc32": _handler(zlib.crc32),
    "zlib.adler32": _handler(zlib.adler32),
    "zlib.crc32": _handler(zlib.crc32),
}
"""Dotted name to handler."""
