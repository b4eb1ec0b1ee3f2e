"""Hears where JAX warns: of fewer bits than were asked for, of unlike ranks (layer: ``confirm``)."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any, Final

import jax

import jitlint

NARROWS: Final = re.compile(r"Explicitly requested dtype .* not available")
PROMOTES: Final = re.compile(
    r"automatic rank promotion for \w+ on shapes (?:\((\d+), 1\) \(\1,\)|\((\d+),\) \(\2, 1\))"
)
_INSIDE: Final = tuple(os.path.abspath(each.__path__[0]) + os.sep for each in (jax, jitlint))

Heard = list[tuple[tuple[str, int], str]]
"""File and line of the code that asked, and what JAX said."""


def asked_from() -> tuple[str, int]:
    """File and line of the code outside of JAX and jitlint that is being run."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


@contextlib.contextmanager
def hearing(says: re.Pattern[str]) -> Iterator[Heard]:
    """The list fills while the block runs, whatever the program does with warnings. says: what is listened for."""
    heard: Heard = []
    warn: Any = warnings.warn

    def noting(message: Any, *args: Any, **kwargs: Any) -> None:
        if says.search(str(message)):
            heard.append((asked_from(), str(message)))
        warn(message, *args, **kwargs)

    warnings.warn = noting
    try:
        yield heard
    finally:
        warnings.warn = warn
