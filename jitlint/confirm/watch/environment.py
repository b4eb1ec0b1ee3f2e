"""Hears which variables of the environment a program sets that JAX has an option for, and what becomes of the option (layer: ``confirm``)."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax


class Setting(NamedTuple):
    """A variable was set. place: file and line. option: its name for `jax.config`. value: what that had, and has afterwards."""

    place: tuple[str, int]
    option: str
    value: Any


@contextlib.contextmanager
def hearing() -> Iterator[list[Setting]]:
    """The list fills while the block runs; the environment is what it was afterwards."""
    heard: list[Setting] = []
    kept = dict(os.environ)
    kind: Any = type(os.environ)
    original = kind.__setitem__

    def noting(self: Any, key: str, value: str) -> None:
        option = key.lower()
        before = getattr(jax.config, option, None)
        original(self, key, value)
        if hasattr(jax.config, option) and getattr(jax.config, option) == before:
            frame = sys._getframe(1)
            while frame.f_back is not None and frame.f_code.co_filename == os.__file__:
                frame = frame.f_back
            heard.append(Setting((frame.f_code.co_filename, frame.f_lineno), option, before))

    kind.__setitem__ = noting
    try:
        yield heard
    finally:
        kind.__setitem__ = original
        os.environ.clear()
        os.environ.update(kept)
