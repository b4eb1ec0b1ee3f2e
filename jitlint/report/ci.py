"""Findings in the forms that build servers read: GitHub annotations, GitLab code quality, JUnit (layer: ``report``).

GitHub: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
GitLab: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
JUnit: the schema of the Jenkins xUnit plug-in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree import ElementTree

from jitlint.base.diagnostic import Finding, Severity, Span

_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_GITLAB = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def github(findings: Sequence[Finding]) -> Iterator[str]:
    """One workflow command per finding: GitHub shows it at its line of the change."""
    for finding in findings:
        span = finding.span
        first, last = _lines(span)
        place = f"file={_property(finding.path)},line={first},endLine={last}"
        if span.end_line == span.line and not span.cell:  # GitHub takes columns only within one line
            place += f",col={span.column},endColumn={span.end_column}"
        title = _property(f"{finding.code} {finding.name}")
        text = f"{span.within(finding.path)}:{span.line}:{span.column}: {finding.code} {_sentences(finding)}"
        yield f"::{_GITHUB[finding.severity]} {place},title={title}::{_data(text)}"


def gitlab(findings: Sequence[Finding], fingerprints: Sequence[str]) -> Iterator[str]:
    """One JSON array."""
    items = [
        {
            "description": f"{_in_cell(finding.span)}{finding.code}: {_sentences(finding)}",
            "check_name": finding.code,
            "fingerprint": fingerprint,
            "severity": _GITLAB[finding.severity],
            "location": {
                "path": finding.path,
                "lines": dict(zip(("begin", "end"), _lines(finding.span))),
            },
        }
        for finding, fingerprint in zip(findings, fingerprints)
    ]
    yield json.dumps(items, indent=1)


def junit(findings: Sequence[Finding], files: int) -> Iterator[str]:
    """A test suite per file with findings, a failed test case per finding; one that passes when all is well."""
    counts = {"tests": str(max(1, len(findings))), "failures": str(len(findings)), "errors": "0"}
    root = ElementTree.Element("testsuites", {"name": "jitlint", **counts})
    if not findings:
        suite = ElementTree.SubElement(root, "testsuite", {"name": "jitlint", **counts})
        ElementTree.SubElement(
            suite, "testcase", {"name": f"{files} file{'s' if files != 1 else ''}", "classname": "jitlint"}
        )
    for path, group in groupby(findings, key=lambda finding: finding.path):
        cases = list(group)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            {"name": _xml(path), "tests": str(len(cases)), "failures": str(len(cases)), "errors": "0"},
        )
        for finding in cases:
            line, column = str(finding.span.line), str(finding.span.column)
            cell = f"cell {finding.span.cell}:" if finding.span.cell else ""
            case = ElementTree.SubElement(
                suite,
                "testcase",
                {
                    "name": f"{finding.code} {finding.name}:{cell}{line}:{column}",
                    "classname": _xml(path.removesuffix(".py")),
                },
            )
            failure = ElementTree.SubElement(
                case, "failure", {"message": _xml(finding.message), "type": finding.severity.value}
            )
            failure.text = _xml(f"{path}:{cell}{line}:{column}: {finding.code} {_sentences(finding)}")
    ElementTree.indent(root, " ")
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield ElementTree.tostring(root, encoding="unicode")


def _lines(span: Span) -> tuple[int, int]:
    """The first and the last line of the file. Of a notebook these services know the file only."""
    if not span.cell:
        return span.line, span.end_line
    first = span.file_line or 1
    return first, first


def _in_cell(span: Span) -> str:
    return f"cell {span.cell}, line {span.line}: " if span.cell else ""


def _sentences(finding: Finding) -> str:
    return f"{finding.message}; {finding.help}" if finding.help else finding.message


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _xml(text: str) -> str:
    """Without the characters that XML 1.0 cannot hold."""
    return "".join(
        char
        if char in "\t\n\r"
        or (char >= " " and char not in "\ufffe\uffff" and not "\ud800" <= char <= "\udfff")
        else "\ufffd"
        for char in text
    )
