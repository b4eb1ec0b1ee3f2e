"""What the values on a line are, and how the code there comes to run so (layer: ``driver``).

The answer is made anew each time, with the whole project around the file: no run remembers values. Asking about one line
costs what checking the file costs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jitlint.base.config import ConfigError, Settings
from jitlint.base.diagnostic import Finding, Span
from jitlint.base.result import AnalysisError, Reason, ValueRow, WhyResult
from jitlint.base.text import display_path, shorten, split_lines
from jitlint.driver.processes.schedule import Forked
from jitlint.driver.project import callers_of
from jitlint.driver.target import target_of
from jitlint.driver.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    from jitlint.driver.lowering import Lowered
    from jitlint.infer.described import Seen
    from jitlint.infer.places import Step
    from jitlint.link.program import Analysis

_LONGEST = 60
_START = Span(1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Question:
    """A place, as people write it. cell: of a notebook, 0 for any other file. column: 0 for the whole line."""

    path: str
    line: int
    column: int = 0
    cell: int = 0


def parse_question(text: str) -> Question:
    """``FILE:LINE``, ``FILE:LINE:COLUMN``, ``FILE:cell N:LINE``. Raises ConfigError for anything else."""
    parts = text.rstrip(":").split(":")
    numbers: list[int] = []
    while len(parts) > 1 and len(numbers) < 2 and parts[-1].strip().isdecimal():
        numbers.insert(0, int(parts.pop()))
    cell = 0
    if len(parts) > 1 and parts[-1].startswith("cell ") and parts[-1][5:].strip().isdecimal():
        cell = int(parts.pop()[5:])
    path = ":".join(parts)
    if not numbers or not path or 0 in numbers:
        raise ConfigError(f"{text!r} is no place; write FILE:LINE or FILE:LINE:COLUMN")
    return Question(path, numbers[0], numbers[1] if len(numbers) > 1 else 0, cell)


def why(
    question: Question,
    settings: Settings,
    *,
    use_cache: bool = True,
    unsaved: Mapping[str, bytes] | None = None,
) -> WhyResult:
    """What the values at the place are. Raises ConfigError for a place that is not there, and AnalysisError."""
    path = os.path.abspath(question.path)
    workspace = _opened(path, settings, use_cache, unsaved)
    if workspace.failures:
        raise ConfigError(f"{question.path}: {workspace.failures[0][1]}")
    text = _text(workspace, path)
    line = _module_line(workspace, path, question)
    lines = split_lines(text)
    if not 1 <= line <= len(lines):
        raise ConfigError(f"{question.path}: it has no line {question.line}")
    if question.column > len(lines[line - 1]) + 1:
        raise ConfigError(f"{question.path}: line {question.line} has no column {question.column}")
    rows, problems = _Answer(workspace, path, text).rows(settings, line)
    whole = rows
    if question.column:
        rows = [row for row in rows if _is_around(row.span, question)]
        narrowest = min([_width(row.span) for row in rows], default=(0, 0))
        rows = [row for row in rows if _width(row.span) == narrowest]
    return WhyResult(lines[line - 1], rows, problems, [] if rows else whole)


def values(
    path: str, settings: Settings, *, use_cache: bool = True, unsaved: Mapping[str, bytes] | None = None
) -> list[ValueRow]:
    """What all the values in a file are; none of a file that cannot be analysed. Raises AnalysisError."""
    path = os.path.abspath(path)
    workspace = _opened(path, settings, use_cache, unsaved)
    if workspace.failures:
        return []
    return _Answer(workspace, path, _text(workspace, path)).rows(settings, 0)[0]


def _opened(path: str, settings: Settings, use_cache: bool, unsaved: Mapping[str, bytes] | None) -> Workspace:
    return open_workspace([path], settings, use_cache, unsaved, callers_of([path]))


def _text(workspace: Workspace, path: str) -> str:
    from jitlint.syntax.source import SyntaxProblem, decode

    text = decode(workspace.content(path))
    if isinstance(text, SyntaxProblem):
        raise ConfigError(f"{display_path(path)}: {text.message}")
    return text


def _module_line(workspace: Workspace, path: str, question: Question) -> int:
    """The line of the module that is analysed."""
    document = workspace.document(path)
    if document is None:
        return question.line
    if document.failure is not None:
        raise ConfigError(f"{question.path}: {document.failure.message}")
    for number, row in enumerate(document.rows, 1):
        is_mark = document.text.startswith("# %%", _start_of(document.text, number))
        if (row.cell, row.line) == (question.cell, question.line) and not is_mark:
            return number
    hint = (
        f"; write {question.path}:cell 3:{question.line}"
        if not question.cell and document.rows[-1].cell
        else ""
    )
    raise ConfigError(f"{question.path}: there is no code at that place{hint}")


def _start_of(text: str, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.index("\n", at) + 1
    return at


@dataclass(frozen=True, slots=True)
class _Answer:
    """What an answer is made of. text: of the module at ``path``."""

    workspace: Workspace
    path: str
    text: str

    def rows(self, settings: Settings, line: int) -> tuple[list[ValueRow], list[Finding]]:
        """The values on a line (0: on all), and what of the file could not be analysed."""
        from jitlint.driver.documents import in_document
        from jitlint.driver.lowering import lower_files
        from jitlint.driver.problems import in_file
        from jitlint.syntax.repair import repaired

        workspace, path = self.workspace, self.path
        lowered = lower_files(workspace, Forked(1))
        bad = [why for where, why in (*lowered.problems.items(), *lowered.partial) if where == path]
        problems = [
            replace(
                in_document(in_file(why.code, path, why.message, why.line, why.column), workspace),
                path=display_path(path),
            )
            for why in bad
        ]
        if (
            path not in workspace.linked or path in lowered.problems
        ):  # the first: nothing connects it with JAX
            return [], problems
        text = repaired(self.text) if path in lowered.rests else None
        spans = _spans(text or self.text, lowered.module(path), line)
        analysis = _analysed(workspace, lowered, settings, {path: frozenset(spans)})
        return self._rows(analysis.seen, spans, lowered), problems

    def _rows(self, seen: Iterable[Seen], spans: Mapping[int, Span], lowered: Lowered) -> list[ValueRow]:
        from jitlint.driver.positions import locate

        workspace = self.workspace
        paths = {name: path for path, name in workspace.names.items()}
        needed: dict[str, set[int]] = {}
        seen = list(seen)
        for each in seen:
            for step in each.steps:
                if step.module in paths:
                    needed.setdefault(paths[step.module], set()).add(step.at)
        modules = {path: lowered.module(path) for path in needed}
        positions = locate(workspace, needed, modules, Forked(1))

        def reason(step: Step) -> Reason:
            path = paths[step.module]
            span = _placed(workspace, path, positions.get(path, {}).get(step.at, _START))
            return Reason(display_path(path), span.line, step.message, span.cell)

        rows = [
            self._row(each, spans[each.at], tuple(reason(s) for s in each.steps if s.module in paths))
            for each in seen
        ]
        return sorted(rows, key=lambda r: (not r.in_trace, r.span))

    def _row(self, seen: Seen, span: Span, because: tuple[Reason, ...]) -> ValueRow:
        lines = split_lines(self.text)[span.line - 1 : span.end_line]
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return ValueRow(
            path=display_path(self.path),
            span=_placed(self.workspace, self.path, span),
            text=shorten(" ".join(lines), _LONGEST),
            status=seen.status,
            kind=seen.kind,
            code=seen.code,
            why=seen.why,
            in_trace=seen.in_trace,
            function=seen.function,
            because=because,
            ground=seen.ground,
            confidence=seen.confidence,
        )


def _placed(workspace: Workspace, path: str, span: Span) -> Span:
    from jitlint.driver.documents import placed

    return placed(path, span, workspace)


def _is_around(span: Span, question: Question) -> bool:
    if span.line != question.line or span.column > question.column:
        return False
    return span.end_line > span.line or question.column < span.end_column


def _width(span: Span) -> tuple[int, int]:
    return span.end_line - span.line, span.end_column - span.column


def _spans(text: str, module: bytes, line: int) -> dict[int, Span]:
    """The origins whose text starts on a line, or all."""
    from jitlint.syntax import ir
    from jitlint.syntax.spans import compute_spans

    lowered = ir.decode_module(module)
    spans = compute_spans(text, range(lowered.origins), lowered)
    return {at: span for at, span in spans.items() if line in (0, span.line)}


def _analysed(
    workspace: Workspace, lowered: Lowered, settings: Settings, asked: Mapping[str, frozenset[int]]
) -> Analysis:
    from jitlint.catalogue.schema import CatalogueError
    from jitlint.driver.linking import module_inputs, named_units
    from jitlint.driver.processes.deep import on_deep_stack
    from jitlint.link.program import Options, analyse

    target = target_of(workspace.root, settings.jax_version)
    options = Options(
        traced=settings.traced,
        catalogue=settings.catalogue,
        jax_version=target.version,
        flax=target.flax,
        asked={workspace.names[path]: origins for path, origins in asked.items()},
    )
    (unit,) = named_units(workspace, lowered)
    modules = module_inputs(workspace, lowered, unit)
    try:
        return on_deep_stack(lambda: analyse(modules, options))
    except CatalogueError as error:
        raise ConfigError(str(error)) from error
    except Exception as error:
        raise AnalysisError(f"{type(error).__name__}: {error}") from error
