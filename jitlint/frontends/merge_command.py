"""`jitlint merge`: the parts that `jitlint check --shard` has written become one report (layer: ``frontends``)."""

from __future__ import annotations

import os

import click

from jitlint.frontends.check_baseline import refuse_what_makes_no_sense
from jitlint.frontends.check_command import report
from jitlint.frontends.check_fixes import Wishes
from jitlint.frontends.check_options import reporting
from jitlint.frontends.check_output import is_standard_output
from jitlint.frontends.check_run import Request


@click.command(short_help="Join what the shards of a check have found.")
@click.argument("parts", nargs=-1, metavar="PART...", required=True)
@reporting
def merge(
    parts: tuple[str, ...],
    output_format: str,
    output_file: str,
    statistics: bool,
    show_path: bool,
    baseline: str,
    write_baseline_to: str,
    prune_baseline: bool,
    no_recorded: bool,
    show_refuted: bool,
    exit_zero: bool,
    color: str,
    quiet: bool,
    verbose: bool,
) -> int:
    """Report what the shards of a check have found, as one `jitlint check` would.

    PART is a file that `jitlint check --shard K/N` has written; all N are needed. Run it where the shards ran, or in an equal
    copy of the project. The shards have said which files are checked and with which settings. Exit code: as for `check`.

    \b
    Examples:
      jitlint check --shard 1/2 -o part1.json       here,
      jitlint check --shard 2/2 -o part2.json       and on another machine
      jitlint merge part1.json part2.json           the report
    """
    from jitlint.farm.join import join
    from jitlint.farm.part import read_part

    joined = join({path: read_part(path) for path in dict.fromkeys(map(os.path.abspath, parts))})
    settings = joined.settings
    baseline = baseline or settings.baseline
    refuse_what_makes_no_sense(write_baseline_to, prune_baseline, "", baseline)
    request = Request(
        paths=joined.paths,
        unsaved={},
        context=joined.context,
        output_format=output_format,
        output_file="" if is_standard_output(output_file) else output_file,
        baseline=baseline,
        write_baseline=write_baseline_to,
        prune_baseline=prune_baseline,
        diff="",
        recorded=not no_recorded,
        show_refuted=show_refuted,
        show_path=show_path,
        statistics=statistics,
        exit_zero=exit_zero,
        verbosity=int(verbose) - int(quiet),
        color=color,
        jobs=None,
        use_cache=False,
        wished=Wishes(),
        joined=joined.result,
    )
    return report(request, settings)
