"""The command line: arguments to the driver, results to a reporter, and an exit code (layer: ``frontends``).

Exit codes: 0 nothing found, 1 findings, 2 the tool or its input failed. Imports that cost time happen inside
the commands, so that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import functools
import os
import sys
import tokenize
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

import click

import jitlint
from jitlint.base.config import ConfigError, Settings, parse_confidence
from jitlint.base.result import AnalysisError

if TYPE_CHECKING:
    from jitlint.base.diagnostic import Finding
    from jitlint.base.result import Statistics
    from jitlint.report.style import Style

OK, FINDINGS, FAILED = 0, 1, 2

_PATHS = click.argument("paths", nargs=-1, metavar="[PATHS]...")
_JOBS = click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes to use; by default all processors."
)
_NO_CACHE = click.option("--no-cache", is_flag=True, help="Neither read nor write .jitlint_cache.")


class _ReaderGone(Exception):
    """Whoever reads our output has closed it. Not an OSError, which click would answer with exit code 1."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(jitlint.__version__, prog_name="jitlint", message="%(prog)s %(version)s")
def cli() -> None:
    """Find the code that JAX will refuse to trace."""


@cli.command()
@_PATHS
@click.option("--select", multiple=True, metavar="CODES", help="Only these rules: JIT1, JIT101, a name, ALL.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules.")
@click.option("--min-confidence", metavar="LEVEL", help="possible, likely (the default) or certain.")
@click.option("--output-format", type=click.Choice(["full", "concise", "json"]), default="full")
@click.option(
    "--statistics", is_flag=True, help="Count findings per rule; show what was analysed and the time."
)
@click.option("--show-path", is_flag=True, help="Show every step from the transform to the finding.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@_JOBS
@_NO_CACHE
@click.option("-q", "--quiet", is_flag=True, help="Print findings only, no summary.")
def check(
    paths: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    min_confidence: str | None,
    output_format: str,
    statistics: bool,
    show_path: bool,
    exit_zero: bool,
    jobs: int | None,
    no_cache: bool,
    quiet: bool,
) -> int:
    """Report code under PATHS (by default the working directory) that breaks under tracing."""
    from jitlint.driver.run import check as run_check
    from jitlint.report.json import findings_json
    from jitlint.report.text import concise, full, summary

    settings = _settings(paths)
    if select:
        settings = replace(settings, select=_split(select))
    if ignore:
        settings = replace(settings, ignore=_split(ignore))
    if min_confidence is not None:
        settings = replace(settings, min_confidence=parse_confidence(min_confidence, "--min-confidence"))
    result = run_check(paths or ["."], settings, jobs=jobs, use_cache=not no_cache)
    shown = sorted([*result.problems, *result.findings], key=lambda finding: finding.sort_key)
    style = _style(sys.stdout)
    if output_format == "json":
        _print([findings_json(shown, result.urls)])
    elif output_format == "concise":
        _print(concise(shown, style, show_path))
    else:
        _print(full(shown, style, _source_lines, show_path))
    _warn_if_empty(result.statistics, result.problems)
    if statistics:
        _print_statistics(shown, result.statistics, to_error=output_format == "json")
    if output_format != "json" and not quiet:
        _print([summary(result.findings, result.problems, result.statistics.files, style)])
    if result.problems:
        return FAILED
    return FINDINGS if result.findings and not exit_zero else OK


@cli.command()
@_PATHS
@click.option("--output-format", type=click.Choice(["table", "json"]), default="table")
@click.option("--statistics", is_flag=True, help="Show what was analysed and the time.")
@click.option("--show-path", is_flag=True, help="Show why each function is traced.")
@_JOBS
@_NO_CACHE
def traced(
    paths: tuple[str, ...],
    output_format: str,
    statistics: bool,
    show_path: bool,
    jobs: int | None,
    no_cache: bool,
) -> int:
    """List the functions under PATHS that traced code reaches, and on what grounds.

    A ground of `possible?` is a guess: nothing traces the function, but its parameters look like arrays.
    """
    from jitlint.driver.run import traced as run_traced
    from jitlint.report.json import traced_json
    from jitlint.report.tables import traced_table
    from jitlint.report.text import concise

    result = run_traced(paths or ["."], _settings(paths), jobs=jobs, use_cache=not no_cache)
    if output_format == "json":
        _print([traced_json(result.rows)])
    else:
        _print(traced_table(result.rows, _style(sys.stdout), show_path))
    _print(concise(result.problems, _style(sys.stderr)), sys.stderr)
    _warn_if_empty(result.statistics, result.problems)
    if statistics:
        _print_statistics([], result.statistics, to_error=output_format == "json")
    return FAILED if result.problems else OK


@cli.command()
def rules() -> int:
    """List all rules."""
    from jitlint.driver.registry import rules as all_rules
    from jitlint.report.tables import rules_table

    _print(rules_table(all_rules().values(), _style(sys.stdout)))
    return OK


@cli.command()
@click.argument("rule", metavar="CODE-or-name")
def explain(rule: str) -> int:
    """Say what a rule reports, why it matters and what to write instead."""
    import difflib

    from jitlint.driver.registry import find_rule, rule_url
    from jitlint.driver.registry import rules as all_rules
    from jitlint.report.tables import explanation

    found = find_rule(rule)
    if found is None:
        known = [*all_rules(), *(each.name for each in all_rules().values())]
        close = difflib.get_close_matches(rule, known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "; `jitlint rules` lists them"
        raise ConfigError(f"no rule {rule!r}{hint}")
    _print(explanation(found, rule_url(found), _style(sys.stdout)))
    return OK


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code. Never raises for bad input."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # names and source may hold what the terminal cannot show
            reconfigure(errors="backslashreplace")
    try:
        code: Any = cli.main(args=arguments, prog_name="jitlint", standalone_mode=False)
        return code if isinstance(code, int) else OK
    except click.ClickException as error:
        error.show()
    except click.Abort:
        _complain("interrupted")
    except (ConfigError, AnalysisError) as error:
        _complain(str(error))
    except _ReaderGone:
        # Python flushes standard output once more at exit; let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        if os.environ.get("JITLINT_DEBUG"):
            raise
        _complain(f"internal error: {type(error).__name__}: {error} (JITLINT_DEBUG=1 shows where)")
    return FAILED


def _settings(paths: tuple[str, ...]) -> Settings:
    """The configuration that holds where the paths are."""
    from jitlint.driver.config import load_settings
    from jitlint.driver.project import project_root

    return load_settings(project_root(paths or ["."]))


def _split(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(item.strip() for value in values for item in value.split(",") if item.strip())


@functools.lru_cache(maxsize=8)
def _source_lines(path: str) -> list[str]:
    """The lines of a file, to show; none if it has become unreadable. Does without the syntax layer: showing a
    remembered finding should not load the parser."""
    try:
        with tokenize.open(path) as stream:
            return stream.read().split("\n")
    except (OSError, SyntaxError, UnicodeError, ValueError, LookupError):
        return []


def _style(stream: TextIO) -> Style:
    from jitlint.report.style import Style, wants_colours

    return Style(wants_colours(stream.isatty()))


def _print(lines: Iterable[str], stream: TextIO | None = None) -> None:
    target = stream or sys.stdout
    try:
        for line in lines:
            target.write(line + "\n")
        target.flush()
    except BrokenPipeError:
        raise _ReaderGone from None


def _print_statistics(findings: list[Finding], statistics: Statistics, to_error: bool) -> None:
    from jitlint.report.statistics import statistics_lines

    _print(statistics_lines(findings, statistics), sys.stderr if to_error else sys.stdout)


def _warn_if_empty(statistics: Statistics, problems: list[Finding]) -> None:
    if not statistics.files and not problems:
        click.echo("jitlint: warning: no Python files found", err=True)


def _complain(message: str) -> None:
    click.echo(f"jitlint: error: {message}", err=True)
