"""An identity of findings that survives edits elsewhere in the file (layer: ``base``).

It is made of the file, the rule, the enclosing function and the text of the flagged lines without their
indentation; equal ones in one file are told apart by their order. Line numbers play no part.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence

from jitlint.base.diagnostic import Finding

Lines = Callable[[str], Sequence[str]]
"""Gives the lines of the file, or of the notebook's cell, that a finding is in (`Span.within`); none for an unreadable one."""


def fingerprints(findings: Sequence[Finding], lines_of: Lines, path_of: Callable[[str], str]) -> list[str]:
    """One fingerprint (32 hexadecimal digits) per finding, in their order.

    path_of: the name that stands for a finding's path, the same on every machine.
    """
    seen: Counter[str] = Counter()
    result: list[str] = []
    for finding in findings:
        span = finding.span
        flagged = lines_of(span.within(finding.path))[span.line - 1 : span.end_line]
        parts = [path_of(finding.path), finding.code, finding.function, *(line.strip() for line in flagged)]
        text = "\0".join(parts)
        seen[text] += 1
        number = f"\0{seen[text]}"
        result.append(hashlib.sha256((text + number).encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return result
