"""Findings and values in the words of the protocol (layer: ``frontends``)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from lsprotocol import types
from pygls import uris
from pygls.workspace.position_codec import PositionCodec

from jitlint.base.diagnostic import Finding, Related, Severity, Span
from jitlint.base.result import Reason, ValueRow
from jitlint.driver.registry import rules

SOURCE = "jitlint"

_SEVERITY = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_TAGS = {
    "JIT004": types.DiagnosticTag.Unnecessary,
    "JIT005": types.DiagnosticTag.Unnecessary,
    "JIT403": types.DiagnosticTag.Unnecessary,
    "JIT511": types.DiagnosticTag.Deprecated,
    "JIT513": types.DiagnosticTag.Deprecated,
}

Lines = Callable[[str], Sequence[str]]
UriOf = Callable[[str, Span], str]
"""What the editor calls the file, or the cell."""


class Converter:
    """codec: counts columns as the client does. lines: of a file or a cell, as `Span.within` names it."""

    def __init__(self, codec: PositionCodec, lines: Lines, uri_of: UriOf) -> None:
        self._codec = codec
        self._lines = lines
        self._uri_of = uri_of

    def range(self, path: str, span: Span) -> types.Range:
        """A span, which counts code points, as the client counts."""
        lines = self._lines(span.within(path))
        wanted = types.Range(
            types.Position(span.line - 1, span.column - 1),
            types.Position(span.end_line - 1, span.end_column - 1),
        )
        return self._codec.range_to_client_units(lines, wanted) if lines else wanted

    def diagnostic(self, path: str, finding: Finding, proof: str = "") -> types.Diagnostic:
        """A finding, with its path as related information, and what running the code has shown."""
        related = [self._related(step) for step in finding.related]
        if proof:
            here = types.Location(self._uri_of(path, finding.span), self.range(path, finding.span))
            related.append(types.DiagnosticRelatedInformation(here, proof))
        url = rules()[finding.code].url
        tag = _TAGS.get(finding.code)
        return types.Diagnostic(
            range=self.range(path, finding.span),
            message=f"{finding.message}\nhelp: {finding.help}" if finding.help else finding.message,
            severity=_SEVERITY[finding.severity],
            code=finding.code,
            code_description=types.CodeDescription(url) if url else None,
            source=SOURCE,
            tags=[tag] if tag is not None else None,
            related_information=related,
        )

    def _related(self, step: Related) -> types.DiagnosticRelatedInformation:
        path = os.path.abspath(step.path)
        place = types.Location(self._uri_of(path, step.span), self.range(path, step.span))
        return types.DiagnosticRelatedInformation(place, step.message)


def file_uri(path: str) -> str:
    """The URI of a file that is not open."""
    return uris.from_fs_path(path) or ""


def hover_text(rows: Sequence[ValueRow]) -> str:
    """What one expression is, in every situation that is known, as Markdown."""
    parts = []
    for row in rows:
        kind = f" {row.kind}" if row.kind else ""
        why = f", from {row.why}" if row.why else ""
        where = "" if row.in_trace else " (outside of any transform)"
        head = f"`{row.text}`: **{row.status}**{kind}{why}{where}"
        parts.append("\n".join([head, "", *(f"- {_place(step)}: {step.message}" for step in row.because)]))
    return "\n\n".join(dict.fromkeys(part.strip() for part in parts))


def _place(step: Reason) -> str:
    name = os.path.basename(step.path)
    return f"{name} cell {step.cell}:{step.line}" if step.cell else f"{name}:{step.line}"


def at_position(rows: Iterable[ValueRow], line: int, column: int, cell: int) -> list[ValueRow]:
    """The values of the innermost expression around a place."""
    around = [
        row
        for row in rows
        if row.span.cell == cell
        and (row.span.line, row.span.column) <= (line, column) < (row.span.end_line, row.span.end_column)
    ]
    if not around:
        return []
    widths = [(r.span.end_line - r.span.line, r.span.end_column - r.span.column) for r in around]
    return [row for row, width in zip(around, widths) if width == min(widths)]
