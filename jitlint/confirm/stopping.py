"""When a run has to end before it is through: its time is up, or somebody asks for it (layer: ``confirm``).

What was found by then is told all the same; nothing is started any more, and what runs is ended.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


@dataclass(slots=True)
class Stop:
    """until: by the monotonic clock; None for never. why: in words, once it is over. asked: by a signal."""

    until: float | None = None
    why: str = ""
    asked: bool = False

    def is_over(self) -> bool:
        """Whether nothing may run any more."""
        if not self.why and self.until is not None and time.monotonic() >= self.until:
            self.why = "the time for the whole run was up"
        return bool(self.why)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Inside the block, signals that would end the program end the run. A second Ctrl-C does not wait."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def take(number: int, frame: FrameType | None) -> None:
            if self.asked and number == signal.SIGINT:
                raise KeyboardInterrupt
            self.why, self.asked = f"the run was ended by {signal.Signals(number).name}", True

        numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
        before = {number: signal.signal(number, take) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler if handler is not None else signal.SIG_DFL)
