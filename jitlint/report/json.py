"""Results as JSON: an interface, so keys are only ever added (layer: ``report``).

Lines and columns are 1-based and count code points; ends are exclusive. In a notebook lines count from the start of
the ``cell``, whose number counts all cells from 1; in other files it is null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from jitlint.base.diagnostic import Finding, Fix
from jitlint.base.result import TracedRow


def findings_json(findings: Iterable[Finding], urls: Mapping[str, str]) -> str:
    """One array of findings. ``urls``: code to a page about it."""
    return _dump([finding_json(finding, urls) for finding in findings])


def findings_jsonl(findings: Iterable[Finding], urls: Mapping[str, str]) -> Iterator[str]:
    """One finding per line."""
    for finding in findings:
        yield json.dumps(finding_json(finding, urls))


def traced_json(rows: Iterable[TracedRow]) -> str:
    """One array of traced functions."""
    return _dump(
        [
            {
                "path": row.path,
                "cell": row.cell or None,
                "qualname": row.qualname,
                "line": row.line,
                "modes": list(row.modes),
                "parameters": dict(row.parameters),
                "because": [
                    {
                        "path": reason.path,
                        "cell": reason.cell or None,
                        "line": reason.line,
                        "message": reason.message,
                    }
                    for reason in row.because
                ],
                "ground": row.ground,
                "confidence": row.confidence.value,
            }
            for row in rows
        ]
    )


def finding_json(finding: Finding, urls: Mapping[str, str]) -> dict[str, object]:
    """One finding as plain data."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "path": finding.path,
        "cell": finding.span.cell or None,
        "line": finding.span.line,
        "column": finding.span.column,
        "end_line": finding.span.end_line,
        "end_column": finding.span.end_column,
        "related": [
            {
                "path": step.path,
                "cell": step.span.cell or None,
                "line": step.span.line,
                "column": step.span.column,
                "message": step.message,
                "because": step.because,
            }
            for step in finding.related
        ],
        "fix": fix_json(finding.fix) if finding.fix is not None else None,
        "url": urls.get(finding.code),
        "help": finding.help or None,
        "because": {"traced": finding.traced or None, "kind": finding.kind or None},
        "ground": finding.ground or None,
    }


def fix_json(fix: Fix) -> dict[str, object]:
    """A fix as plain data."""
    return {
        "safety": fix.safety.value,
        "message": fix.message,
        "edits": [
            {
                "path": edit.path,
                "cell": edit.span.cell or None,
                "line": edit.span.line,
                "column": edit.span.column,
                "end_line": edit.span.end_line,
                "end_column": edit.span.end_column,
                "text": edit.text,
            }
            for edit in fix.edits
        ],
    }


def _dump(items: list[dict[str, object]]) -> str:
    """One item per line: short, and friendly to line-based tools."""
    if not items:
        return "[]"
    return "[\n" + ",\n".join(json.dumps(item) for item in items) + "\n]"
