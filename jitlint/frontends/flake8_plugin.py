"""The flake8 plug-in: flake8's files and options to the driver, findings to flake8 (layer: ``frontends``).

flake8 hands out one file at a time, but a file is only wrong because of others. So the driver runs once for all
files of the run, before flake8 starts its workers; text that is not on disk (an editor's) is looked at when
flake8 hands it over, with its project around it. Selection by code, ``# noqa`` and per-file ignores are flake8's.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import jitlint
from jitlint.base.config import ConfigError, Settings, parse_confidence, parse_severity
from jitlint.base.result import AnalysisError
from jitlint.driver.registry import rules
from jitlint.report.text import with_reason

if TYPE_CHECKING:
    from jitlint.base.diagnostic import Finding
    from jitlint.base.result import CheckResult

_Row = tuple[int, int, str, type]


@dataclass(slots=True)
class _State:
    """What one flake8 run knows: its settings, and the findings by real path."""

    settings: Settings = field(default_factory=Settings)
    use_cache: bool = True
    found: dict[str, list[Finding]] = field(default_factory=dict)


class Plugin:
    """One file of a flake8 run."""

    name = "jitlint"
    version = jitlint.__version__
    _state: ClassVar[_State] = _State()
    _unsaved_name: ClassVar[str] = ""

    def __init__(self, tree: object, filename: str, lines: list[str]) -> None:
        # flake8 passes these by name; it wants `tree` to run once per file, and never for broken syntax.
        self._filename = filename
        self._lines = lines

    @staticmethod
    def add_options(manager: Any) -> None:
        """Add our options to flake8's command line and configuration section."""
        manager.add_option(
            "--jitlint-min-confidence",
            parse_from_config=True,
            default=None,
            metavar="LEVEL",
            help="possible, likely or certain",
        )
        manager.add_option(
            "--jitlint-min-severity",
            parse_from_config=True,
            default=None,
            metavar="LEVEL",
            help="error, warning or info",
        )
        manager.add_option(
            "--jitlint-severity",
            parse_from_config=True,
            default=None,
            metavar="LEVEL",
            help="the old name of --jitlint-min-severity",
        )
        manager.add_option(
            "--jitlint-config",
            parse_from_config=True,
            normalize_paths=True,
            default="",
            metavar="FILE",
            help="configuration file to use instead of the nearest one",
        )
        manager.add_option(
            "--jitlint-no-cache",
            parse_from_config=True,
            action="store_true",
            default=False,
            help="neither read nor write .jitlint_cache",
        )

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Take flake8's options and look at its files. Raises flake8's ExecutionError for bad configuration."""
        cls._unsaved_name = ""
        cls._state = _State()
        if not _is_wanted(options):
            return
        paths = tuple(options.filenames) or (".",)
        try:
            cls._state.settings = _settings(options, paths)
            cls._state.use_cache = not options.jitlint_no_cache
            if "-" in paths:
                cls._unsaved_name = options.stdin_display_name
            else:
                cls._look(paths, {})
        except (ConfigError, AnalysisError) as error:
            from flake8.exceptions import ExecutionError

            raise ExecutionError(f"jitlint: {error}") from None

    @classmethod
    def _look(cls, paths: tuple[str, ...], unsaved: dict[str, bytes]) -> None:
        from jitlint.driver.documents import with_file_lines
        from jitlint.driver.run import check

        state = cls._state
        result = check(
            paths,
            state.settings,
            use_cache=state.use_cache,
            unsaved=unsaved,
            respect_noqa=False,
        )
        found = in_named_files(result, state.settings.baseline, unsaved)
        for finding in with_file_lines([*result.problems, *found], unsaved):
            state.found.setdefault(os.path.realpath(finding.path), []).append(finding)

    def run(self) -> Iterator[_Row]:
        """The findings of this file, as flake8 wants them: columns from 0."""
        if self._unsaved_name and self._filename == self._unsaved_name:
            path = os.path.abspath(self._filename)
            type(self)._look((self._filename,), {path: "".join(self._lines).encode("utf-8", "surrogatepass")})
        for finding in self._state.found.get(os.path.realpath(self._filename), ()):
            yield (
                finding.span.file_line or finding.span.line,
                finding.span.column - 1,
                f"{finding.code} {with_reason(finding)}",
                type(self),
            )


def in_named_files(result: CheckResult, baseline: str, unsaved: dict[str, bytes]) -> list[Finding]:
    """The findings that the baseline does not know, where an editor of the named files shows them."""
    from jitlint.driver.changes import in_sight

    found = [*result.findings, *result.elsewhere]
    if baseline:
        from jitlint.driver.baseline import compare
        from jitlint.frontends.console import Texts

        found = compare(found, baseline, Texts(unsaved).lines).new
    return [in_sight(finding, result.named) for finding in found]


def _is_wanted(options: argparse.Namespace) -> bool:
    """Whether flake8 would show any of our codes: an analysis that nobody sees is not made."""
    select = options.select
    if not select:
        return True
    return any(
        code.startswith(ours) or ours.startswith(code)
        for ours in _prefixes()
        for code in (*select, *(options.extend_select or ()))
    )


def _prefixes() -> set[str]:
    """What the codes of all rules begin with, those of other packages included."""
    return {code.rstrip("0123456789") for code in rules()}


def _settings(options: argparse.Namespace, paths: tuple[str, ...]) -> Settings:
    from jitlint.driver.config import load_settings
    from jitlint.driver.project import project_root

    settings = load_settings(
        project_root([path for path in paths if path != "-"] or ["."]), options.jitlint_config
    )
    asked = [*(options.select or ()), *(options.extend_select or ())]
    ours = tuple(_prefixes())
    more = tuple(code for code in asked if code.startswith(ours) and code not in ours)
    # flake8 names every file; its own `exclude` leaves out what is named, too.
    settings = replace(settings, extend_select=(*settings.extend_select, *more), force_exclude=True)
    if options.jitlint_min_confidence:
        level = parse_confidence(options.jitlint_min_confidence, "--jitlint-min-confidence")
        settings = replace(settings, min_confidence=level)
    for name in ("min_severity", "severity"):
        wanted = getattr(options, f"jitlint_{name}")
        if wanted:
            severity = parse_severity(wanted, f"--jitlint-{name.replace('_', '-')}")
            settings = replace(settings, min_severity=severity)
            break
    return settings
