"""Texts that show code: Markdown (MyST, Quarto) and reStructuredText, their pieces of Python in order (layer: ``syntax``).

What it does: find fenced blocks, code cells, directives and interactive examples (``>>>``). What it does not: parse
the rest of the text, follow includes. A cell that is run when the text is built has to be Python; a block that
only shows something is left out when it is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jitlint.base.text import split_lines
from jitlint.syntax.documents.document import Builder, Document

_FENCE = re.compile(r"(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,}|:{3,})[ \t]*(?P<info>[^`]*)$")
_SHOWN = re.compile(r"\{?\.?(?:python|py|python3|ipython|ipython3|pycon|doctest)\b", re.IGNORECASE)
_RUN = re.compile(
    r"\{(?:code-cell|jupyter-execute)\}[ \t]*(?P<language>[\w-]*)|\{(?P<quarto>python)\b", re.IGNORECASE
)
_SHOWN_BY_DIRECTIVE = re.compile(
    r"\{(?:code-block|code|sourcecode|testcode|testsetup|doctest)\}[ \t]*(?P<language>[\w-]*)"
)
_PYTHON = frozenset(("", "python", "py", "python3", "ipython", "ipython3", "pycon", "doctest"))
_OPTION = re.compile(r"[ \t]*(?::[\w-]+:|#\|)")
_RAISING = re.compile(r"raises-exception|error:[ \t]*true")
_EXAMPLE = re.compile(r"(?P<indent>[ \t]*)>>>(?: |$)")
_DIRECTIVE = re.compile(
    r"(?P<indent>[ \t]*)\.\. (?P<name>code-block|code|sourcecode|testcode|jupyter-execute)::[ \t]*(?P<language>[\w-]*)"
)


def read_markdown(text: str) -> Document:
    """The module that the code in a Markdown text makes."""
    lines = split_lines(text)
    builder = Builder()
    number = 0
    while number < len(lines):
        match = _FENCE.match(lines[number])
        if match is None:
            number += 1
            continue
        end = _closing(lines, number, match)
        if not match["fence"].startswith(":") or _RUN.match(match["info"]):
            _add_block(builder, lines, number + 1, end, match["indent"], match["info"])
            number = end + 1
        else:  # a directive around anything, blocks of code included
            number += 1
    return builder.document()


def read_restructured(text: str) -> Document:
    """The module that the code in a reStructuredText makes."""
    lines = split_lines(text)
    builder = Builder()
    number = 0
    while number < len(lines):
        line = lines[number]
        directive = _DIRECTIVE.match(line)
        if directive is not None and directive["language"].lower() in _PYTHON:
            start, end = _content(lines, number + 1, len(directive["indent"]))
            run = directive["name"] == "jupyter-execute"
            options = "\n".join(lines[number:start])
            _add_code(builder, lines, start, end, run, _RAISING.search(options) is not None)
            number = end
        elif _EXAMPLE.match(line):
            number = _add_example(builder, lines, number, len(lines))
        else:
            number += 1
    return builder.document()


def _closing(lines: Sequence[str], opening: int, match: re.Match[str]) -> int:
    """The line that closes a fence, or the end of the text."""
    fence = match["fence"]
    closing = re.compile(rf"[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
    for number in range(opening + 1, len(lines)):
        if closing.match(lines[number]):
            return number
    return len(lines)


def _add_block(builder: Builder, lines: Sequence[str], start: int, end: int, indent: str, info: str) -> None:
    """Add what a fence encloses, if it is Python."""
    run = _RUN.match(info)
    directive = run or _SHOWN_BY_DIRECTIVE.match(info)
    if directive is not None:
        quarto = directive.groupdict().get("quarto")
        if not quarto and (directive["language"] or "").lower() not in _PYTHON:
            return
    elif not _SHOWN.match(info):
        if not info.strip() and start < end and _EXAMPLE.match(lines[start]):
            _add_examples(builder, lines, start, end)
        return
    first = start
    if directive is not None:
        first = _behind_options(lines, start, end)
    raising = _RAISING.search("\n".join([info, *lines[start:first]])) is not None
    if first < end and ">" in indent:  # in a quotation: each line has the marks of it
        return
    _add_code(builder, lines, first, end, run is not None, raising)


def _behind_options(lines: Sequence[str], start: int, end: int) -> int:
    """The first line of a directive's code: options come as ``:name: value`` or between two lines of dashes."""
    if start < end and lines[start].strip() == "---":
        for number in range(start + 1, end):
            if lines[number].strip() == "---":
                return number + 1
    while start < end and _OPTION.match(lines[start]):
        start += 1
    return start


def _content(lines: Sequence[str], start: int, indent: int) -> tuple[int, int]:
    """The lines of a directive's code: those that are indented further."""
    while start < len(lines) and _OPTION.match(lines[start]):
        start += 1
    end = start
    for number in range(start, len(lines)):
        line = lines[number]
        if line.strip():
            if len(line) - len(line.lstrip()) <= indent:
                break
            end = number + 1
    return start, end


def _add_code(builder: Builder, lines: Sequence[str], start: int, end: int, run: bool, raising: bool) -> None:
    """Add a block: examples, if it starts with one, or code that is indented as a whole."""
    while start < end and not lines[start].strip():
        start += 1
    if start == end:
        return
    if _EXAMPLE.match(lines[start]):
        _add_examples(builder, lines, start, end)
        return
    block = lines[start:end]
    indent = min(len(line) - len(line.lstrip()) for line in block if line.strip())
    code = [line[indent:] for line in block]
    builder.add(code, first=start + 1, shift=indent, raising=raising, quiet=not run)


def _add_examples(builder: Builder, lines: Sequence[str], start: int, end: int) -> None:
    number = start
    while number < end:
        number = _add_example(builder, lines, number, end) if _EXAMPLE.match(lines[number]) else number + 1


def _add_example(builder: Builder, lines: Sequence[str], start: int, end: int) -> int:
    """Add one interactive example; the line behind it. One that is shown with a traceback is meant to fail."""
    match = _EXAMPLE.match(lines[start])
    assert match is not None
    indent = match["indent"]
    number = start + 1
    while number < end and re.match(rf"{indent}\.\.\.(?: |$)", lines[number]):
        number += 1
    width = len(indent) + 4
    answer = lines[number : number + 1]
    raising = bool(answer) and answer[0].strip().startswith("Traceback (")
    code = [line[width:] for line in lines[start:number]]
    builder.add(code, first=start + 1, shift=width, raising=raising, quiet=True)
    return number
