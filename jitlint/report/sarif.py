"""Findings as SARIF 2.1.0, for code scanning services (layer: ``report``).

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote
from urllib.request import pathname2url

import jitlint
from jitlint.base.diagnostic import Finding, Fix, Severity, Span
from jitlint.base.rule import Rule
from jitlint.report.explain import markdown_text, shown_program

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_RANK = {"possible": 30.0, "likely": 70.0, "certain": 100.0}

_Object = dict[str, object]


def sarif(
    findings: Sequence[Finding],
    problems: Sequence[Finding],
    fingerprints: Sequence[str],
    rules: Mapping[str, Rule],
    urls: Mapping[str, str],
) -> Iterator[str]:
    """One log with one run. problems: what could not be analysed; they become notifications.

    fingerprints: one per finding.
    """
    used = sorted({finding.code for finding in findings})
    index = {code: number for number, code in enumerate(used)}
    run: _Object = {
        "tool": {
            "driver": {
                "name": "jitlint",
                "version": jitlint.__version__,
                "semanticVersion": jitlint.__version__,
                "rules": [_rule(rules[code], urls.get(code)) for code in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not problems,
                "toolExecutionNotifications": [_notification(problem) for problem in problems],
            }
        ],
        "results": [_result(f, mark, index[f.code]) for f, mark in zip(findings, fingerprints)],
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _rule(rule: Rule, url: str | None) -> _Object:
    examples = ""
    if rule.bad.strip():
        shown = (shown_program(rule.bad), shown_program(rule.good))
        examples = "\n## Bad\n\n```python\n{}\n```\n\n## Good\n\n```python\n{}\n```\n".format(*shown)
    explained, instead = rule.explanation.strip(), rule.instead.strip()
    body = "{}\n\n## What to write instead\n\n{}\n{}"
    plain = body.format(explained, instead, examples)
    markdown = body.format(markdown_text(explained), markdown_text(instead), examples)
    described: _Object = {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": f"{rule.summary[:1].upper()}{rule.summary[1:]}."},
        "fullDescription": {"text": rule.explanation.strip().split("\n\n")[0].replace("\n", " ")},
        "help": {"text": plain, "markdown": markdown},
        "defaultConfiguration": {"level": _LEVEL[rule.severity], "enabled": rule.default},
        "properties": {"tags": ["jax"], "precision": "high"},
    }
    if url:
        described["helpUri"] = url
    return described


def _result(finding: Finding, fingerprint: str, index: int) -> _Object:
    text = (
        f"{finding.message}. {finding.help[:1].upper()}{finding.help[1:]}."
        if finding.help
        else finding.message
    )
    result: _Object = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVEL[finding.severity],
        "rank": _RANK[finding.confidence.value],
        "message": {"text": text},
        "locations": [_location(finding.path, finding.span)],
        "partialFingerprints": {"jitlint/v1": fingerprint},
    }
    if finding.related:
        steps = [_location(step.path, step.span, step.message) for step in finding.related]
        result["relatedLocations"] = [{"id": number, **step} for number, step in enumerate(steps)]
        flow = [*steps, _location(finding.path, finding.span, finding.message)]
        result["codeFlows"] = [{"threadFlows": [{"locations": [{"location": step} for step in flow]}]}]
    if finding.fix is not None and not any(edit.span.cell for edit in finding.fix.edits):
        # A cell is text within the text of the file: there are no lines to replace.
        result["fixes"] = [_fix(finding.fix)]
    return result


def _fix(fix: Fix) -> _Object:
    """SARIF knows no safety: the description says it, and the properties."""
    paths = sorted({edit.path for edit in fix.edits})
    return {
        "description": {"text": f"{fix.message[:1].upper()}{fix.message[1:]} ({fix.safety.value})."},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": _uri(path)},
                "replacements": [
                    {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
                    for edit in fix.edits
                    if edit.path == path
                ],
            }
            for path in paths
        ],
        "properties": {"safety": fix.safety.value},
    }


def _notification(problem: Finding) -> _Object:
    return {
        "level": "error",
        "message": {"text": f"{problem.code}: {problem.message}"},
        "locations": [_location(problem.path, problem.span)],
    }


def _location(path: str, span: Span, message: str = "") -> _Object:
    location: _Object = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(path)},
            "region": _region(span),
        }
    }
    if span.cell:
        name = f"cell {span.cell}, line {span.line}, column {span.column}"
        location["logicalLocations"] = [{"name": name, "kind": "module"}]
    if message:
        location["message"] = {"text": message}
    return location


def _region(span: Span) -> _Object:
    """The range; of a cell only the line of the file, whose columns are those of JSON."""
    if span.cell:
        return {"startLine": span.file_line or 1}
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _uri(path: str) -> str:
    """A relative reference where the path is relative, a file URI where it is not."""
    if os.path.isabs(path):
        return "file://" + pathname2url(path)
    return quote(path.replace(os.sep, "/"))
