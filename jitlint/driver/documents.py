"""Findings in notebooks and texts: from lines of the module that was made of them to lines that people see (layer: ``driver``)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from jitlint.base.diagnostic import Finding, Severity, Span
from jitlint.driver.registry import rules
from jitlint.driver.workspace import Workspace
from jitlint.syntax.documents import NOTEBOOK, is_document


def in_document(finding: Finding, workspace: Workspace) -> Finding:
    """The finding, with an absolute path, at its places in the files; one in code that is meant to fail is no error,
    one about a value that nobody uses is none behind a cell, where people see it."""
    paths = [finding.path, *(step.path for step in finding.related)]
    if not any(map(is_document, paths)):
        return finding
    spans = [finding.span, *(step.span for step in finding.related)]
    expected = any(_is_raising(path, span, workspace) for path, span in zip(paths, spans))
    related = tuple(replace(step, span=placed(step.path, step.span, workspace)) for step in finding.related)
    moot = expected and finding.severity is Severity.ERROR
    if not moot and _is_shown(finding, workspace):
        rule = rules().get(finding.code)
        moot = rule is not None and rule.unused
    return replace(
        finding,
        span=placed(finding.path, finding.span, workspace),
        related=related,
        severity=Severity.INFO if moot else finding.severity,
    )


def placed(path: str, span: Span, workspace: Workspace) -> Span:
    """The place in the file of a span of its module."""
    document = workspace.document(path)
    return span if document is None else document.place(span)


def _is_raising(path: str, span: Span, workspace: Workspace) -> bool:
    document = workspace.document(path)
    return document is not None and document.is_raising(span)


def _is_shown(finding: Finding, workspace: Workspace) -> bool:
    document = workspace.document(finding.path)
    return document is not None and document.is_shown(finding.span)


def with_file_lines(findings: Iterable[Finding], unsaved: Mapping[str, bytes]) -> list[Finding]:
    """The findings with ``file_line`` filled in, for those who know a notebook as a file of lines only."""
    known: dict[str, Mapping[tuple[int, int], int]] = {}

    def filled(path: str, span: Span) -> Span:
        if not span.cell:
            return span
        if path not in known:
            known[path] = _file_lines(path, unsaved)
        return replace(span, file_line=known[path].get((span.cell, span.line), 0))

    return [
        replace(
            finding,
            span=filled(finding.path, finding.span),
            related=tuple(replace(step, span=filled(step.path, step.span)) for step in finding.related),
        )
        for finding in findings
    ]


def _file_lines(path: str, unsaved: Mapping[str, bytes]) -> Mapping[tuple[int, int], int]:
    from jitlint.syntax.documents.notebook import file_lines

    data = _bytes(path, unsaved)
    return {} if data is None else file_lines(data)


def lines_in_cell(path: str, cell: int, unsaved: Mapping[str, bytes]) -> Sequence[str]:
    """The lines of a notebook's cell as its author wrote them; none if they cannot be read."""
    from jitlint.syntax.documents.notebook import cell_lines

    data = _bytes(path, unsaved)
    return [] if data is None else cell_lines(data, cell)


def is_notebook(path: str) -> bool:
    """Whether the file's name is that of a notebook."""
    return os.path.splitext(path)[1].lower() == NOTEBOOK


def _bytes(path: str, unsaved: Mapping[str, bytes]) -> bytes | None:
    data = unsaved.get(os.path.abspath(path))
    if data is not None:
        return data
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return None
