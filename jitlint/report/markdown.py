"""Markdown, as the rules are written in, on a terminal (layer: ``report``).

Knows headings, paragraphs, quotations, lists and blocks of code; not tables, pictures or HTML.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator

from jitlint.report.style import Style, visible

_INLINE = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<bold>[^*]+)\*\*|(?P<url><?https?://[^\s>)]+>?)")
_LINK = re.compile(r"\[([^\]]*)\]\((https?://[^)\s]+)\)")
_ESCAPED = re.compile(r"\\([\\_*<>\[\]`])")
_TOKEN = re.compile(r"(?P<comment>#.*)|(?P<string>'[^']*'|\"[^\"]*\")|(?P<word>\w+)")
_MARK = "# <- "
_BLOCK_STARTS = ("#", ">", "- ", "```")


def rendered(lines: Iterable[str], style: Style) -> Iterator[str]:
    """The lines of a Markdown text as a terminal shows them."""
    paragraph: list[str] = []
    in_code = False
    for line in [*lines, ""]:
        if line.startswith("```"):
            yield from _paragraph(paragraph, style)
            in_code = not in_code
        elif in_code:
            yield f"    {_highlighted(visible(line), style)}".rstrip()
        else:
            if not line.strip() or line.startswith(_BLOCK_STARTS):
                yield from _paragraph(paragraph, style)
            if line.startswith("#"):
                yield from _heading(line, style)
            elif line.strip():
                paragraph.append(line.strip())
            else:
                yield ""


def _heading(line: str, style: Style) -> Iterator[str]:
    text = visible(line.lstrip("#").strip())
    yield style.paint(text, "bold", "magenta" if line.startswith("# ") else "blue") if style.colours else text
    if not style.colours:
        yield ("=" if line.startswith("# ") else "-") * len(text)


def _paragraph(lines: list[str], style: Style) -> Iterator[str]:
    """What has been gathered, broken anew; ``lines`` is emptied."""
    text = " ".join(line.lstrip("> ") if line.startswith(">") else line for line in lines)
    quoted = bool(lines) and lines[0].startswith(">")
    item = bool(lines) and lines[0].startswith("- ")
    lines.clear()
    if not text:
        return
    text = _ESCAPED.sub(r"\1", _LINK.sub(r"\1 (\2)", visible(text)))
    indent = 2 if quoted or item else 0
    for number, line in enumerate(style.wrapped(text, indent if quoted else 0, indent)):
        before = f"{style.paint('|', 'blue')} " if quoted else " " * indent if number else ""
        yield before + (style.paint(line, "red") if quoted else _painted(line, style))


def _painted(line: str, style: Style) -> str:
    def paint(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return style.paint(match["code"], "blue") if style.colours else match[0]
        if match["bold"] is not None:
            return style.paint(match["bold"], "bold")
        url = match["url"].strip("<>")
        return style.link(url, url)

    return _INLINE.sub(paint, line)


def _highlighted(line: str, style: Style) -> str:
    """A line of Python. A comment that marks it as the bad one stands out."""

    def paint(match: re.Match[str]) -> str:
        text = match[0]
        if match["comment"] is not None:
            return style.paint(text, *(("bold", "red") if text.startswith(_MARK) else ("blue",)))
        if match["string"] is not None:
            return style.paint(text, "magenta")
        return style.paint(text, "bold") if keyword.iskeyword(text) else text

    return _TOKEN.sub(paint, line)
