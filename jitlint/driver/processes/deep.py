"""Runs a deeply recursive function on a large stack (layer: ``driver``)."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_MEGABYTE = 1 << 20
# Address space only: pages that are never reached cost nothing. Small limits on memory get a smaller stack.
_STACKS = (512 * _MEGABYTE, 128 * _MEGABYTE, 32 * _MEGABYTE)
_FRAMES_PER_MEGABYTE = 200
_SLOTS = 150_000


def on_deep_stack(function: Callable[[], T]) -> T:
    """Call ``function`` in a thread with much stack and a high recursion limit; its result or its exception."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(_with_room(function))
        except BaseException as error:  # handed to the caller below
            errors.append(error)

    old_limit, old_stack = sys.getrecursionlimit(), threading.stack_size()
    try:
        _start(run).join()
    finally:
        threading.stack_size(old_stack)
        sys.setrecursionlimit(old_limit)
    if errors:
        raise errors[0]
    return results[0]


def _with_room(function: Callable[[], T]) -> T:
    """Call ``function``, with room for thousands of its frames behind this one.

    Python keeps frames in chunks of 16 kB, which it maps whenever calls reach beyond one and unmaps when they return:
    a recursion that goes up and down pays for that all the time. A chunk is as large as its first frame asks for.
    """
    return function()


_with_room.__code__ = _with_room.__code__.replace(co_stacksize=_SLOTS)


def _start(run: Callable[[], None]) -> threading.Thread:
    for size in _STACKS:
        threading.stack_size(size)
        sys.setrecursionlimit(max(sys.getrecursionlimit(), size // _MEGABYTE * _FRAMES_PER_MEGABYTE))
        thread = threading.Thread(target=run, name="jitlint analysis", daemon=True)
        try:
            thread.start()
        except (RuntimeError, MemoryError):
            continue
        return thread
    raise MemoryError("no memory for the stack of the analysis")
