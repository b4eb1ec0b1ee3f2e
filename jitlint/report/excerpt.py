"""The source line under a finding, with carets (layer: ``report``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Span
from jitlint.report.style import Style, visible, width

_MOST = 120
_BEFORE = 40


def excerpt(lines: list[str], span: Span, style: Style, gutter: int) -> list[str]:
    """The first line of a span with what is meant underlined; nothing if the file has no such line.

    gutter: how many columns the line numbers take.
    """
    if not 1 <= span.line <= len(lines):
        return []
    line = lines[span.line - 1]
    start = min(span.column - 1, len(line))
    end = min(span.end_column - 1, len(line)) if span.end_line == span.line else len(line.rstrip())
    end = max(end, start)
    prefix, suffix = "", ""
    if len(line) > _MOST:
        cut = max(0, start - _BEFORE)
        stop = cut + _MOST
        prefix, suffix = "…" if cut else "", "…" if stop < len(line) else ""
        line, start, end = line[cut:stop], start - cut, min(end - cut, _MOST)
    before = prefix + visible(line[:start])
    marked = visible(line[start:end])
    text = before + marked + visible(line[end:]) + suffix
    carets = style.paint("^" * max(1, width(marked)), "bold", "red")
    bar = style.paint("|", "blue")
    number = style.paint(f"{span.line:>{gutter}}", "blue")
    return [
        f"{number} {bar} {text.rstrip()}",
        f"{' ' * gutter} {bar} {' ' * width(before)}{carets}",
    ]
