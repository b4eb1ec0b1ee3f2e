"""Holds what was recorded against what the static side says (layer: ``record``).

*Recall*: of the functions that JAX really staged, how many jitlint calls traced; those of tests are counted apart.
*Refutation*: findings whose line ran under a trace, with the same arguments traced throughout, without the error they
predict. *Missed*: errors that ended a trace on a line without a finding, and functions that were compiled again and
again without one. An error that the project raises on purpose is no tracing error, and tests provoke errors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jitlint.base.diagnostic import Finding, Severity
from jitlint.base.outcome import Outcome, Raises
from jitlint.base.result import TracedRow
from jitlint.record.store import RecordedError, RecordedFunction, Store

CONFIRMED, REFUTED = "confirmed", "refuted"
_STORM = 8
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")
_RECOMPILING = ("JIT501", "JIT502", "JIT505", "JIT506")


@dataclass(frozen=True, slots=True)
class Missed:
    """Something that happened at a line of a file and that no finding explains."""

    file: str
    line: int
    what: str


@dataclass(slots=True)
class Recall:
    """staged, recalled: functions. with_tracers, with_tracers_recalled: those that got a traced argument."""

    staged: int = 0
    recalled: int = 0
    with_tracers: int = 0
    with_tracers_recalled: int = 0


@dataclass(slots=True)
class Comparison:
    """tests: of files that hold tests, which the other fields leave out. unseen: staged functions that are not called
    traced. parameters, wrong: parameters called traced, and how many of these were static in every call."""

    recall: Recall = field(default_factory=Recall)
    tests: Recall = field(default_factory=Recall)
    unseen: list[RecordedFunction] = field(default_factory=list)
    parameters: int = 0
    wrong: list[tuple[RecordedFunction, str]] = field(default_factory=list)


def compare_traced(
    store: Store, rows: Iterable[TracedRow], name_of: Callable[[str], str], is_test: Callable[[str], bool]
) -> Comparison:
    """How well the static side knew what was traced.

    name_of: a row's path as the store writes it. is_test: whether a file of the store holds tests.
    """
    known = {(name_of(row.path), row.line): row for row in rows}
    result = Comparison()
    for function in store.functions:
        # Before Python 3.12, comprehensions have code of their own; they are part of the function around them.
        if not function.staged or function.qualname.endswith(_COMPREHENSIONS):
            continue
        in_test = is_test(function.file)
        row = known.get((function.file, function.line))
        recall = result.tests if in_test else result.recall
        has_tracer = any(kind != "static" for kind in function.parameters.values())
        recall.staged += 1
        recall.with_tracers += has_tracer
        recall.recalled += row is not None
        recall.with_tracers_recalled += has_tracer and row is not None
        if in_test:
            continue
        if row is None:
            result.unseen.append(function)
            continue
        for name, status in row.parameters:
            if status == "traced" and name in function.parameters:
                result.parameters += 1
                if function.parameters[name] == "static":
                    result.wrong.append((function, name))
    return result


def verdicts(
    store: Store, findings: Sequence[Finding], outcomes: Mapping[str, Outcome], name_of: Callable[[str], str]
) -> list[str]:
    """One word per finding: confirmed, refuted, or "" where the run says nothing."""
    errors = _errors(store)
    lines: dict[str, dict[int, RecordedFunction]] = {}
    for function in store.functions:
        for line in function.lines:
            lines.setdefault(function.file, {})[line] = function
    result = []
    for finding in findings:
        name = name_of(finding.path)
        outcome = outcomes.get(finding.code)
        span = range(finding.span.line, finding.span.end_line + 1)
        if not isinstance(outcome, Raises):
            result.append("")
        elif any(_explains(outcome, error) for line in span for error in errors.get((name, line), ())):
            result.append(CONFIRMED)
        elif outcome.later or finding.ground == "possible":
            result.append("")
        else:
            result.append(REFUTED if _passed(lines.get(name, {}), span) else "")
    return result


def with_verdicts(findings: Sequence[Finding], words: Sequence[str]) -> list[Finding]:
    """The findings with what the run said of them in their message; a refuted one is of severity info."""
    result = []
    for finding, word in zip(findings, words):
        if word == CONFIRMED:
            finding = replace(finding, message=f"{finding.message} (a recorded run failed here)")
        elif word == REFUTED:
            said = f"{finding.message} (but a recorded run went through)"
            finding = replace(finding, message=said, severity=Severity.INFO)
        result.append(finding)
    return result


def _passed(lines: Mapping[int, RecordedFunction], span: range) -> bool:
    """Whether the line and one after it in the same function ran, with one set of arguments traced throughout.

    An event of a line comes before the line has run, hence the one after it. A function that got no tracer at all
    was not called the way the finding speaks of.
    """
    function = lines.get(span.start)
    if function is None or len(function.calls) != 1 or function.errors:
        return False
    if "T" not in next(iter(function.calls)):
        return False
    return any(line > span.stop - 1 for line in function.lines)


def missed(
    store: Store,
    findings: Sequence[Finding],
    name_of: Callable[[str], str],
    is_test: Callable[[str], bool],
) -> list[Missed]:
    """What went wrong in the run on lines, or in functions, that no finding speaks of."""
    at: set[tuple[str, int]] = set()
    recompiling: set[str] = set()
    for finding in findings:
        name = name_of(finding.path)
        at.update((name, line) for line in range(finding.span.line, finding.span.end_line + 1))
        if finding.code in _RECOMPILING:
            recompiling.add(name)
            recompiling.update(name_of(step.path) for step in finding.related)
    found = [
        Missed(file, line, f"{error.exception} ended a trace")
        for (file, line), errors in sorted(_errors(store).items())
        for error in errors
        if (file, line) not in at and not error.deliberate and not is_test(file)
    ]
    for function in store.functions:
        storm = function.compiles >= _STORM and function.compiles > 2 * len(function.signatures)
        if storm and function.file not in recompiling and not is_test(function.file):
            what = f"`{function.qualname}` was compiled {function.compiles} times in {len(function.signatures)} forms"
            found.append(Missed(function.file, function.line, what))
    return list(dict.fromkeys(found))


def relative_to(root: str) -> Callable[[str], str]:
    """Paths as the store writes them."""
    top = os.path.realpath(root)

    def name_of(path: str) -> str:
        return os.path.relpath(os.path.realpath(path), top).replace(os.sep, "/")

    return name_of


def _errors(store: Store) -> dict[tuple[str, int], list[RecordedError]]:
    found: dict[tuple[str, int], list[RecordedError]] = {}
    for function in store.functions:
        for error in function.errors:
            found.setdefault((error.file, error.line), []).append(error)
    return found


def _explains(outcome: Raises, error: RecordedError) -> bool:
    short = {name.rpartition(".")[2] for name in outcome.classes}
    return error.exception.rpartition(".")[2] in short
