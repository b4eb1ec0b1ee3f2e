"""What one run hands to the reporters: findings, traced functions and counts (layer: ``base``)."""

from __future__ import annotations

from dataclasses import dataclass, field

from jitlint.base.diagnostic import Confidence, Finding, Span

IN_TESTS = "in tests"
"""How the last line calls what the profile for test code leaves out."""
EXCLUDED = "left out by `exclude`"
INSTALLED = "left out as installed code"
"""How it calls what was named and is left out all the same."""
UNREAD = "could not be analysed, so who calls this is not wholly known"
"""How it calls files with possible callers that are broken."""
BY_A_RUN = "refuted by a recorded run"
"""How it calls what the project's own run has gone through."""


class AnalysisError(Exception):
    """The analysis itself failed: a mistake in jitlint. Findings would be incomplete, so there are none."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One step of the explanation why a function is traced."""

    path: str
    line: int
    message: str
    cell: int = 0


@dataclass(frozen=True, slots=True)
class TracedRow:
    """A function that traced code reaches.

    line: as `co_firstlineno`, the first decorator's line. modes: of staged, batched, linear.
    parameters: (name, traced | static | mixed | unknown) in order.
    """

    path: str
    qualname: str
    line: int
    modes: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    because: tuple[Reason, ...]
    ground: str
    confidence: Confidence
    cell: int = 0


@dataclass(frozen=True, slots=True)
class ValueRow:
    """What a value is at a place, in one situation. The same place may come in several.

    text: the expression. status: traced, static, mixed (some of its leaves are traced) or unknown. kind: what it is, in
    words, "" if that is not known. code: it is a function, a class or a module. why: what made it a tracer. in_trace:
    the code was running under a transform. because: how it came to run so. ground, confidence: as in findings.
    """

    path: str
    span: Span
    text: str
    status: str
    kind: str
    code: bool
    why: str
    in_trace: bool
    function: str
    because: tuple[Reason, ...]
    ground: str
    confidence: Confidence


@dataclass(slots=True)
class WhyResult:
    """line: the text of the line asked about. rows: by column, what is traced first. problems: as in `CheckResult`. others: where
    no value is at the column asked about, those of the line."""

    line: str
    rows: list[ValueRow]
    problems: list[Finding]
    others: list[ValueRow] = field(default_factory=list)


@dataclass(slots=True)
class Statistics:
    """Counts of one run.

    files, lines: what was asked for. parsed: files that had to be looked into. cached: whether the whole
    result came from the cache. jit_sites: transform applications seen, and how many of their functions
    were found. notes: counts that the analysis wants to show. unmatched: configured patterns of
    functions that match none of the files looked into. seconds: wall time per phase. jax: the JAX that
    findings are about, and why that one. units: groups of files that no import connects; units_run: how many of them
    had to be analysed; lowered: files that were parsed for that; placed: files in which positions or words were looked up.
    excluded, hidden: what was named, and what lies below it, that patterns leave out.
    """

    files: int = 0
    lines: int = 0
    parsed: int = 0
    cached: bool = False
    jit_sites: int = 0
    jit_sites_resolved: int = 0
    notes: dict[str, int] = field(default_factory=dict)
    unmatched: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    jax: str = ""
    units: int = 0
    units_run: int = 0
    lowered: int = 0
    placed: int = 0
    excluded: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)


@dataclass(slots=True)
class CheckResult:
    """findings: selected and sorted. problems: what could not be analysed (JIT0xx); they count as failures.

    in_tests: findings in test code that the profile for tests leaves out. elsewhere: findings in files that were not asked for,
    which code in those that were leads to. named: what was asked for, as absolute paths. unread: files around these
    that could not be analysed, so that it is not known what they call.
    """

    findings: list[Finding]
    problems: list[Finding]
    statistics: Statistics
    urls: dict[str, str] = field(default_factory=dict)
    in_tests: int = 0
    elsewhere: list[Finding] = field(default_factory=list)
    named: frozenset[str] = frozenset()
    unread: list[str] = field(default_factory=list)


@dataclass(slots=True)
class TracedResult:
    """rows: sorted by path and line. problems: as in `CheckResult`."""

    rows: list[TracedRow]
    problems: list[Finding]
    statistics: Statistics
