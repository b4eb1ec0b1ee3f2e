"""The report of `jitlint check`: which words for which format, and where they go (layer: ``frontends``)."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

import click

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Finding
from jitlint.base.result import CheckResult

if TYPE_CHECKING:
    from jitlint.report.style import Style

FORMATS = ("full", "concise", "json", "jsonl", "github", "gitlab", "sarif", "junit")
FOR_PEOPLE = ("full", "concise")
BY_FILE_LINE = ("github", "gitlab", "sarif")
"""Formats that know a notebook as a file of lines."""


def all_of(result: CheckResult) -> list[Finding]:
    """Findings and problems in the order of their places."""
    return sorted([*result.problems, *result.findings], key=lambda finding: finding.sort_key)


def rendered(
    name: str, result: CheckResult, lines: Callable[[str], list[str]], style: Style, show_path: bool
) -> Iterable[str]:
    """The report's lines, in the format asked for."""
    shown = all_of(result)
    if name == "full":
        from jitlint.report.text import full

        return full(shown, style, lines, show_path, result.urls)
    if name == "concise":
        from jitlint.report.text import concise

        return concise(shown, style, show_path, result.urls)
    if name in ("json", "jsonl"):
        from jitlint.report import json

        if name == "jsonl":
            return json.findings_jsonl(shown, result.urls)
        return [json.findings_json(shown, result.urls)]
    from jitlint.report import ci

    if name == "github":
        return ci.github(shown)
    if name == "junit":
        return ci.junit(shown, result.statistics.files)
    if name == "gitlab":
        return ci.gitlab(shown, _marks(shown, lines))
    from jitlint.driver.registry import rules
    from jitlint.report.sarif import sarif

    marks = _marks(result.findings, lines)
    return sarif(result.findings, result.problems, marks, rules(), result.urls)


def _marks(findings: Sequence[Finding], lines: Callable[[str], list[str]]) -> list[str]:
    from jitlint.base.fingerprint import fingerprints

    return fingerprints(findings, lines, lambda path: path)


def is_standard_output(path: str) -> bool:
    """Whether the file is only another name for where the report goes anyway."""
    if not path:
        return True
    from jitlint.driver.writing import STDOUT, descriptor_of

    return descriptor_of(path) == STDOUT


@contextlib.contextmanager
def output(path: str) -> Iterator[TextIO]:
    """Standard output, or a file that is written whole at the end."""
    if not path:
        yield sys.stdout
        return
    from jitlint.driver.writing import save

    buffer = io.StringIO()
    yield buffer
    save(path, buffer.getvalue().encode("utf-8", "backslashreplace"))


def say_what_was_used(settings: Settings, result: CheckResult) -> None:
    """What `--verbose` adds."""
    phases = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in result.statistics.seconds.items())
    cached = " (result from the cache)" if result.statistics.cached else ""
    click.echo(f"configuration: {settings.source or 'none'}", err=True)
    click.echo(f"files: {result.statistics.files} ({result.statistics.parsed} analysed)", err=True)
    click.echo(f"time: {phases}{cached}", err=True)
