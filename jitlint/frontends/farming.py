"""The options of `jitlint check` about many machines (layer: ``frontends``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from jitlint.base.config import ConfigError, Settings
from jitlint.frontends import console
from jitlint.frontends.check_output import output
from jitlint.frontends.check_run import Request

if TYPE_CHECKING:
    from jitlint.driver.processes.schedule import Workers

_OPTIONS = (
    click.option(
        "--shard",
        metavar="K/N",
        default="",
        help="Do the K-th of N shares of the work, and write what `jitlint merge` joins.",
    ),
    click.option(
        "--executor",
        type=click.Choice(["processes", "dask"]),
        default="processes",
        help="Who does the work: processes here, or the workers of a Dask cluster.",
    ),
    click.option("--scheduler", metavar="ADDRESS", default="", help="The scheduler of the Dask cluster."),
)

_OF_MERGE = (
    "output_format show_path statistics baseline write_baseline_to prune_baseline no_recorded show_refuted exit_zero"
).split()
"""Options that say what becomes of findings: that is done once, when shards are joined."""
_ELSEWHERE = (
    "diff add_noqa fix unsafe_fixes diff_fixes confirm show_fixes stdin_filename verbose color".split()
)
"""Options that a part of the answer is not enough for."""


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def workers_of(executor: str, scheduler: str) -> Workers | None:
    """Who does the work; None: processes here. Raises ConfigError for a cluster that cannot be used."""
    if executor != "dask":
        if scheduler:
            raise ConfigError("--scheduler is for --executor dask")
        return None
    if not scheduler:
        raise ConfigError(
            "--executor dask needs a running cluster; --scheduler tcp://HOST:8786 says where its scheduler is"
        )
    from jitlint.farm.dask import connected

    cluster = connected(scheduler)
    click.get_current_context().call_on_close(cluster.close)
    return cluster


def write_part(shard: str, request: Request, settings: Settings) -> int:
    """Do the share and write what was found; the exit code."""
    from jitlint.driver.processes.schedule import Forked, available_cpus
    from jitlint.farm.part import encoded, make_part
    from jitlint.farm.share import Share

    share = Share.parsed(shard)
    _refuse_other_options(bool(request.unsaved))
    workers = request.workers or Forked(request.jobs or available_cpus())
    wants_line = request.verbosity >= 0
    with console.progress_line(wants_line) as progress:
        part = make_part(
            share, request.paths, request.context, settings, workers, request.use_cache, progress
        )
    with output(request.output_file) as stream:
        console.print_lines([encoded(part)], stream)
    if wants_line:
        named, files = f"{len(part.named):,}", f"{part.found.statistics.files:,}"
        click.echo(
            f"Shard {share.number} of {share.of}: {named} of {files} files; `jitlint merge` joins the shards.",
            err=True,
        )
    return console.OK


def _refuse_other_options(is_standard_input: bool) -> None:
    """Raises ConfigError for options that do not go with ``--shard``."""
    if is_standard_input:
        raise ConfigError("--shard and `-` exclude each other")
    ctx = click.get_current_context()
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if name in _OF_MERGE:
            raise ConfigError(
                f"--shard: {parameter.opts[0]} is for `jitlint merge`, which reports on all shards"
            )
        if name in _ELSEWHERE:
            raise ConfigError(f"--shard and {parameter.opts[0]} exclude each other")
