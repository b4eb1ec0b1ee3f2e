"""`jitlint check`: options to settings, the driver's findings to a reporter (layer: ``frontends``)."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial
from typing import Final

import click

from jitlint.base.config import (
    ConfigError,
    Settings,
    parse_confidence,
    parse_severity,
    parse_tests,
    string_list,
)
from jitlint.base.diagnostic import Finding
from jitlint.base.result import CheckResult
from jitlint.frontends import check_fixes, check_options, console, farming
from jitlint.frontends.check_baseline import refuse_what_makes_no_sense, without_known, write_baseline
from jitlint.frontends.check_fixes import Told
from jitlint.frontends.check_options import SECTIONS, with_options, with_versions
from jitlint.frontends.check_output import (
    FOR_PEOPLE,
    FORMATS,
    all_of,
    is_standard_output,
    output,
    rendered,
    say_what_was_used,
)
from jitlint.frontends.check_run import Request, checked, hide, keep_changed, put_in_sight, run
from jitlint.frontends.console import FAILED, FINDINGS, OK, Texts
from jitlint.frontends.show import show_files_of, show_settings_of

_STDIN = "-"


@click.command(
    cls=console.SectionedCommand,
    sections=SECTIONS,
    short_help="Report what JAX would stumble over, without running it.",
)
@console.PATHS
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    shell_complete=console.complete_rule,
    help="Report only these rules: JIT1, JIT101, a name, ALL.",
)
@click.option(
    "--extend-select",
    multiple=True,
    metavar="CODES",
    shell_complete=console.complete_rule,
    help="Report these rules as well.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="CODES",
    shell_complete=console.complete_rule,
    help="Do not report these rules.",
)
@click.option(
    "--extend-ignore",
    multiple=True,
    metavar="CODES",
    shell_complete=console.complete_rule,
    help="Do not report these rules either.",
)
@click.option(
    "--per-file-ignores",
    multiple=True,
    metavar="PATTERN:CODES",
    help="Do not report these rules in these files.",
)
@click.option(
    "--min-confidence", metavar="LEVEL", help="How sure at least: possible, likely (the default) or certain."
)
@click.option(
    "--min-severity",
    "--severity",
    metavar="LEVEL",
    help="How severe at least: error, warning (the default) or info.",
)
@click.option("--tests", metavar="WHAT", help="What to report in test code: errors (the default) or all.")
@click.option(
    "--jax-version",
    metavar="VERSION",
    default="",
    help="The JAX that the code runs with, or is to move to; by default what the project asks for.",
)
@click.option(
    "--from-jax-version",
    metavar="VERSION",
    default="",
    help="The JAX to move from; by default what the project asks for, if that is older.",
)
@click.option("--exclude", multiple=True, metavar="PATTERNS", help="Leave these files out, as in .gitignore.")
@click.option("--extend-exclude", multiple=True, metavar="PATTERNS", help="Leave these out too.")
@click.option(
    "--force-exclude",
    is_flag=True,
    help="Leave them out even if they are named; by default, what is named is checked.",
)
@click.option(
    "--context",
    multiple=True,
    metavar="PATHS",
    help="Look for callers here instead of in the whole project; report nothing on it.",
)
@click.option(
    "--no-context", is_flag=True, help="Look at the named files and what they import, at no callers."
)
@click.option("--stdin-filename", metavar="FILE", default="", help="The name of what is read from `-`.")
@click.option(
    "--diff",
    metavar="REV",
    default="",
    help="Report only what lines changed since a git revision have or cause.",
)
@click.option("--add-noqa", is_flag=True, help="Write a `# noqa` comment for every finding.")
@check_fixes.options
@click.option("--show-files", is_flag=True, help="List the files that would be checked.")
@click.option("--show-settings", is_flag=True, help="Show the configuration that holds here.")
@farming.options
@console.CONFIG
@console.ISOLATED
@console.JOBS
@console.NO_CACHE
@check_options.reporting
def check(
    paths: tuple[str, ...],
    select: tuple[str, ...],
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    extend_ignore: tuple[str, ...],
    per_file_ignores: tuple[str, ...],
    min_confidence: str | None,
    min_severity: str | None,
    tests: str | None,
    jax_version: str,
    from_jax_version: str,
    exclude: tuple[str, ...],
    extend_exclude: tuple[str, ...],
    force_exclude: bool,
    output_format: str,
    output_file: str,
    statistics: bool,
    show_path: bool,
    context: tuple[str, ...],
    no_context: bool,
    stdin_filename: str,
    baseline: str,
    write_baseline_to: str,
    prune_baseline: bool,
    diff: str,
    no_recorded: bool,
    show_refuted: bool,
    add_noqa: bool,
    fix: bool,
    unsafe_fixes: bool,
    diff_fixes: bool,
    confirm: bool,
    show_fixes: bool,
    show_files: bool,
    show_settings: bool,
    exit_zero: bool,
    shard: str,
    executor: str,
    scheduler: str,
    config: str,
    isolated: bool,
    jobs: int | None,
    no_cache: bool,
    color: str,
    quiet: bool,
    verbose: bool,
) -> int:
    """Report the code under PATHS (by default the working directory) that JAX will refuse to trace, silently get wrong,
    or compile again and again.

    `-` reads one file from standard input. Exit code: 0 nothing found, 1 findings, 2 something could not be analysed.

    \b
    Examples:
      jitlint check                           everything below the working directory
      jitlint check src/model.py              one file, judged with its callers elsewhere
      jitlint check --diff main               what this branch brings in
      jitlint check --select JIT1,JIT304      only these rules
      jitlint check --diff-fixes              what could be fixed
      jitlint check --output-format sarif -o report.sarif
    """
    paths, unsaved = _standard_input(paths, stdin_filename)
    settings = console.settings_for(paths, config, isolated)
    lists = {
        "select": select,
        "extend_select": extend_select,
        "ignore": ignore,
        "extend_ignore": extend_ignore,
        "exclude": exclude,
        "extend_exclude": extend_exclude,
    }
    settings = with_options(settings, lists, per_file_ignores)
    if min_confidence is not None:
        settings = replace(settings, min_confidence=parse_confidence(min_confidence, "--min-confidence"))
    if min_severity is not None:
        settings = replace(settings, min_severity=parse_severity(min_severity, "--min-severity"))
    if force_exclude:
        settings = replace(settings, force_exclude=True)
    if tests is not None:
        settings = replace(settings, tests=parse_tests(tests, "--tests"))
    settings = with_versions(settings, jax_version, from_jax_version)
    if show_settings:
        return show_settings_of(settings, paths)
    if show_files:
        return show_files_of(paths, settings)
    paths = paths or (".",)
    refuse_what_makes_no_sense(write_baseline_to, prune_baseline, diff, baseline or settings.baseline)
    request = Request(
        paths=paths,
        unsaved=unsaved,
        context=_callers(context, no_context),
        output_format=output_format,
        output_file="" if is_standard_output(output_file) else output_file,
        baseline=baseline or settings.baseline,
        write_baseline=write_baseline_to,
        prune_baseline=prune_baseline,
        diff=diff,
        recorded=not no_recorded,
        show_refuted=show_refuted,
        show_path=show_path,
        statistics=statistics,
        exit_zero=exit_zero,
        verbosity=int(verbose) - int(quiet),
        color=color,
        jobs=jobs,
        use_cache=not no_cache,
        wished=check_fixes.wishes(
            fix,
            unsafe_fixes,
            diff_fixes,
            show_fixes,
            confirm,
            {
                "--add-noqa": add_noqa,
                "--write-baseline": bool(write_baseline_to),
                "--prune-baseline": prune_baseline,
                "`-`": (fix or confirm) and bool(unsaved),
            },
        ),
        workers=farming.workers_of(executor, scheduler),
    )
    return _carried_out(request, settings, shard, add_noqa)


def _carried_out(request: Request, settings: Settings, shard: str, add_noqa: bool) -> int:
    if shard:
        return farming.write_part(shard, request, settings)
    return _add_noqa(request, settings) if add_noqa else report(request, settings)


def _standard_input(paths: tuple[str, ...], name: str) -> tuple[tuple[str, ...], dict[str, bytes]]:
    """The paths with a name in the place of ``-``, and the text that was read under that name."""
    if _STDIN not in paths:
        if name:
            raise ConfigError("--stdin-filename is for `-`, which is not among the paths")
        return paths, {}
    if len(paths) > 1:
        raise ConfigError("`-` stands alone: no other paths beside it")
    name = name or "stdin.py"
    return (name,), {os.path.abspath(name): sys.stdin.buffer.read()}


def _callers(context: tuple[str, ...], no_context: bool) -> tuple[str, ...] | None:
    """Where to look for callers; None: wherever they may be. Raises UsageError for options that exclude each other."""
    named = tuple(item for value in context for item in string_list(value, "--context"))
    if named and no_context:
        raise click.UsageError("`--context` and `--no-context` exclude each other.")
    return named if named or no_context else None


def _add_noqa(request: Request, settings: Settings) -> int:
    from jitlint.driver.noqa import add_noqa

    if request.unsaved:
        raise ConfigError("--add-noqa changes files; it cannot change standard input")
    result, changes = checked(request, settings, [])
    if request.baseline:
        without_known(request, settings, result, Texts({}), changes)
    keep_changed(request, settings, result, changes, [])
    added = add_noqa([each for each in result.findings if os.path.abspath(each.path) in result.named])
    for path, why in added.failures:
        console.complain(f"{path}: left alone: {why}")
    if request.verbosity >= 0:
        click.echo(f"Wrote {added.comments} comment{'s' if added.comments != 1 else ''}.")
    return FAILED if added.failures or result.problems else OK


def report(request: Request, settings: Settings) -> int:
    """Check what is asked for, and say what was found; the exit code."""
    hidden: list[str] = []
    everything: list[Finding] = []
    result, changes = checked(request, settings, hidden, everything)
    texts = Texts(request.unsaved)
    if request.write_baseline:
        write_baseline(request, settings, result, texts)
    elif request.baseline:
        hide(hidden, without_known(request, settings, result, texts, changes), "in the baseline")
    keep_changed(request, settings, result, changes, hidden)
    told = Told([])
    if request.wished.any:
        told = check_fixes.carry_out(
            request.wished,
            settings,
            request.unsaved,
            partial(run, request, settings),
            everything,
            result,
            request.paths,
        )
        if request.wished.diff:
            return check_fixes.show_difference(told, request.verbosity < 0)
    put_in_sight(result, changes)
    with output(request.output_file) as stream:
        style = console.style_for(stream, request.color)
        report = rendered(request.output_format, result, texts.lines, style, request.show_path)
        console.print_lines(report, stream)
    _warn_of_mistakes(request, settings, result)
    shown = all_of(result)
    machine = request.output_format not in FOR_PEOPLE and not request.output_file
    if request.statistics:
        console.print_statistics(shown, result.statistics, to_error=machine)
    if request.verbosity > 0:
        say_what_was_used(settings, result)
    if not machine and request.verbosity >= 0 and request.output_format in FOR_PEOPLE:
        _say_summary(request, result, hidden)
    check_fixes.say(told, request.verbosity < 0, machine)
    if result.problems or told.failures:
        return FAILED
    return FINDINGS if result.findings and not request.exit_zero else OK


_OF_A_VERSION: Final = frozenset({"JIT511", "JIT513"})
"""What is found in one version of JAX, and not in another: people want to know in which."""


def _say_summary(request: Request, result: CheckResult, hidden: list[str]) -> None:
    from jitlint.report.text import summary

    if not request.write_baseline or result.problems:
        style = console.style_for(sys.stdout, request.color)
        console.print_lines(
            [summary(result.findings, result.problems, result.statistics.files, style, hidden)]
        )
    if any(finding.code in _OF_A_VERSION for finding in result.findings) and not request.statistics:
        console.print_lines([f"JAX: {result.statistics.jax}; `--jax-version` asks for another."])


def _warn_of_mistakes(request: Request, settings: Settings, result: CheckResult) -> None:
    """Folders without files, and a file whose name looks as if something else had been meant."""
    from jitlint.driver.files import files_of

    console.warn_if_empty(result.statistics, result.problems)
    for path in request.paths if len(request.paths) > 1 and result.statistics.files else ():
        found = files_of([path], settings, request.unsaved)
        if not (found.files or found.failures or found.excluded):
            console.warn(f"{path}: no Python files found")
    _warn_of_settings(request, settings, result)
    if request.output_file in FORMATS:
        name = request.output_file
        console.warn(
            f"the report was written to a file called {name}; `--output-format {name}` chooses the format"
        )


def _warn_of_settings(request: Request, settings: Settings, result: CheckResult) -> None:
    """Patterns that match nothing although all that they could match was looked at, and a JAX that nobody has seen."""
    from jitlint.driver.target import beyond_what_is_known

    tops = {os.path.realpath(path) for path in request.paths}
    home = os.path.realpath(settings.directory) if settings.directory else ""
    if any(home == top or home.startswith(top.rstrip(os.sep) + os.sep) for top in tops):
        for pattern in result.statistics.unmatched:
            console.warn(f"traced: {pattern!r} matches no function")
    newest = beyond_what_is_known(settings.jax_version)
    if newest:
        console.warn(
            f"jax-version: {settings.jax_version} is not known; it is taken for JAX {newest}, the newest that is"
        )
