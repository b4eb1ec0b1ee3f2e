"""An identity of findings that survives edits elsewhere in the file, and another layout of the code (layer: ``base``).

It is made of the file, the rule, the enclosing function and the words of the flagged code; equal ones in one file are told
apart by their order. Line numbers play no part, nor does what a formatter changes: white space, line breaks, comments, the
kind of quotes and commas before a closing bracket.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence

from jitlint.base.diagnostic import Finding, Span

Lines = Callable[[str], Sequence[str]]
"""Gives the lines of the file, or of the notebook's cell, that a finding is in (`Span.within`); none for an unreadable one."""

_WORD = re.compile(
    r"""(?P<string>[bfrtu]{0,2}(?:'{3}.*?'{3}|\"{3}.*?\"{3}|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"))"""
    r"""|(?P<nothing>\#[^\n]*|\s+|\\\n)|\w+|.""",
    re.DOTALL | re.IGNORECASE,
)


def fingerprints(
    findings: Sequence[Finding],
    lines_of: Lines,
    path_of: Callable[[str], str],
    comes_last: Callable[[Finding], bool] = lambda finding: False,
) -> list[str]:
    """One fingerprint (32 hexadecimal digits) per finding, in their order.

    path_of: the name that stands for a finding's path, the same on every machine. comes_last: of equal ones, these count as the
    later ones.
    """
    seen: Counter[str] = Counter()
    result = [""] * len(findings)
    for place in sorted(range(len(findings)), key=lambda number: comes_last(findings[number])):
        finding = findings[place]
        words = _words(_flagged(lines_of(finding.span.within(finding.path)), finding.span))
        text = "\0".join([path_of(finding.path), finding.code, finding.function, *words])
        seen[text] += 1
        number = f"\0{seen[text]}"
        result[place] = hashlib.sha256((text + number).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return result


def _flagged(lines: Sequence[str], span: Span) -> str:
    flagged = list(lines[span.line - 1 : span.end_line])
    if not flagged:
        return ""
    flagged[-1] = (
        flagged[-1][: span.end_column - 1] if len(flagged) > span.end_line - span.line else flagged[-1]
    )
    flagged[0] = flagged[0][span.column - 1 :]
    return "\n".join(flagged) or lines[span.line - 1]


def _words(code: str) -> list[str]:
    words: list[str] = []
    for match in _WORD.finditer(code):
        if match["nothing"]:
            continue
        word = _plain(match[0]) if match["string"] else match[0]
        if word in (")", "]", "}") and words and words[-1] == ",":
            words.pop()
        words.append(word)
    return words


def _plain(string: str) -> str:
    """A literal string with double quotes and a small prefix, as formatters write it where that is the same string."""
    opening = min(at for at in (string.find("'"), string.find('"')) if at >= 0)
    prefix, quoted = string[:opening].lower().replace("u", ""), string[opening:]
    if quoted.startswith("'''") and '"' not in quoted:
        quoted = f'"""{quoted[3:-3]}"""'
    elif quoted.startswith("'") and not quoted.startswith("'''") and '"' not in quoted:
        quoted = f'"{quoted[1:-1]}"'
    return prefix + quoted
