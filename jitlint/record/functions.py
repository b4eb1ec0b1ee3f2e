"""What the recorder knows of functions while the user's program runs (layer: ``record``).

What it does: hold counts, and put them into the form of the store. What it does not: observe anything (``hook.py`` does).
Loaded by its path, as ``hook.py`` is: nothing but the standard library.
"""

from __future__ import annotations

import os
from types import CodeType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jitlint.record import activations
    from jitlint.record.causes import Causes


class Function:
    """What is known of one function of the project."""

    def __init__(self, code: CodeType, causes: Causes) -> None:
        self.causes = causes
        self.code = code  # kept alive, so that its id stays its own
        self.parameters = parameters_of(code)
        self.eager = 0
        self.entries = 0
        self.staged = 0
        self.roots: dict[str, int] = {}
        self.modes: dict[str, int] = {}
        self.kinds: dict[str, set[str]] = {}  # of staged entries, while there are any
        self.calls: dict[str, int] = {}
        self.signatures: dict[str, int] = {}
        self.traces = 0
        self.trace_seconds = 0.0
        self.compiles = 0
        self.compile_seconds = 0.0
        self.reasons: list[str] = []
        self.captured: dict[str, int] = {}
        self.lines: activations.Lines | None = None
        self.errors: list[dict[str, Any]] = []

    def as_json(self, root: str) -> dict[str, Any]:
        """For the store."""
        code = self.code
        parameters = {}
        for name in self.parameters:
            kinds = self.kinds.get(name, set())
            parameters[name] = "mixed" if "mixed" in kinds or len(kinds) > 1 else next(iter(kinds), "static")
        return {
            "file": os.path.relpath(code.co_filename, root).replace(os.sep, "/"),
            "line": code.co_firstlineno,
            "qualname": getattr(code, "co_qualname", code.co_name),
            "staged": self.staged,
            "entries": self.entries,
            "eager": self.eager,
            "modes": dict(self.modes),
            "root_of": dict(self.roots),
            "parameters": parameters,
            "calls": dict(self.calls),
            "signatures": dict(self.signatures),
            "traces": self.traces,
            "trace_seconds": self.trace_seconds,
            "compiles": self.compiles,
            "compile_seconds": self.compile_seconds,
            "reasons": self.reasons,
            "changes": self.causes.as_json(),
            "captured": self.captured,
            **(self.lines.as_json() if self.lines is not None else {}),
            "errors": self.errors,
        }


class Operation:
    """A function of a library that is compiled for a line of the project."""

    def __init__(self, name: str, file: str, line: int, causes: Causes) -> None:
        self.name = name
        self.file, self.line = file, line
        self.causes = causes
        self.compiles = 0
        self.seconds = 0.0

    def as_json(self) -> dict[str, Any]:
        """For the store."""
        return {
            "name": self.name,
            "file": self.file,
            "line": self.line,
            "compiles": self.compiles,
            "seconds": self.seconds,
            "changes": self.causes.as_json(),
        }


def parameters_of(code: CodeType) -> tuple[str, ...]:
    """The names of the parameters, in order."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_varnames[:count]
