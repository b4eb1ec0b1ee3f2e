"""Jupyter notebooks: the code cells in order as one module (layer: ``syntax``).

What it does: read the formats 3 and 4, leave out cells of other languages, say where a cell's lines stand in the file.
What it does not: look at outputs, write notebooks, run anything. Cells are numbered from 1, all kinds of them, as the
file has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from jitlint.base.text import split_lines
from jitlint.syntax.documents.document import Builder, Document, failed
from jitlint.syntax.source import UNREADABLE, SyntaxProblem

_PYTHON = frozenset({"python", "python2", "python3", "ipython", "ipython2", "ipython3"})
_RAISING = "raises-exception"
_LONGEST_KEY = 40
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)


def read_notebook(data: bytes) -> Document:
    """The module that the notebook's cells make."""
    content = _decoded(data)
    if isinstance(content, SyntaxProblem):
        return failed(content)
    language = _language(content)
    if language not in _PYTHON:
        return failed(SyntaxProblem(UNREADABLE, f"a notebook of the language {language}, not Python"))
    builder = Builder()
    for number, cell in enumerate(_cells(content), 1):
        if _kind(cell) == "code":
            builder.add(split_lines(_source(cell)), cell=number, raising=_is_raising(cell))
    return builder.document()


def cell_lines(data: bytes, number: int) -> list[str]:
    """The lines of one cell as its author wrote them; none if there is no such cell."""
    content = _decoded(data)
    if isinstance(content, SyntaxProblem):
        return []
    for each, cell in enumerate(_cells(content), 1):
        if each == number:
            return split_lines(_source(cell))
    return []


def file_lines(data: bytes) -> dict[tuple[int, int], int]:
    """On which line of the file each line of each cell stands: by the cell's number and the line in it, all from 1."""
    return {
        (cell, line + more): at
        for cell, line, count, at in _sources(data.decode("utf-8", "replace"))
        for more in range(count)
    }


def _decoded(data: bytes) -> dict[str, Any] | SyntaxProblem:
    try:
        content = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        content = _by_the_book(data)
    if isinstance(content, SyntaxProblem):
        return content
    if not isinstance(content, dict) or not isinstance(content.get("cells", content.get("worksheets")), list):
        return SyntaxProblem(UNREADABLE, "not a notebook: it has no cells")
    return content


def _by_the_book(data: bytes) -> Any:
    """What Python's own reader says: it accepts a little more, and knows where a mistake is."""
    try:
        return json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        message = f"not a notebook: invalid JSON ({error.msg[:1].lower()}{error.msg[1:]})"
        return SyntaxProblem(UNREADABLE, message, error.lineno, error.colno)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return SyntaxProblem(UNREADABLE, f"not a notebook: not UTF-8 ({error.reason})", line)
    except RecursionError:
        return SyntaxProblem(UNREADABLE, "not a notebook: nested too deeply")


def _cells(content: dict[str, Any]) -> Iterator[object]:
    """All cells; format 3 keeps them in worksheets."""
    if isinstance(cells := content.get("cells"), list):
        yield from cells
        return
    for sheet in content["worksheets"]:
        if isinstance(sheet, dict) and isinstance(cells := sheet.get("cells"), list):
            yield from cells


def _kind(cell: object) -> object:
    return cell.get("cell_type") if isinstance(cell, dict) else None


def _source(cell: object) -> str:
    """The text of a cell: one string, or a list of lines with their ends."""
    if not isinstance(cell, dict):
        return ""
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _is_raising(cell: object) -> bool:
    metadata = cell.get("metadata") if isinstance(cell, dict) else None
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    return isinstance(tags, list) and _RAISING in tags


def _language(content: dict[str, Any]) -> str:
    """What the notebook is written in; Python if it does not say."""
    metadata = content.get("metadata")
    if isinstance(metadata, dict):
        for key, name in (("kernelspec", "language"), ("language_info", "name")):
            about = metadata.get(key)
            said = about.get(name) if isinstance(about, dict) else None
            if isinstance(said, str) and said:
                return said.lower()
    return "python"


def _sources(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Cell, first line in it, number of lines, and line of the file of every string that is a part of a cell's source."""
    before, line, file_line, seen = 0, 1, 1, 0
    for cell, start, stop, _ in source_tokens(text):
        line = line if cell == before else 1
        file_line += text.count("\n", seen, start)
        seen, before = start, cell
        breaks, whole = _breaks(text[start:stop])
        yield cell, line, breaks + (not whole), file_line
        line += breaks


def source_tokens(text: str) -> Iterator[tuple[int, int, int, bool]]:
    """Cell, start and end of every string that is a part of a cell's source, and whether it is one of a list.

    Walks over the JSON text without building anything.
    """
    path: list[str] = []  # what is open: its key if it has one, else its bracket
    cell = 0
    key, last = "", ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "{[":
            path.append(key or token)
            key = ""
            if token == "{" and path[-2:-1] == ["cells"] and len(path) == _cell_depth(path):
                cell += 1
        elif token in "}]":
            del path[-1:]
            key = ""
        elif token in ":,":
            key = last if token == ":" else ""
        else:
            last = token[1:-1] if len(token) < _LONGEST_KEY else ""
            depth = _cell_depth(path)
            owner = key if len(path) == depth else path[-1] if len(path) == depth + 1 else ""
            if owner in ("source", "input") and path[depth - 2] == "cells":
                yield cell, match.start(), match.end(), len(path) > depth


def _cell_depth(path: list[str]) -> int:
    """How many brackets are open in a cell: format 3 keeps cells in worksheets."""
    return 5 if path[1:2] == ["worksheets"] else 3


def _breaks(token: str) -> tuple[int, bool]:
    """How many line ends the string holds, as `split_lines` counts them; whether it ends with one."""
    if "\\n" not in token and "\\r" not in token:
        return 0, False
    try:
        lines = split_lines(json.loads(token, strict=False))
    except ValueError:
        return 0, False
    return len(lines) - 1, not lines[-1]
