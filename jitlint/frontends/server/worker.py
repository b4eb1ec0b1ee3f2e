"""The one thread in which the server analyses (layer: ``frontends``).

Not an executor of the standard library: the process must be able to end while it is busy.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


class Worker:
    """Does one thing after the other."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="jitlint server", daemon=True).start()

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Do this when everything before it is done."""
        future: Future[T] = Future()

        def do() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work())
                except BaseException as error:  # whoever waits gets it
                    future.set_exception(error)

        self._waiting.put(do)
        return future

    def _run(self) -> None:
        while True:
            self._waiting.get()()
