"""What `jitlint check` does with a baseline: leave out what it knows, write it, drop what is gone (layer: ``frontends``)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from jitlint.base.config import ConfigError, Settings
from jitlint.base.result import BY_A_RUN, CheckResult
from jitlint.base.text import display_path
from jitlint.frontends import console
from jitlint.frontends.check_run import Request
from jitlint.frontends.console import Texts

if TYPE_CHECKING:
    from jitlint.driver.baseline import Looked
    from jitlint.driver.changes import Changes


def refuse_what_makes_no_sense(write: str, prune: bool, diff: str, baseline: str) -> None:
    """Raises ConfigError for options that exclude each other, and for one that lacks another."""
    if write and prune:
        raise ConfigError(
            "--write-baseline and --prune-baseline exclude each other: writing drops what is gone, too"
        )
    if write and diff:
        raise ConfigError(
            "--write-baseline and --diff exclude each other: a baseline lists findings wherever they are"
        )
    if prune and not baseline:
        raise ConfigError(
            "--prune-baseline needs a baseline: `--baseline FILE`, or `baseline` in the configuration"
        )


def write_baseline(request: Request, settings: Settings, result: CheckResult, texts: Texts) -> None:
    """List the findings in a file, and report none."""
    from jitlint.driver.baseline import write

    done = write(result.findings, request.write_baseline, texts.lines, _looked(request, settings, result))
    if request.verbosity >= 0:
        changes = [
            f"{count:,} {what}"
            for count, what in (
                (done.new, "new"),
                (done.dropped, "dropped"),
                (done.kept, "kept that this run did not look for"),
            )
            if count
        ]
        more = f": {', '.join(changes)}" if changes and not done.is_first else ""
        plural = "s" if done.entries != 1 else ""
        click.echo(f"Wrote {done.entries:,} finding{plural} to {request.write_baseline}{more}.", err=True)
    result.findings = []


def without_known(
    request: Request, settings: Settings, result: CheckResult, texts: Texts, changes: Changes | None = None
) -> int:
    """Leave out what the baseline lists; how many findings that were."""
    from jitlint.driver.baseline import compare
    from jitlint.driver.changes import has_changed

    looked = _looked(request, settings, result)
    if request.prune_baseline:
        _prune(request, result, texts, looked)
    compared = compare(
        result.findings,
        request.baseline,
        texts.lines,
        looked,
        lambda finding: changes is not None and has_changed(finding, changes),
    )
    result.findings = compared.new
    if compared.gone and request.verbosity >= 0 and changes is None:
        words = "findings in the baseline are" if compared.gone != 1 else "finding in the baseline is"
        drops = "them" if compared.gone != 1 else "it"
        console.warn(f"{compared.gone:,} {words} not there any more; --prune-baseline drops {drops}")
    return compared.known


def _prune(request: Request, result: CheckResult, texts: Texts, looked: Looked) -> None:
    from jitlint.driver.baseline import prune

    name = display_path(request.baseline)
    dropped = prune(result.findings, request.baseline, texts.lines, looked)
    if not looked.is_whole:
        console.warn(
            f"{name}: nothing is dropped, as this run did not look at all that may bring findings about"
        )
    elif request.verbosity >= 0:
        what = f"{dropped:,} finding{'s' if dropped != 1 else ''}" if dropped else "nothing"
        click.echo(f"Dropped {what} from {name}.", err=True)


def _looked(request: Request, settings: Settings, result: CheckResult) -> Looked:
    from jitlint.driver.baseline import Looked
    from jitlint.driver.project import project_root
    from jitlint.driver.run import Asked, Shows

    shows = Shows(settings, Asked.of(settings), project_root(request.paths))
    folders = [path for path in map(os.path.abspath, request.paths) if os.path.isdir(path)]
    refuted = result.statistics.notes.get(f"findings {BY_A_RUN}")
    is_whole = not (result.problems or result.unread or refuted) and request.context is None
    return Looked(result.named, folders, shows.all_of, is_whole)
