"""The plug-in for python-lsp-server: findings of the text in the editor, with range, severity and path (layer: ``frontends``).

What flake8 prints has neither range nor severity, and shows nothing of a file with a syntax error. Each request looks at the
whole project, with the cache; the text of all open documents takes the place of their files.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pylsp import hookimpl

from jitlint.base.config import ConfigError
from jitlint.base.diagnostic import Severity
from jitlint.base.result import AnalysisError
from jitlint.driver.registry import rules
from jitlint.frontends.flake8_plugin import in_named_files
from jitlint.report.text import with_reason

if TYPE_CHECKING:
    from jitlint.base.diagnostic import Finding, Span

_SEVERITY = {Severity.ERROR: 1, Severity.WARNING: 2, Severity.INFO: 3}

_Json = dict[str, Any]


@hookimpl  # type: ignore[untyped-decorator,unused-ignore]
def pylsp_settings(config: Any) -> _Json:
    """On unless it is turned off; config: a configuration file instead of the nearest one."""
    return {"plugins": {"jitlint": {"enabled": True, "config": ""}}}


@hookimpl  # type: ignore[untyped-decorator,unused-ignore]
def pylsp_lint(config: Any, workspace: Any, document: Any, is_saved: bool) -> list[_Json]:
    """The findings in one document."""
    asked = config.plugin_settings("jitlint", document_path=document.path)
    unsaved = {
        os.path.abspath(each.path): each.source.encode("utf-8", "surrogatepass")
        for each in (*workspace.documents.values(), document)
        if getattr(each, "path", "") and hasattr(each, "source")
    }
    try:
        found = _findings(document.path, str(asked.get("config") or ""), unsaved)
    except (ConfigError, AnalysisError) as error:
        start = {"line": 0, "character": 0}
        message = f"jitlint: {error}"
        return [
            {"source": "jitlint", "range": {"start": start, "end": start}, "message": message, "severity": 2}
        ]
    return [_diagnostic(finding, document.lines) for finding in found]


def _findings(path: str, config: str, unsaved: dict[str, bytes]) -> list[Finding]:
    from jitlint.driver.config import load_settings
    from jitlint.driver.project import project_root
    from jitlint.driver.run import check

    settings = replace(load_settings(project_root([path]), config), force_exclude=True)
    result = check([path], settings, jobs=1, unsaved=unsaved)
    here = os.path.realpath(path)
    found = in_named_files(result, settings.baseline, unsaved)
    every = sorted([*result.problems, *found], key=lambda finding: finding.sort_key)
    return [finding for finding in every if os.path.realpath(finding.path) == here]


def _diagnostic(finding: Finding, lines: list[str]) -> _Json:
    shown: _Json = {
        "source": "jitlint",
        "code": finding.code,
        "range": _range(finding.span, lines),
        "message": f"{with_reason(finding)}\nhelp: {finding.help}" if finding.help else with_reason(finding),
        "severity": _SEVERITY[finding.severity],
    }
    url = rules()[finding.code].url
    if url:
        shown["codeDescription"] = {"href": url}
    return shown


def _range(span: Span, lines: list[str]) -> _Json:
    def place(line: int, column: int) -> _Json:
        text = lines[line - 1] if line <= len(lines) else ""
        units = len(text[: column - 1].encode("utf-16-le", "surrogatepass")) // 2  # what the protocol counts
        return {"line": line - 1, "character": units}

    return {"start": place(span.line, span.column), "end": place(span.end_line, span.end_column)}
