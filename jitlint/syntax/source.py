"""Reading source files: bytes to text, and the problems that can stand in the way.

What it does: decode as Python does (byte order mark, coding line, UTF-8 otherwise), keep line ends as they are.
What it does not: parse. Layer: ``syntax``. Nothing here raises on bad input.
"""

from __future__ import annotations

import io
import os
import re
import tokenize
from dataclasses import dataclass

SYNTAX_ERROR = "JIT001"
UNREADABLE = "JIT002"
TOO_COMPLEX = "JIT003"

BYTE_ORDER_MARK = "\ufeff"
_LONE_CR = re.compile(r"\r(?!\n)")


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why a file cannot be analysed. ``line`` and ``column`` are 1-based.

    code: JIT001 (syntax error), JIT002 (cannot be read or decoded) or JIT003 (too complex to analyse).
    """

    code: str
    message: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one file. ``text`` has no byte order mark and keeps the file's own line ends.

    encoding: what `bytes` to write back must be encoded in (``utf-8-sig`` when there was a mark).
    """

    path: str
    text: str
    encoding: str


def read_source(path: str | os.PathLike[str]) -> Source | SyntaxProblem:
    """Read and decode the file at ``path``."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return SyntaxProblem(UNREADABLE, f"cannot read the file: {reason}")
    decoded = decode_source(data)
    if isinstance(decoded, SyntaxProblem):
        return decoded
    text, encoding = decoded
    return Source(os.fspath(path), text, encoding)


def decode(data: bytes) -> str | SyntaxProblem:
    """The text of a file with these bytes."""
    decoded = decode_source(data)
    return decoded if isinstance(decoded, SyntaxProblem) else decoded[0]


def decode_source(data: bytes) -> tuple[str, str] | SyntaxProblem:
    """The text of a file with these bytes, and the encoding it was in."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except (SyntaxError, UnicodeError, ValueError, LookupError) as error:
        return SyntaxProblem(UNREADABLE, f"cannot decode the file: {error}")
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        message = f"cannot decode the file as {encoding}: {error.reason}"
        return SyntaxProblem(UNREADABLE, message, line, column)
    except (UnicodeError, ValueError, LookupError) as error:
        return SyntaxProblem(UNREADABLE, f"cannot decode the file as {encoding}: {error}")


def end_lines(text: str) -> str:
    """``text`` with ``\\n`` for every lone ``\\r``: both end a line. No offset, line or column changes."""
    return _LONE_CR.sub("\n", text) if "\r" in text else text
