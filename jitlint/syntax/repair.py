"""Leaves out the outermost statements that cannot be parsed, so that the rest of a file can be looked at.

What it does: blank the lines of the statement in which Python's parser stumbles, a few times over; no other line moves.
What it does not: guess what was meant. What is left out defines nothing, so its names are unknown. Layer: ``syntax``.
"""

from __future__ import annotations

import ast
import re
from typing import Final

from jitlint.syntax.guard import python_parse

MAX_ATTEMPTS: Final = 3
"""So many statements are left out."""

_HEAD: Final = re.compile(r"(?!(?:else|elif|except|finally|case)\b)[^\W\d]|@")
"""How the first line of an outermost statement begins."""


def repaired(text: str) -> str | None:
    """The text without the statements that are broken; None if that would be most of it, or does not help."""
    lines = text.splitlines(keepends=True)
    left = len(lines)
    for _ in range(MAX_ATTEMPTS):
        verdict = python_parse("".join(lines))
        if isinstance(verdict, ast.Module):
            return "".join(lines)
        first, end = _statement(lines, min(verdict.line, len(lines)) - 1)
        left -= end - first
        if 2 * left < len(lines) or first == end:
            return None
        for number in range(first, end):
            lines[number] = lines[number][len(lines[number].rstrip("\r\n")) :]
    verdict = python_parse("".join(lines))
    return "".join(lines) if isinstance(verdict, ast.Module) else None


def _statement(lines: list[str], at: int) -> tuple[int, int]:
    """The lines of the outermost statement around one of them: where it begins, and where the next one does."""
    first = at
    while first and not _HEAD.match(lines[first]):
        first -= 1
    while first and lines[first - 1].startswith("@"):
        first -= 1
    end = at + 1
    while end < len(lines) and not _HEAD.match(lines[end]):
        end += 1
    return first, end
