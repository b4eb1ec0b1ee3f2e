"""Notebooks and texts as the modules that are run in their place, and answers in terms of their cells (layer: ``confirm``).

What it does: give the text of that module, turn the place of a finding into lines of it, and lines in what was said back into
lines of cells. What it does not: run anything. A worker gets only lines of the module.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace

from jitlint.base.diagnostic import Finding, Span
from jitlint.base.text import split_lines
from jitlint.syntax.documents import is_document, read_document
from jitlint.syntax.documents.document import Document, Row

_MARK = "# %% ["
"""How the line begins that stands above each piece of code."""
_LINES = re.compile(r"\b(lines? )(\d+(?:(?:, | and )\d+)*)(?: of ([^\s,;]+?)(?=[\s,:;)]|$))?")
# What a magic becomes beside its code.
_ADDED = frozenset({"pass", "def __timeit__():", "__timeit__()"})


def module_of(path: str, data: bytes) -> Document:
    """The module that the code in a notebook or a text makes."""
    return read_document(path, data)


def first_lines(text: str) -> list[int]:
    """Where the pieces of a module begin, each of which runs whatever became of those before it."""
    return [number for number, line in enumerate(text.split("\n"), 1) if line.startswith(_MARK)]


@dataclass(slots=True)
class Cells:
    """The documents of a run, read when first asked for."""

    _known: dict[str, Document | None] = field(default_factory=dict)

    def document(self, path: str) -> Document | None:
        """How a file is made a module; None if it is Python as it is, or cannot be read."""
        if not is_document(path):
            return None
        path = os.path.realpath(path)
        if path not in self._known:
            try:
                with open(path, "rb") as stream:
                    self._known[path] = module_of(path, stream.read())
            except OSError:
                self._known[path] = None
        return self._known[path]

    def in_module(self, finding: Finding) -> Finding:
        """The finding, with all its places as lines of modules."""
        if not any(map(is_document, [finding.path, *(step.path for step in finding.related)])):
            return finding
        related = tuple(replace(step, span=self._span(step.path, step.span)) for step in finding.related)
        return replace(finding, span=self._span(finding.path, finding.span), related=related)

    def _span(self, path: str, span: Span) -> Span:
        document = self.document(path)
        return span if document is None else _in_module(document, span)

    def place(self, path: str, line: int) -> tuple[str, int]:
        """A line of a module as people know it: the file, or the cell of it, and the line there."""
        document = self.document(path)
        if document is None:
            return path, line
        span = document.place(Span(line, 1, line, 1))
        return span.within(path), span.line

    def told(self, words: str, path: str) -> str:
        """What was said of a finding in a file, with lines of its cells in the place of lines of the module."""
        document = self.document(path)
        if document is None:
            return words
        name = os.path.basename(path)

        def line(match: re.Match[str]) -> str:
            row = _row(document, int(match[0]))
            return f"{row.line} of cell {row.cell}" if row.cell else str(row.line)

        def lines(match: re.Match[str]) -> str:
            if match[3] is not None and match[3] != name:
                return match[0]  # another file's
            return match[1] + re.sub(r"\d+", line, match[2]) + (f" of {name}" if match[3] else "")

        def place(match: re.Match[str]) -> str:
            row = _row(document, int(match[1]))
            return f"{name}:cell {row.cell}:{row.line}" if row.cell else f"{name}:{row.line}"

        return re.sub(rf"{re.escape(name)}:(\d+)", place, _LINES.sub(lines, words))


def _row(document: Document, line: int) -> Row:
    return document.rows[line - 1] if 1 <= line <= len(document.rows) else Row(0, line)


def _in_module(document: Document, span: Span) -> Span:
    """The place of the module that `Document.place` makes this one of."""
    first = _line_of(document, span.cell, span.line, span.column)
    last = _line_of(document, span.cell, span.end_line, span.end_column)
    if not first or not last:
        return span
    start, end = document.rows[first - 1].shift, document.rows[last - 1].shift
    return Span(first, max(span.column - start, 1), last, max(span.end_column - end, 1))


def _line_of(document: Document, cell: int, line: int, column: int) -> int:
    """The line of the module, 0 if there is none: of several, the one with code at the column."""
    texts = split_lines(document.text)
    found = [
        number
        for number, (row, text) in enumerate(zip(document.rows, texts), 1)
        if (row.cell, row.line) == (cell, line) and not text.startswith(_MARK)
    ]
    holding = [
        number
        for number in found
        if texts[number - 1].strip() not in _ADDED
        if 0 < column - document.rows[number - 1].shift <= len(texts[number - 1]) + 1
    ]
    return next(iter([*holding, *found]), 0)
