"""What is remembered about compiled functions, their makers and their callers (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jitlint.base.diagnostic import Confidence
from jitlint.infer.values import Value
from jitlint.link.tables.code_tables import CodeTable

if TYPE_CHECKING:
    from jitlint.link.engine.machine import Frame


@dataclass(frozen=True, slots=True)
class Birth:
    """A value with an identity of its own was made. loops: the loops around, outermost first. statement: where."""

    value: Value
    loops: tuple[Any, ...]
    statement: int


@dataclass(frozen=True, slots=True)
class PerCall:
    """A compiled function that its function makes whenever it is called. ``called_at``: where it is called."""

    frame: Frame
    confidence: Confidence
    at: int
    called_at: int
    retraces: bool
    what: str


@dataclass(frozen=True, slots=True)
class EagerLoop:
    """A loop or branch of JAX in host code with a function that is made each time. in_loop: at every turn of a loop."""

    frame: Frame
    confidence: Confidence
    at: int
    what: str
    api: str
    in_loop: bool


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call in host code of a function of the project. loops: the loops around the call."""

    frame: Frame
    node: Any
    loops: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """An argument of a call of a compiled function, to be asked of the callers of the function around."""

    frame: Frame
    confidence: Confidence
    table: CodeTable
    node: Any
    arg: Any
    parameter: str
    static: bool
    filter: bool


@dataclass(slots=True)
class CompilationLog:
    """What the analysis has seen. fresh: per function, results that it made itself and whether they retrace. kept: compiled functions that serve more
    than one call each."""

    tables: dict[int, CodeTable] = field(default_factory=dict)
    fresh: dict[tuple[int, int], tuple[Value, bool, str]] = field(default_factory=dict)
    per_call: dict[tuple[str, int], PerCall] = field(default_factory=dict)
    eager: dict[tuple[str, int], EagerLoop] = field(default_factory=dict)
    questions: dict[tuple[str, int], Question] = field(default_factory=dict)
    kept: set[tuple[str, int]] = field(default_factory=set)
    sites: dict[int, dict[tuple[str, int], CallSite]] = field(default_factory=dict)
    done: set[tuple[str, str, int]] = field(default_factory=set)

    def table(self, f: Frame) -> CodeTable:
        """The code table of the function or module that runs in a frame."""
        key = f.fn.id if f.fn is not None else -1 - id(f.module)
        table = self.tables.get(key)
        if table is None:
            body = f.fn.body if f.fn is not None else f.module.tree.body
            table = self.tables[key] = CodeTable(f.module, body)
        return table
