"""A module made of pieces of code, and where each of its lines stands in the file (layer: ``syntax``).

The pieces follow each other in the order of the file, each behind a line ``# %%`` that says where it comes from: two
files with the same text have the same positions, so that the text is all that a cache needs to know.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from jitlint.base.diagnostic import Span
from jitlint.syntax.documents.magics import plain_lines
from jitlint.syntax.guard import python_parse
from jitlint.syntax.source import SyntaxProblem

# Two lines in which Python would look for an encoding.
_HEADER = ("#", "#")


@dataclass(frozen=True, slots=True)
class Row:
    """Where a line of the module comes from.

    cell: the number of the notebook's cell, 0 in a text. line: in that cell, or in the file. shift: by how many
    columns the line stood further to the right. raising: its author says that an exception is meant to happen here.
    shown: it belongs to the expression that ends its piece, whose value people see.
    """

    cell: int
    line: int
    shift: int = 0
    raising: bool = False
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """text: the module. rows: one per line of it. problems: pieces that are no Python, which are left out of the text;
    their lines are those of the module. failure: why nothing could be read, with a place in the file."""

    text: str
    rows: tuple[Row, ...] = ()
    problems: tuple[SyntaxProblem, ...] = ()
    failure: SyntaxProblem | None = None

    @property
    def data(self) -> bytes:
        """The module as a file would hold it."""
        return self.text.encode("utf-8", "replace")

    def place(self, span: Span) -> Span:
        """A span of the module as one of the file: its lines count from the start of the cell, if there are cells."""
        if not 1 <= span.line <= len(self.rows):
            return span
        first = self.rows[span.line - 1]
        last = self.rows[min(span.end_line, len(self.rows)) - 1]
        if last.cell != first.cell or last.line < first.line:
            last = first
        return Span(
            max(first.line, 1),
            max(span.column + first.shift, 1),
            max(last.line, 1),
            max(span.end_column + last.shift, 1),
            first.cell,
        )

    def is_raising(self, span: Span) -> bool:
        """Whether a span of the module lies where an exception is meant to happen."""
        return 1 <= span.line <= len(self.rows) and self.rows[span.line - 1].raising

    def is_shown(self, span: Span) -> bool:
        """Whether a span of the module is of the expression that ends a piece: its value is shown."""
        return 1 <= span.line <= len(self.rows) and self.rows[span.line - 1].shown


def failed(problem: SyntaxProblem) -> Document:
    """A document that cannot be read. Its text is a comment, the same for the same reason."""
    return Document(f"# {problem.line}:{problem.column}: {problem.message!r}\n", (), (), problem)


def _last_expression(tree: ast.Module) -> range:
    """The lines of the expression that ends a piece of code, if one does."""
    last = tree.body[-1] if tree.body else None
    return (
        range(last.lineno, (last.end_lineno or last.lineno) + 1) if isinstance(last, ast.Expr) else range(0)
    )


@dataclass(slots=True)
class Builder:
    """Puts a document together, piece by piece."""

    _lines: list[str] = field(default_factory=lambda: list(_HEADER))
    _rows: list[Row] = field(default_factory=lambda: [Row(0, 1) for _ in _HEADER])
    _problems: list[SyntaxProblem] = field(default_factory=list)

    def add(
        self,
        lines: Iterable[str],
        cell: int = 0,
        first: int = 1,
        shift: int = 0,
        raising: bool = False,
        quiet: bool = False,
    ) -> None:
        """Add a piece of code, with what only IPython understands put into Python.

        first: the line at which it starts. quiet: say nothing if it is no Python, as much of what texts show.
        """
        rows = plain_lines(list(lines))
        problem = python_parse("\n".join(row.text for row in rows) + "\n")
        # What says where lines come from is part of the text, or a cache would not see it change.
        moved = [f"{n}:{r.line}+{r.shift}" for n, r in enumerate(rows) if r.line != n or r.shift]
        if isinstance(problem, SyntaxProblem) and not quiet:
            moved.append(f"{problem.line}:{problem.column} {problem.message!r}")
        mark = " ".join([f"# %% [{cell}] {first} {shift}", *["raises"] * raising, *moved])
        self._append(mark, Row(cell, first, 0, raising))
        start = len(self._lines)
        shown = range(0) if isinstance(problem, SyntaxProblem) else _last_expression(problem)
        for number, row in enumerate(rows, 1):
            text = "" if isinstance(problem, SyntaxProblem) else row.text
            self._append(text, Row(cell, first + row.line, shift + row.shift, raising, number in shown))
        if isinstance(problem, SyntaxProblem) and not quiet:
            self._problems.append(
                SyntaxProblem(problem.code, problem.message, start + problem.line, problem.column)
            )

    def _append(self, text: str, row: Row) -> None:
        self._lines.append(text)
        self._rows.append(row)

    def document(self) -> Document:
        """What has been added so far."""
        return Document("\n".join(self._lines) + "\n", tuple(self._rows), tuple(self._problems))
