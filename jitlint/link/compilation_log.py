"""What is remembered about compiled functions, their makers and their callers (layer: ``link``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jitlint.base.diagnostic import Confidence
from jitlint.infer.values import Value
from jitlint.link.code_tables import CodeTable

if TYPE_CHECKING:
    from jitlint.link.machine import Frame


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
class CallSite:
    """A call in host code of a function of the project. loops: the loops around the call."""

    frame: Frame
    node: Any
    loops: tuple[Any, ...]


@dataclass(slots=True)
class CompilationLog:
    """What the analysis has seen. fresh: per function, results that it made itself and whether they retrace."""

    tables: dict[int, CodeTable] = field(default_factory=dict)
    fresh: dict[tuple[int, int], tuple[Value, bool, str]] = field(default_factory=dict)
    per_call: dict[tuple[str, int], PerCall] = field(default_factory=dict)
    sites: dict[int, dict[tuple[str, int], CallSite]] = field(default_factory=dict)
    done: set[tuple[str, str, int]] = field(default_factory=set)
