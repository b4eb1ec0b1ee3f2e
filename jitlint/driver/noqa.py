"""Writes ``# noqa`` comments for findings (layer: ``driver``).

A file is rewritten only if the new text, with the comments in it, still parses to the same program.
"""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from jitlint.base.diagnostic import Finding
from jitlint.driver.suppress import suppressions
from jitlint.driver.writing import write_file
from jitlint.syntax.documents import is_document
from jitlint.syntax.source import SyntaxProblem, decode_source

_END = re.compile(r"\r\n|\r|\n")
_NOQA = re.compile(r"#\s*noqa\s*:\s*(?P<codes>[A-Za-z]+\d+(?:[,\s]+[A-Za-z]+\d+)*)", re.IGNORECASE)


@dataclass(slots=True)
class Added:
    """comments: how many lines got or changed one. failures: (path, why) of files that were left alone."""

    comments: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)


def add_noqa(findings: Iterable[Finding]) -> Added:
    """Silence the findings in their files, at the end of the statement that each belongs to."""
    result = Added()
    by_file: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_file[finding.path].append(finding)
    for path, found in by_file.items():
        try:
            if not os.path.isfile(path):  # a pipe that was read once does not say the same again
                raise ValueError("not a regular file")
            if is_document(path):
                raise ValueError("comments are written into Python files only")
            with open(path, "rb") as stream:
                data = stream.read()
            changed, count = with_comments(data, found)
            if count:
                write_file(path, changed)
        except (OSError, ValueError) as error:
            result.failures.append((path, getattr(error, "strerror", None) or str(error)))
        else:
            result.comments += count
    return result


def with_comments(data: bytes, findings: Iterable[Finding]) -> tuple[bytes, int]:
    """The file's new bytes and the number of lines changed. Raises ValueError if it cannot be done safely."""
    decoded = decode_source(data)
    if isinstance(decoded, SyntaxProblem):
        raise ValueError(decoded.message)
    text, encoding = decoded
    logical = suppressions(text + "\n# noqa: JIT000").logical
    wanted: defaultdict[int, set[str]] = defaultdict(set)
    for finding in findings:
        last = finding.span.end_line
        wanted[logical.get(last, (last, last))[1]].add(finding.code)
    ends = [match.span() for match in _END.finditer(text)]
    ends.append((len(text), len(text)))
    parts: list[str] = []
    start = 0
    for number, (stop, following) in enumerate(ends, 1):
        line = text[start:stop]
        parts.append((_mark(line, wanted[number]) if number in wanted else line) + text[stop:following])
        start = following
    changed = "".join(parts)
    try:
        same = ast.dump(ast.parse(text)) == ast.dump(ast.parse(changed))
    except (SyntaxError, RecursionError):
        same = False
    if not same:
        raise ValueError("a comment would change the program")
    return changed.encode(encoding), len(wanted)


def _mark(line: str, codes: set[str]) -> str:
    match = _NOQA.search(line)
    if match is None:
        return f"{line.rstrip()}  # noqa: {', '.join(sorted(codes))}"
    known = re.split(r"[,\s]+", match["codes"])
    more = [code for code in sorted(codes) if code not in known]
    return line[: match.start("codes")] + ", ".join([*known, *more]) + line[match.end("codes") :]
