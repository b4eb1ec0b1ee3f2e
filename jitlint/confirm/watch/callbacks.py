"""Counts how often functions of the host run that compiled code is to call (layer: ``confirm``)."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import jax

Place = tuple[str, int]


@contextlib.contextmanager
def counting() -> Iterator[tuple[set[Place], Counter[Place]]]:
    """Inside the block: where calls of `jax.pure_callback` are written that ran, and how often each of their functions did."""
    asked: set[Place] = set()
    ran = Counter[Place]()
    original = jax.pure_callback
    jax.pure_callback = _counted(original, asked, ran)
    try:
        yield asked, ran
        jax.effects_barrier()
    finally:
        jax.pure_callback = original


def _counted(original: Callable[..., Any], asked: set[Place], ran: Counter[Place]) -> Callable[..., Any]:
    @functools.wraps(original)
    def counted(callback: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)
        place = (frame.f_code.co_filename, frame.f_lineno)
        asked.add(place)

        def noting(*values: Any, **named: Any) -> Any:
            ran[place] += 1
            return callback(*values, **named)

        return original(noting, *args, **kwargs)

    return counted
