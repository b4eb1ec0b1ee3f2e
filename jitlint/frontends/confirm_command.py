"""`jitlint confirm`: findings proved by running the code under real JAX (layer: ``frontends``)."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import click

from jitlint.base.config import ConfigError, parse_confidence
from jitlint.frontends import console
from jitlint.frontends.console import FAILED, FINDINGS, OK

_MEGABYTE = 1 << 20


@click.command()
@console.PATHS
@click.option("--select", multiple=True, metavar="CODES", help="Only these rules: JIT1, JIT101, a name, ALL.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules.")
@click.option("--min-confidence", metavar="LEVEL", help="possible, likely (the default) or certain.")
@click.option("--output-format", type=click.Choice(["table", "json"]), default="table")
@click.option(
    "--confirmed-only", is_flag=True, help="Report confirmed findings only; exit with 1 only for those."
)
@click.option(
    "--missed", is_flag=True, help="Run also what has no finding; list tracing errors that were missed."
)
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=20.0, help="Seconds for each call.", show_default=True
)
@click.option(
    "--memory",
    type=click.IntRange(min=256),
    default=4096,
    help="Megabytes for each process.",
    show_default=True,
)
@click.option("--platform", default="cpu", help="The JAX platform to run on.", show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="No progress, no summary.")
@console.CONFIG
@console.ISOLATED
@console.JOBS
@console.NO_CACHE
@console.COLOR
def confirm(
    paths: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    min_confidence: str | None,
    output_format: str,
    confirmed_only: bool,
    missed: bool,
    timeout: float,
    memory: int,
    platform: str,
    quiet: bool,
    config: str,
    isolated: bool,
    jobs: int | None,
    no_cache: bool,
    color: str,
) -> int:
    """Check PATHS, then RUN THE CODE there and say which findings real JAX confirms.

    This executes the code under PATHS, in processes of their own with limits on time and memory. It runs the calls that the
    project has (tests, `case_...` functions, scripts) and makes up arguments for the rest, or takes them from a comment:
    `# jitlint: example(f32[8, 3], key, n=4)`.
    """
    if os.name != "posix":
        raise ConfigError(
            "`jitlint confirm` needs processes that can be forked, which this system does not have"
        )
    from jitlint.confirm.engine import Options
    from jitlint.confirm.engine import confirm as run_confirm
    from jitlint.confirm.verdict import Verdict
    from jitlint.driver.schedule import available_cpus
    from jitlint.report.verdicts import Row, verdicts_json, verdicts_table

    settings = console.settings_for(paths, config, isolated)
    if select:
        settings = replace(settings, select=_split(select))
    if ignore:
        settings = replace(settings, ignore=_split(ignore))
    if min_confidence is not None:
        settings = replace(settings, min_confidence=parse_confidence(min_confidence, "--min-confidence"))
    options = Options(
        jobs=jobs or available_cpus(),
        seconds=timeout,
        memory=memory * _MEGABYTE,
        platform=platform,
        use_cache=not no_cache,
        missed=missed,
    )
    show = not quiet and sys.stderr.isatty()
    result = run_confirm(paths or (".",), settings, options, _progress if show else None)
    if show:
        click.echo("\r\033[K", nl=False, err=True)
    shown = [
        confirmation
        for confirmation in result.confirmations
        if not confirmed_only or confirmation.verdict is Verdict.CONFIRMED
    ]
    rows = [Row(c.finding, c.verdict.value, c.evidence, c.inputs) for c in shown]
    lost = [(m.path, m.line, m.error, m.inputs) for m in result.missed]
    if output_format == "json":
        console.print_lines([verdicts_json(rows, lost, result.check.urls)])
    else:
        console.print_lines(
            verdicts_table(rows, lost, console.style_for(sys.stdout, color), summary=not quiet)
        )
    for problem in result.check.problems:
        console.warn(f"{problem.path}: {problem.message}")
    console.warn_if_empty(result.check.statistics, result.check.problems)
    if result.check.problems:
        return FAILED
    return FINDINGS if rows else OK


def _progress(done: int, total: int) -> None:
    width = 30
    filled = width * done // max(total, 1)
    click.echo(f"\r\033[K[{'#' * filled}{'.' * (width - filled)}] {done}/{total}", nl=False, err=True)


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(item.strip() for value in values for item in value.split(",") if item.strip())
