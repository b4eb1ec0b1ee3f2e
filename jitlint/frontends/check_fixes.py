"""The options of `jitlint check` about fixes, and what they do with a result (layer: ``frontends``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from jitlint.base.config import ConfigError, Settings
from jitlint.base.diagnostic import Finding
from jitlint.base.result import CheckResult
from jitlint.frontends import console

if TYPE_CHECKING:
    from jitlint.fix.engine import Engine, Offer
    from jitlint.fix.patch import Patch

# For all calls that are made to prove one fix, as `jitlint confirm` has it.
_SECONDS = 60.0
_OPTIONS = (
    click.option("--fix", is_flag=True, help="Write fixes that keep every result into the files."),
    click.option(
        "--unsafe-fixes",
        is_flag=True,
        help="Also those that are right in the usual case only (with --fix, --diff-fixes).",
    ),
    click.option(
        "--diff-fixes", is_flag=True, help="Print what --fix would change as a diff, and write nothing."
    ),
    click.option(
        "--confirm",
        is_flag=True,
        help="RUN THE CODE and make only the fixes that are shown to cure and to keep the result (with --fix,"
        " --diff-fixes).",
    ),
    click.option("--show-fixes", is_flag=True, help="Say of each finding what would fix it, safe or not."),
)


@dataclass(frozen=True, slots=True)
class Wishes:
    """Which of the options are given."""

    fix: bool = False
    unsafe: bool = False
    diff: bool = False
    show: bool = False
    confirm: bool = False

    @property
    def any(self) -> bool:
        """Whether fixes have to be made at all."""
        return self.fix or self.diff or self.show


@dataclass(slots=True)
class Told:
    """difference: lines of a diff. summary: what was done, for people. failures: (path, why) of files left alone."""

    difference: list[str]
    summary: str = ""
    failures: tuple[tuple[str, str], ...] = ()
    fixed: int = 0


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command; it gets their values under the names of `Wishes`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def wishes(
    fix: bool,
    unsafe_fixes: bool,
    diff_fixes: bool,
    show_fixes: bool,
    confirm: bool,
    others: Mapping[str, bool],
) -> Wishes:
    """What is wished. others: options that cannot be given with ``--fix``. Raises ConfigError."""
    if unsafe_fixes and not (fix or diff_fixes):
        raise ConfigError("--unsafe-fixes is for --fix or --diff-fixes; --show-fixes shows both kinds")
    if confirm and not (fix or diff_fixes):
        raise ConfigError(
            "--confirm is for --fix or --diff-fixes; `jitlint confirm --fixes` proves and writes nothing"
        )
    given = [
        name
        for name, value in (("--fix", fix), ("--diff-fixes", diff_fixes), ("--show-fixes", show_fixes))
        if value
    ]
    if len(given) > 1:
        raise ConfigError(f"{given[0]} and {given[1]} exclude each other")
    clash = next((name for name, value in others.items() if value), "") if fix or diff_fixes else ""
    if clash:
        raise ConfigError(f"{given[0]} cannot be combined with {clash}")
    return Wishes(fix, unsafe_fixes, diff_fixes, show_fixes, confirm)


def carry_out(
    wished: Wishes,
    settings: Settings,
    unsaved: Mapping[str, bytes],
    again: Callable[[Mapping[str, bytes]], CheckResult],
    everything: list[Finding],
    result: CheckResult,
    paths: Sequence[str],
) -> Told:
    """Make the fixes of the result's findings; the result says afterwards what is left, or offered.

    everything: all findings of the run in the files asked for, those included that are not reported. No other file is
    changed.
    """
    from jitlint.base.diagnostic import Safety
    from jitlint.driver.registry import rules
    from jitlint.driver.select import fixable_codes
    from jitlint.fix.engine import Engine
    from jitlint.fix.writing import difference, write

    codes = fixable_codes(settings, rules())
    shown = set(result.findings)
    hidden = {_content(each) for each in (*everything, *result.elsewhere) if each not in shown}

    def may_fix(finding: Finding) -> bool:
        return finding.code in codes and _content(finding) not in hidden

    raw = replace(result, findings=everything)
    engine = Engine(again, unsaved)
    if wished.show:
        offered = engine.offered(raw, may_fix, lambda _, patch: True)
        result.findings = [replace(each, fix=offered.get(each)) for each in result.findings]
        return Told([])

    def wanted(_: Finding, patch: Patch) -> bool:
        return wished.unsafe or patch.safety is Safety.SAFE

    unproved = 0
    if wished.confirm:
        offers = engine.candidates(raw, may_fix, wanted)
        proved = _kept(paths, settings, engine, raw, offers)
        unproved = len(offers) - len(proved)
        repaired = engine.repaired(raw, proved)
    else:
        repaired = engine.repair(raw, may_fix, wanted)
    left = [*repaired.result.findings, *repaired.result.elsewhere]
    result.findings = [each for each in left if _content(each) not in hidden]
    result.problems = repaired.result.problems
    count, files = len(repaired.fixed), len(repaired.sources)
    what = f"{count} finding{'s' * (count != 1)} in {files} file{'s' * (files != 1)}."
    if unproved:
        what += f" {unproved} fix{'es' * (unproved != 1)} left out: not proved by running the code."
    if wished.diff:
        return Told(list(difference(repaired)), f"Would fix {what}", fixed=count)
    return Told([], f"Fixed {what}", tuple(write(repaired)), count)


def _kept(
    paths: Sequence[str], settings: Settings, engine: Engine, result: CheckResult, offers: list[Offer]
) -> list[Offer]:
    """The fixes that running the code proves."""
    from jitlint.confirm.engine import Options
    from jitlint.driver.processes.schedule import available_cpus
    from jitlint.frontends.proving import kept, needs_fork

    needs_fork()
    options = Options(jobs=available_cpus(), each=_SECONDS)
    return kept(paths, settings, options, engine, result, offers) if offers else []


def show_difference(told: Told, quiet: bool) -> int:
    """Print the diff of ``--diff-fixes``; the exit code says whether there is one."""
    console.print_lines(told.difference)
    if not quiet:
        click.echo(told.summary, err=True)
    return console.FINDINGS if told.fixed else console.OK


def say(told: Told, quiet: bool, to_error: bool) -> None:
    """What ``--fix`` did, and what it could not write."""
    if told.summary and not quiet:
        click.echo(told.summary, err=to_error)
    for path, why in told.failures:
        console.complain(f"{path}: left alone: {why}")


def _content(finding: Finding) -> tuple[str, ...]:
    """What a finding is recognised by when lines move."""
    return (finding.code, finding.path, finding.function, finding.message)
