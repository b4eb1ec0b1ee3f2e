"""What jitlint says: spans, findings and what they rest on. Plain data, no analysis (layer: ``base``)."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Final


class Severity(str, enum.Enum):
    """error: JAX raises. warning: silently wrong or work wasted. info: worth knowing, off by default."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """A number that grows with the severity."""
        return _SEVERITY_RANK[self]


_SEVERITY_RANK = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}


_CONFIDENCE_RANK = {"possible": 0, "likely": 1, "certain": 2}


TRACED: Final = "traced because"
"""How the steps are called that lead to a finding in traced code; other findings have other names for theirs."""


class Confidence(str, enum.Enum):
    """How sure the analysis is. ``possible`` findings are off by default. rank: a number that grows with the confidence."""

    rank: int

    POSSIBLE = "possible"
    LIKELY = "likely"
    CERTAIN = "certain"

    def __init__(self, word: str) -> None:
        self.rank = _CONFIDENCE_RANK[word]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of text: 1-based lines and columns counted in code points; the end is exclusive.

    cell: in a notebook, the number of the cell that the lines are counted in; 0 elsewhere. file_line: there, the line
    of the file that the range starts on, if somebody wants to know.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    cell: int = 0
    file_line: int = 0

    def within(self, path: str) -> str:
        """The file, or the cell of it, whose lines the range counts: ``a.py``, ``a.ipynb:cell 3``."""
        return f"{path}:cell {self.cell}" if self.cell else path


@dataclass(frozen=True, slots=True)
class Related:
    """One step of the path from the transform to the finding, outermost first. because: seen, ruled, used, said, guessed."""

    path: str
    span: Span
    message: str
    because: str = "seen"


class Safety(str, enum.Enum):
    """safe: what ran before gives the same result, what JAX refused gives what the code says. unsafe: right in the usual
    case."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Edit:
    """A range of a file's text, and what takes its place."""

    path: str
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that cure a finding, all or none of them. message: what they do, as an order ("assign the new array")."""

    safety: Safety
    message: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnostic.

    path: relative to the working directory where possible, with forward slashes.
    message: one sentence without a full stop. help: what to write instead.
    ground: why the code is believed to be traced: ``jit`` (a transform in the project), ``test`` (only the
    project's tests or examples trace it), ``catalogue`` (meant to be traced), ``declared`` (comment or
    configuration), ``possible``, ``eager`` (fails without any tracing), or ``""`` for JIT0xx.
    function: qualified name of the enclosing function, ``<module>`` at module level. case: which of its rule's cases.
    subject: the name of a library that the finding is about, as ``--statistics`` counts it, "" for most.
    traced, kind: on what ground the value is believed to be traced, and an array: seen, ruled, used, said, guessed, or
    "" where that is no question. heading: how the steps that lead here are called. facts: what was observed there, by name, for those who make fixes; fix: the one that is
    offered.
    """

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    path: str
    span: Span
    help: str = ""
    ground: str = ""
    function: str = ""
    related: tuple[Related, ...] = field(default=())
    case: str = ""
    traced: str = ""
    kind: str = ""
    subject: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    fix: Fix | None = None
    heading: str = TRACED

    @property
    def sort_key(self) -> tuple[str, int, int, int, str, str]:
        """What findings are ordered by: place first, then code."""
        return (self.path, self.span.cell, self.span.line, self.span.column, self.code, self.message)
