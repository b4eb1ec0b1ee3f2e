"""Writes what was repaired, and shows it as a difference (layer: ``fix``).

A file that is another one by now is left alone; the others are replaced whole, with their encoding, line ends and mode.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from jitlint.driver.writing import write_file
from jitlint.fix.engine import Repaired

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def write(repaired: Repaired) -> list[tuple[str, str]]:
    """Write the files. What could not be written, and why."""
    failures: list[tuple[str, str]] = []
    for path, (source, text) in sorted(repaired.sources.items()):
        try:
            with open(path, "rb") as stream:
                now = stream.read()
            if now != source.text.encode(source.encoding):
                raise ValueError("it changed meanwhile")
            write_file(path, text.encode(source.encoding))
        except (OSError, ValueError) as error:
            failures.append((path, getattr(error, "strerror", None) or str(error)))
    return failures


def difference(repaired: Repaired) -> Iterator[str]:
    """What would be changed, as a unified diff without line ends of its own."""
    for path, (source, text) in sorted(repaired.sources.items()):
        before, after = _LINES.findall(source.text), _LINES.findall(text)
        for line in difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"):
            yield line.rstrip("\r\n")
            if not line.endswith(("\n", "\r")):
                yield "\\ No newline at end of file"
