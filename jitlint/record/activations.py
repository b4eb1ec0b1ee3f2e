"""Runs inside the user's program and notes which lines ran in calls that came to their end (layer: ``record``).

What it does: collect the lines of each activation of a function of the project, and believe them when the activation
returns or yields; one that an exception leaves proves nothing, as the event of a line comes *before* the line runs. Lines
under a staging trace are kept with the names on them that held a tracer, and with the exceptions raised there; lines
that ran without any trace are kept apart.
What it does not: decide what a line proves (`jitlint.record.judge` does), or keep values.

A line is watched until nothing more is to be learnt of it: until it was seen with a tracer, or often enough without.
Loaded by its path, as ``hook.py`` is: nothing but the standard library.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

STAGED, EAGER, OTHER = "staged", "eager", "other"
_ENOUGH = 20
_MOST_PARTS = 32
_MOST_RAISED = 256


class Lines:
    """What is known of the lines of one function.

    hit: lines that a staged activation came to. returned: lines that ran in one that came to its end, and in how many.
    held: names on them that held a tracer then. raised: exceptions that a staged line raised, handled or not.
    eager: lines that ran in an activation without any trace that came to its end.
    """

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._names: dict[int, set[str]] | None = None
        self.staged = False
        self.hit: set[int] = set()
        self.returned: dict[int, int] = {}
        self.held: dict[int, set[str]] = {}
        self.raised: set[tuple[int, str]] = set()
        self.eager: set[int] = set()

    def is_closed(self, line: int) -> bool:
        """Whether nothing more is to be learnt of a line under a trace."""
        return line in self.held or self.returned.get(line, 0) >= _ENOUGH

    def names(self, line: int) -> set[str]:
        """The local names that a line reads."""
        if self._names is None:
            self._names = {}
            for at, name in _reads(self._code):
                self._names.setdefault(at, set()).add(name)
        return self._names.get(line, set())

    def as_json(self) -> dict[str, Any]:
        """For the store."""
        return {
            "lines": sorted(self.hit),
            "returned": sorted(self.returned),
            "held": {str(line): sorted(names) for line, names in sorted(self.held.items())},
            "raised": [list(each) for each in sorted(self.raised)],
        }


class Activations:
    """The activations that are under way in this process.

    mode: what the thread does now: STAGED, EAGER or OTHER (under a derivative or a map alone). is_tracer: whether a
    value is one.
    """

    def __init__(
        self, monitoring: Any, tool: int, mode: Callable[[], str], is_tracer: Callable[[object], bool]
    ) -> None:
        self._monitoring = monitoring
        self._tool = tool
        self._mode = mode
        self._is_tracer = is_tracer
        self._lines: dict[int, Lines] = {}
        self._open: dict[int, dict[int, set[str] | None]] = {}
        """By frame: the lines so far, with the names that held a tracer; None for a line without a trace."""
        events = monitoring.events
        self._local = events.LINE | events.PY_RETURN | events.PY_YIELD
        monitoring.register_callback(tool, events.LINE, self._on_line)
        monitoring.register_callback(tool, events.PY_RETURN, self._on_return)
        monitoring.register_callback(tool, events.PY_YIELD, self._on_return)
        monitoring.register_callback(tool, events.RAISE, self._on_raise)

    def forget(self) -> None:
        """A new process starts from nothing."""
        self._lines, self._open = {}, {}

    def watch(self, code: CodeType, staged: bool) -> Lines:
        """Watch the lines of a function from now on."""
        lines = self._lines.get(id(code))
        if lines is None:
            lines = self._lines[id(code)] = Lines(code)
            self._monitoring.set_local_events(self._tool, code, self._local)
        if staged and not lines.staged:
            lines.staged = True
            # What was switched off line by line, because it had run without a trace, is to be seen again.
            self._monitoring.set_local_events(self._tool, code, 0)
            self._monitoring.set_local_events(self._tool, code, self._local)
        return lines

    def on_unwind(self, depth: int = 2) -> None:
        """An exception leaves an activation: what it did is not believed."""
        self._open.pop(id(sys._getframe(depth)), None)

    def _on_line(self, code: CodeType, line: int) -> object:
        lines = self._lines.get(id(code))
        if lines is None:
            return self._monitoring.DISABLE
        mode = self._mode()
        if mode == STAGED:
            if lines.is_closed(line):
                return self._monitoring.DISABLE
            lines.hit.add(line)
        elif line in lines.eager:
            return None if lines.staged else self._monitoring.DISABLE
        elif mode == OTHER:
            return None
        frame = sys._getframe(1)
        pending = self._open.setdefault(id(frame), {})
        if mode == EAGER:
            pending.setdefault(line, None)
            return None
        held = pending.get(line)
        names = lines.names(line)
        if names and not held:
            values = frame.f_locals
            held = {name for name in names if name in values and self._holds(values[name])}
        pending[line] = held or set()
        return None

    def _on_return(self, code: CodeType, offset: int, value: object) -> None:
        pending = self._open.pop(id(sys._getframe(1)), None)
        lines = self._lines.get(id(code))
        if not pending or lines is None:
            return
        for line, held in pending.items():
            if held is None:
                lines.eager.add(line)
                continue
            lines.returned[line] = lines.returned.get(line, 0) + 1
            if held:
                lines.held.setdefault(line, set()).update(held)

    def _on_raise(self, code: CodeType, offset: int, error: BaseException) -> None:
        lines = self._lines.get(id(code))
        if lines is None:
            return
        frame = sys._getframe(1)
        pending = self._open.get(id(frame))
        line = frame.f_lineno
        if pending is not None:
            pending.pop(line, None)
        if isinstance(error, GeneratorExit):
            return
        if self._mode() == STAGED and len(lines.raised) < _MOST_RAISED and line is not None:
            lines.raised.add((line, name_of(type(error))))

    def _holds(self, value: object) -> bool:
        """Whether a value is a tracer or has one among its parts."""
        try:
            return self._is_tracer(value) or any(self._is_tracer(part) for part in _parts(value))
        except Exception:  # a strange object
            return False


def name_of(kind: type) -> str:
    """A class's dotted name; a builtin's bare one."""
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def _parts(value: object) -> list[object]:
    if isinstance(value, (tuple, list)):
        return list(value[:_MOST_PARTS])
    if isinstance(value, dict):
        return list(value.values())[:_MOST_PARTS]
    if isinstance(value, type):
        return []
    own = object.__getattribute__(value, "__dict__")
    return list(own.values())[:_MOST_PARTS] if isinstance(own, dict) else []


def _reads(code: CodeType) -> Iterator[tuple[int, str]]:
    """Lines of a function and the local and enclosing names that they read."""
    for instruction in dis.get_instructions(code):
        positions = getattr(instruction, "positions", None)  # from Python 3.11
        line = positions.lineno if positions is not None else None
        name = instruction.opname
        if line is None or not name.startswith("LOAD_") or not ("FAST" in name or "DEREF" in name):
            continue
        value = instruction.argval
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, str):
                yield line, each
