"""Holds what was recorded against what the static side says (layer: ``record``).

*Recall*: of the functions that JAX really staged, how many jitlint calls traced; those of tests are counted apart.
*Refutation*: findings whose line ran under a trace, in an activation that came to its end, without the error they
predict. *Missed*: errors that ended a trace on a line without a finding, and functions that were compiled again and
again without one. An error that the project raises on purpose is no tracing error, and tests provoke errors.
"""

from __future__ import annotations

import ast
import os
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jitlint.base.diagnostic import Finding, Severity
from jitlint.base.outcome import Outcome, Raises
from jitlint.base.parts import Part, Parts, parsed
from jitlint.base.result import TracedRow
from jitlint.record.store import RecordedChange, RecordedError, RecordedFunction, RecordedOperation, Store

CONFIRMED, REFUTED, PASSED, OPEN = "confirmed", "refuted", "passed", "open"
"""refuted: the line ran to its end under a trace, with tracers in all the names of the finding. passed: it ran to its end, but
with other arguments than the finding speaks of, or nobody knows which. open: the run came to the line, and that proves nothing."""
IN_WORDS = {
    CONFIRMED: "supported",
    REFUTED: "refuted",
    PASSED: "ran with other arguments",
    OPEN: "open",
}
_SAID = {
    CONFIRMED: "a recorded run failed here",
    REFUTED: "but a recorded run went through",
    PASSED: "a recorded run went through with other arguments",
}
_STORM = 8
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")
_RECOMPILING = ("JIT501", "JIT502", "JIT505", "JIT506")


@dataclass(frozen=True, slots=True)
class Missed:
    """Something that happened at a line of a file and that no finding explains. function: the name and first line of that
    around it, ("", 0) for none."""

    file: str
    line: int
    what: str
    function: tuple[str, int] = ("", 0)


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
    traced. parameters, wrong: parameters called traced, and how many of these were static in every call. unknown: parameters
    that were traced, and are called static."""

    recall: Recall = field(default_factory=Recall)
    tests: Recall = field(default_factory=Recall)
    unseen: list[RecordedFunction] = field(default_factory=list)
    parameters: int = 0
    wrong: list[tuple[RecordedFunction, str]] = field(default_factory=list)
    unknown: list[tuple[RecordedFunction, str]] = field(default_factory=list)


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
        else:
            _compare_parameters(function, row, result)
    return result


def _compare_parameters(function: RecordedFunction, row: TracedRow, result: Comparison) -> None:
    for name, status in row.parameters:
        ran = function.parameters.get(name)
        result.parameters += status == "traced" and ran is not None
        if (status, ran) == ("traced", "static"):
            result.wrong.append((function, name))
        if (status, ran) == ("static", "traced"):
            result.unknown.append((function, name))


@dataclass(frozen=True, slots=True)
class _Run:
    """What a store says, by file. functions: by name and first line. staged: lines that a staged trace came to."""

    errors: dict[tuple[str, int], list[RecordedError]]
    functions: dict[tuple[str, str, int], RecordedFunction]
    staged: dict[str, set[int]]
    eager: dict[str, set[int]]


def verdicts(
    store: Store, findings: Sequence[Finding], outcomes: Mapping[str, Outcome], name_of: Callable[[str], str]
) -> list[str]:
    """One word per finding: CONFIRMED, REFUTED, PASSED, OPEN, or "" where the line was not come to.

    The files must be those that ran (`still_true` sees to it).
    """
    run = _Run(
        _errors(store),
        {(f.file, f.qualname.rpartition(".")[2], f.line): f for f in store.functions},
        {},
        {file: set(lines) for file, lines in store.ran.items()},
    )
    for function in store.functions:
        run.staged.setdefault(function.file, set()).update(function.lines)
    parts: dict[str, Parts] = {}
    return [
        _verdict(run, finding, outcomes.get(finding.code), name_of(finding.path), parts)
        for finding in findings
    ]


def _verdict(run: _Run, finding: Finding, outcome: Outcome | None, file: str, parts: dict[str, Parts]) -> str:
    if not isinstance(outcome, Raises):
        return ""
    span = range(finding.span.line, finding.span.end_line + 1)
    if _is_explained(outcome, [error for line in span for error in run.errors.get((file, line), ())]):
        return CONFIRMED
    eager = run.eager.get(file, set()) if finding.ground == "eager" else set()
    if not (run.staged.get(file, set()) | eager).intersection(span):
        return ""
    if outcome.later or outcome.spread:
        return OPEN
    if file not in parts:
        parts[file] = Parts(_text(finding.path))
    part = parts[file].at(finding.span)
    if part is None or not part.always:
        return OPEN
    function = run.functions.get((file, *part.function))
    word = _in_traces(function, part, outcome) if function is not None else ""
    return word or (PASSED if eager.intersection(part.lines) else OPEN)


def _is_explained(outcome: Raises, errors: Iterable[RecordedError]) -> bool:
    return any(_explains(outcome, error.exception) for error in errors)


def _in_traces(function: RecordedFunction, part: Part, outcome: Raises) -> str:
    """What the staged activations of its function say of a part that always runs; "" for nothing."""
    if any(line in part.lines and _explains(outcome, error) for line, error in function.raised):
        return OPEN  # it failed there, and the code expects it
    if not any(line in part.lines for line in function.returned):
        return ""
    held = {name for line in part.lines for name in function.held.get(str(line), ())}
    return REFUTED if part.names and part.names <= held else PASSED


def tally(words: Sequence[str]) -> str:
    """How many findings a run speaks for and against."""
    count = Counter(words)
    return (
        f"{count[REFUTED]} refuted, {count[CONFIRMED]} supported, {count['']} not executed, "
        f"{count[PASSED]} ran with other arguments, {count[OPEN]} open"
    )


def _text(path: str) -> str:
    try:
        with tokenize.open(path) as stream:
            return stream.read()
    except (OSError, SyntaxError, UnicodeDecodeError):
        return ""


def with_verdicts(findings: Sequence[Finding], words: Sequence[str]) -> list[Finding]:
    """The findings with what the run said of them in their message; a refuted one is of severity info."""
    result = []
    for finding, word in zip(findings, words):
        severity = Severity.INFO if word == REFUTED else finding.severity
        said = f"{finding.message} ({_SAID[word]})" if word in _SAID else finding.message
        result.append(replace(finding, message=said, severity=severity) if word in _SAID else finding)
    return result


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
    compiled: list[RecordedFunction | RecordedOperation] = [*store.functions, *store.operations]
    for each in compiled:
        if each.file not in recompiling and not is_test(each.file) and (what := _storm(each, is_test)):
            own = (each.qualname, each.line) if isinstance(each, RecordedFunction) else ("", 0)
            found.append(Missed(each.file, each.line, what, own))
    return list(dict.fromkeys(found))


def _storm(each: RecordedFunction | RecordedOperation, is_test: Callable[[str], bool]) -> str:
    """That something was compiled again and again, and why; "" if it was not. Tests may do so."""
    changes = [change for change in each.changes if not is_test(change.file)]
    most = max(changes, key=lambda change: change.times, default=None)
    why = f": {in_words(most, isinstance(each, RecordedOperation))}" if most is not None else ""
    if isinstance(each, RecordedOperation):
        often = sum(change.times for change in changes) >= _STORM
        return (
            f"`{each.name}` of a library was compiled {each.compiles} times for this line{why}"
            if often
            else ""
        )
    forms = len(each.signatures)
    often = most is not None and most.times >= _STORM
    if each.compiles < _STORM or not (often or each.compiles > 2 * forms):
        return ""
    return f"`{each.qualname}` was compiled {each.compiles} times in {forms} forms{why}"


def in_words(change: RecordedChange, library: bool = False) -> str:
    """Why something was traced again, and who called. library: what was called did not say all that it did."""
    what = "with the same arguments, by another `jit` or of another function"
    if library:
        what = "with arguments that look the same from here"
    if change.at:
        what = f"at {change.at}, now {change.now} and before {change.before}"
    if change.more:
        what = f"{what} ({change.more} more differ{'s' * (change.more == 1)})"
    often = f"{change.times} times" if change.times > 1 else "once"
    return f"{what}; {often}, called from {change.file}:{change.line}" if change.file else f"{what}; {often}"


def around(path: str, line: int) -> tuple[str, int]:
    """The name and first line of the function that a line stands in; ("", 0) for none."""
    found = ("", 0)
    tree = parsed(_text(path))
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first <= line <= (node.end_lineno or first) and first > found[1]:
                found = (node.name, first)
    return found


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


def _explains(outcome: Raises, exception: str) -> bool:
    short = {name.rpartition(".")[2] for name in outcome.classes}
    return exception.rpartition(".")[2] in short
