"""Small things about text that reporters and the driver share (layer: ``base``)."""

from __future__ import annotations

import os
import re

_LINE_END = re.compile(r"\r\n|\r|\n")


def split_lines(text: str) -> list[str]:
    """The lines as Python counts them: only CR, LF and CRLF end a line, form feeds do not."""
    return _LINE_END.split(text)


def shorten(text: str, width: int) -> str:
    """One line of at most ``width`` characters; what was cut out of the middle shows as an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    half = (width - 1) // 2
    return f"{line[: width - 1 - half]}…{line[-half:]}" if half else line[:width]


def display_path(path: str) -> str:
    """Relative to the working directory with forward slashes; absolute where no relative path exists."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        relative = path
    return relative.replace(os.sep, "/")
