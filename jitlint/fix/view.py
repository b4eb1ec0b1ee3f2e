"""One file as those see it who fix it: Python, whether it is a Python file, a notebook or a text (layer: ``fix``).

What it does: the Python in a file as one module, the places of findings in that module, and changes of it put back where its
lines come from. What it does not: change code. In notebooks and texts only lines that are Python as they stand can be
changed: not what a magic has become, nor two cells at once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from jitlint.base.diagnostic import Edit, Finding, Span
from jitlint.base.text import split_lines
from jitlint.fix.patch import Change, applied
from jitlint.syntax.documents import NOTEBOOK, is_document, read_document

_LINE_END = re.compile(r"\r\n|\r|\n")


class View:
    """A file with this text. text: the module that its Python makes."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self._starts = line_starts(text)

    def finding(self, finding: Finding) -> Finding | None:
        """A finding of this file with places in the module; None if it stands in no Python."""
        return finding

    def line(self, span: Span) -> int:
        """The line of the module on which a place of the file lies; 0 if it is none of Python."""
        return span.line

    def takes(self, changes: Iterable[Change]) -> bool:
        """Whether these changes of the module can be made in the file."""
        return True

    def with_changes(self, changes: Sequence[Change]) -> str | None:
        """The file's text with sorted changes of the module that leave each other alone."""
        return applied(self.file, changes)

    def edit(self, path: str, change: Change) -> Edit:
        """A change of the module as one of the file."""
        first, last = bisect_right(self._starts, change.start), bisect_right(self._starts, change.stop)
        start, stop = change.start - self._starts[first - 1] + 1, change.stop - self._starts[last - 1] + 1
        return Edit(path, Span(first, start, last, stop), change.text)


def line_starts(text: str) -> list[int]:
    """Where each line begins."""
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def open_view(path: str, file: str) -> View:
    """The file with this text."""
    return _Pieces(path, file) if is_document(path) else View(file, file)


@dataclass(frozen=True, slots=True)
class _Line:
    """Where a line of the module stands: the piece (a cell's number; 0 for a text) and the offsets in it of its start and end."""

    piece: int
    start: int
    stop: int
    margin: str


class _Pieces(View):
    """A notebook, or a text that shows code: pieces of it make a module."""

    def __init__(self, path: str, file: str) -> None:
        document = read_document(path, file.encode("utf-8", "surrogatepass"))
        super().__init__(file, document.text)
        self._is_notebook = path.lower().endswith(NOTEBOOK)
        self._sources = _sources(file) if self._is_notebook else {0: file}
        self._at: dict[int, _Line] = {}
        """The lines of the module that are Python as they stand in the file, from 1."""
        self._by_place: dict[tuple[int, int], int] = {}
        self._shifts = [row.shift for row in document.rows]
        lines = split_lines(document.text)
        starts = {piece: line_starts(source) for piece, source in self._sources.items()}
        texts = {piece: split_lines(source) for piece, source in self._sources.items()}
        for number, row in enumerate(document.rows, 1):
            known = texts.get(row.cell, [])
            if lines[number - 1].startswith("# %% [") or not 1 <= row.line <= len(known):
                continue
            line = known[row.line - 1]
            if row.shift < 0 or line[row.shift :] != lines[number - 1]:
                continue
            start = starts[row.cell][row.line - 1]
            self._at[number] = _Line(row.cell, start + row.shift, start + len(line), line[: row.shift])
            self._by_place[row.cell, row.line] = number

    def finding(self, finding: Finding) -> Finding | None:
        span = self._within(finding.span)
        if span is None:
            return None
        steps = (
            (step, self._within(step.span) if step.path == finding.path else step.span)
            for step in finding.related
        )
        related = tuple(replace(step, span=span) for step, span in steps if span is not None)
        return replace(finding, span=span, related=related)

    def line(self, span: Span) -> int:
        return self._by_place.get((span.cell, span.line), 0)

    def _within(self, span: Span) -> Span | None:
        first = self._by_place.get((span.cell, span.line))
        last = self._by_place.get((span.cell, span.end_line))
        if first is None or last is None:
            return None
        start, stop = span.column - self._shifts[first - 1], span.end_column - self._shifts[last - 1]
        return Span(first, start, last, stop) if start > 0 and stop > 0 else None

    def takes(self, changes: Iterable[Change]) -> bool:
        return all(self._placed(change) is not None for change in changes)

    def with_changes(self, changes: Sequence[Change]) -> str | None:
        by_piece: dict[int, list[Change]] = {}
        for change in changes:
            placed = self._placed(change)
            if placed is None:
                return None
            by_piece.setdefault(placed[0], []).append(placed[1])
        new = {piece: applied(self._sources[piece], sorted(placed)) for piece, placed in by_piece.items()}
        if not self._is_notebook:
            return new.get(0, self.file)
        from jitlint.syntax.documents.rewriting import with_sources

        return with_sources(self.file, new)

    def edit(self, path: str, change: Change) -> Edit:
        placed = self._placed(change)
        assert placed is not None  # what a fix consists of has been placed before
        piece, there = placed
        edit = View(self._sources[piece], self._sources[piece]).edit(path, there)
        return Edit(path, replace(edit.span, cell=piece), edit.text)

    def _placed(self, change: Change) -> tuple[int, Change] | None:
        """The piece that a change concerns, and the change of its text."""
        first = bisect_right(self._starts, change.start)
        last = bisect_right(self._starts, change.stop)
        begin, end = self._at.get(first), self._at.get(last)
        at_end = end is None and change.stop == self._starts[last - 1]
        if at_end:  # the line end that closes a piece belongs to no line of it
            end = self._at.get(last - 1)
            begin = end if first == last else begin
        if begin is None or end is None or begin.piece != end.piece:
            return None
        if any(each not in self._at for each in range(first, last - at_end)):
            return None
        start = begin.start + change.start - self._starts[first - 1]
        stop = end.start + change.stop - self._starts[last - 1]
        made = Change(start, stop, change.text)
        if at_end:
            made = self._at_end(change, begin, end, first == last, start)
        return self._laid_out(begin, made)

    def _laid_out(self, line: _Line, change: Change) -> tuple[int, Change] | None:
        """The change with the margin and the line ends that the piece has; None for one that cannot be made."""
        text, source = change.text, self._sources[line.piece]
        if line.margin and "\n" in text:
            if line.margin.strip():
                return None  # an example behind `>>>`, whose further lines begin otherwise
            text = text.replace("\n", f"\n{line.margin}")
        if "\r\n" in source:
            text = text.replace("\n", "\r\n")
        changed = Change(change.start, change.stop, text)
        return (line.piece, changed) if applied(source, [changed]).strip() else None

    @staticmethod
    def _at_end(change: Change, begin: _Line, end: _Line, inserted: bool, start: int) -> Change:
        """The same where the change reaches to the end of a piece whose last line has no line end."""
        if inserted:
            return Change(end.stop, end.stop, "\n" + change.text.removesuffix("\n"))
        if change.text.endswith("\n"):
            return Change(start, end.stop, change.text.removesuffix("\n"))
        whole = start == begin.start and begin.start > len(begin.margin) and not change.text
        return Change(start - (1 + len(begin.margin)) * whole, end.stop, change.text)


def _sources(file: str) -> dict[int, str]:
    from jitlint.syntax.documents.rewriting import cell_sources

    return cell_sources(file)
