"""Comments that silence findings (layer: ``driver``).

``# noqa``, ``# noqa: JIT101``, ``# jitlint: ignore`` and ``# jitlint: ignore[JIT101]`` count for a finding when
they stand on the first or last line of the flagged code, or on the first or last line of the statement (of
its header, for ``if`` and the like) that it belongs to. ``# jitlint: ignore-file`` silences a whole file.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from jitlint.base.diagnostic import Finding, Span
from jitlint.syntax.comments import comments

_NOQA = re.compile(
    r"#\s*noqa\b(?P<colon>\s*:\s*(?P<codes>[A-Za-z]+\d*(?:[,\s]+[A-Za-z]+\d+)*)?)?", re.IGNORECASE
)
_IGNORE = re.compile(r"#\s*jitlint:\s*ignore(?P<file>-file)?\s*(?:\[(?P<codes>[^\]]*)\])?", re.IGNORECASE)
_BETWEEN = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


@dataclass(slots=True)
class Suppressions:
    """The silencing comments of one file. An empty set of selectors silences everything."""

    file: list[frozenset[str]] = field(default_factory=list)
    lines: dict[int, list[frozenset[str]]] = field(default_factory=dict)
    logical: dict[int, tuple[int, int]] = field(default_factory=dict)

    def silences(self, code: str, name: str, span: Span) -> bool:
        """Whether a finding of this rule on this span is not wanted."""
        candidates = {span.line, span.end_line}
        for line in (span.line, span.end_line):
            candidates.update(self.logical.get(line, ()))
        selectors = [*self.file, *(s for line in candidates for s in self.lines.get(line, ()))]
        return any(_matches(selector, code, name) for selector in selectors)


def suppressions(text: str) -> Suppressions:
    """Read the comments of one file."""
    found = Suppressions()
    for line, _, comment in comments(text):
        _read_comment(comment, line, found)
    if found.lines:
        found.logical = _logical_lines(text)
    return found


def _logical_lines(text: str) -> dict[int, tuple[int, int]]:
    """Each line of a statement over several lines: the statement's first and last line.

    Text that Python cannot tokenize is read as far as it goes.
    """
    found: dict[int, tuple[int, int]] = {}
    first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.NEWLINE:
                last = token.start[0]
                found.update(dict.fromkeys(range(first, last + 1), (first, last)) if last > first else {})
                first = 0
            elif not first and token.type not in _BETWEEN:
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


def without_suppressed(findings: Iterable[Finding], text_of: Callable[[str], str | None]) -> list[Finding]:
    """The findings that no comment silences. ``text_of`` gives the text of a finding's file."""
    known: dict[str, Suppressions] = {}
    kept: list[Finding] = []
    for finding in findings:
        if finding.path not in known:
            known[finding.path] = suppressions(text_of(finding.path) or "")
        if not known[finding.path].silences(finding.code, finding.name, finding.span):
            kept.append(finding)
    return kept


def _read_comment(comment: str, line: int, found: Suppressions) -> None:
    for match in _IGNORE.finditer(comment):
        codes = frozenset(code.strip().lower() for code in (match["codes"] or "").split(",") if code.strip())
        if match["codes"] is not None and not codes:
            continue  # `ignore[]` names nothing, so it silences nothing
        if match["file"]:
            found.file.append(codes)
        else:
            found.lines.setdefault(line, []).append(codes)
    for match in _NOQA.finditer(comment):
        if match["colon"] and not match["codes"]:
            continue
        codes = frozenset(code.lower() for code in re.split(r"[,\s]+", match["codes"] or "") if code)
        found.lines.setdefault(line, []).append(codes)


def _matches(selectors: frozenset[str], code: str, name: str) -> bool:
    """A selector is a name, a code or the beginning of a code."""
    return not selectors or any(
        selector == name or (selector.startswith("jit") and code.lower().startswith(selector))
        for selector in selectors
    )
