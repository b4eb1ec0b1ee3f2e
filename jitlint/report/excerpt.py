"""The source line under a finding, with carets (layer: ``report``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Span
from jitlint.report.style import Style, visible, width

_BEFORE = 40
_LEAST = 20


def excerpt(lines: list[str], span: Span, style: Style, gutter: int) -> list[str]:
    """The first line of a span with what is meant underlined; nothing if the file has no such line.

    gutter: how many columns the line numbers take. Of a line that is too long, what is around the span.
    """
    if not 1 <= span.line <= len(lines):
        return []
    line = lines[span.line - 1]
    start = min(span.column - 1, len(line))
    end = min(span.end_column - 1, len(line)) if span.end_line == span.line else len(line.rstrip())
    end = max(end, start)
    prefix, suffix = "", ""
    room = max(_LEAST, style.columns - gutter - len(" | "))
    if width(visible(line.rstrip())) > room:
        room -= len("……")
        before = min(_BEFORE, room // 3)
        cut = max(0, min(start - before, len(line) - room))
        line, kept = line[cut:], _fitting(line[cut:], room)
        prefix, suffix = "…" if cut else "", "…" if kept < len(line.rstrip()) else ""
        line, start, end = line[:kept], start - cut, min(end - cut, kept)
    before_span = prefix + visible(line[:start])
    marked = visible(line[start:end])
    text = before_span + marked + visible(line[end:]) + suffix
    carets = style.paint("^" * max(1, width(marked)), "bold", "red")
    bar = style.paint("|", "blue")
    number = style.paint(f"{span.line:>{gutter}}", "blue")
    return [
        f"{number} {bar} {text.rstrip()}",
        f"{' ' * gutter} {bar} {' ' * width(before_span)}{carets}",
    ]


def _fitting(text: str, room: int) -> int:
    """How many characters of a text fit."""
    used = 0
    for place, char in enumerate(text):
        used += width(visible(char))
        if used > room:
            return place
    return len(text)
