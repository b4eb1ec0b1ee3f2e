"""The comments of a file, for those who look for suppressions and other remarks to the tools.

What it does: find comments and where they stand, also in files that do not parse.
What it does not: interpret them, look into the braces of f-strings. Layer: ``syntax``.
"""

from __future__ import annotations

import re

from jitlint.syntax.literals import LITERAL
from jitlint.syntax.source import end_lines

_ADDRESSED = re.compile(r"noqa|jitlint|[\[(]jit\d", re.IGNORECASE)


def comments(text: str) -> list[tuple[int, int, str]]:
    """Line, column (both 1-based) and text (``#`` included) of every comment.

    Empty for a file in which no comment can be meant for jitlint: neither ``noqa`` nor ``jitlint`` nor a rule in
    brackets occurs.
    """
    if _ADDRESSED.search(text) is None:
        return []
    text = end_lines(text)
    found = []
    line = 1
    seen = 0
    for match in LITERAL.finditer(text):
        comment = match[0]
        if comment[0] != "#":
            continue
        start = match.start()
        line += text.count("\n", seen, start)
        seen = start
        found.append((line, start - text.rfind("\n", 0, start), comment))
    return found
