"""`jitlint confirm`: findings proved by running the code under real JAX (layer: ``frontends``)."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from jitlint.base.config import ConfigError, Settings, parse_confidence, parse_severity
from jitlint.frontends import console
from jitlint.frontends.console import FAILED, FINDINGS, OK

if TYPE_CHECKING:
    from jitlint.base.diagnostic import Finding
    from jitlint.base.result import CheckResult
    from jitlint.confirm.engine import ConfirmResult, Options
    from jitlint.confirm.verdict import Confirmation, Recorded
    from jitlint.driver.target import Target
    from jitlint.record.store import Store
    from jitlint.report.verdicts import Missed, Row

_MEGABYTE = 1 << 20


_SECTIONS = {
    "What to confirm": "select ignore min-confidence min-severity missed fixes no-recorded",
    "How to run": "timeout finding-timeout total-timeout memory platform stub-missing jobs",
    "How to report": "output-format html confirmed-only quiet color",
    "Configuration and cache": "config isolated no-cache",
}


@click.command(
    cls=console.SectionedCommand,
    sections=_SECTIONS,
    short_help="RUN THE CODE and say which findings real JAX confirms.",
)
@console.PATHS
@click.option(
    "--select", multiple=True, metavar="CODES", help="Confirm only these rules: JIT1, JIT101, a name, ALL."
)
@click.option("--ignore", multiple=True, metavar="CODES", help="Do not confirm these rules.")
@click.option(
    "--min-confidence", metavar="LEVEL", help="How sure at least: possible, likely (the default) or certain."
)
@click.option(
    "--min-severity",
    "--severity",
    metavar="LEVEL",
    help="How severe at least: error, warning (the default) or info.",
)
@click.option(
    "--output-format",
    type=click.Choice(["table", "json", "jsonl", "html"]),
    default="table",
    help="How to report.",
)
@click.option(
    "--html", metavar="FILE", default="", help="Write a page that shows each finding in its source, too."
)
@click.option(
    "--confirmed-only", is_flag=True, help="Report confirmed findings only; exit with 1 only for those."
)
@click.option(
    "--missed", is_flag=True, help="Run also what has no finding; list tracing errors that were missed."
)
@click.option(
    "--fixes",
    is_flag=True,
    help="Run what `check --fix --unsafe-fixes` would write: is the error gone, and the result the same?",
)
@click.option(
    "--stub-missing",
    is_flag=True,
    help="Go on with stand-ins for modules that are not installed; what uses them shows nothing.",
)
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=20.0, help="Seconds for each call.", show_default=True
)
@click.option(
    "--finding-timeout",
    type=click.FloatRange(min=0),
    default=60.0,
    help="Seconds for the calls of one finding together; others of them are not made. 0: no limit.",
    show_default=True,
)
@click.option(
    "--total-timeout",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Seconds for all calls together; what was found by then is told. 0: no limit.",
    show_default=True,
)
@click.option(
    "--memory",
    type=click.IntRange(min=256),
    default=4096,
    help="Megabytes for each process.",
    show_default=True,
)
@click.option("--platform", default="cpu", help="The JAX platform to run on.", show_default=True)
@click.option("--no-recorded", is_flag=True, help="Do not use what `jitlint record` has seen.")
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
    min_severity: str | None,
    output_format: str,
    html: str,
    confirmed_only: bool,
    missed: bool,
    fixes: bool,
    stub_missing: bool,
    timeout: float,
    finding_timeout: float,
    total_timeout: float,
    memory: int,
    platform: str,
    no_recorded: bool,
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
    `# jitlint: example(f32[8, 3], key, n=4)`. What a run under `jitlint record` has settled is not run again.

    \b
    Examples:
      jitlint confirm src                     prove what `jitlint check src` finds
      jitlint confirm --confirmed-only        only what real JAX has shown
      jitlint confirm --html report.html      a page with sources, paths and evidence
      jitlint confirm --fixes src             which fixes cure, and keep the result
    """
    if os.name != "posix":
        raise ConfigError(
            "`jitlint confirm` needs processes that can be forked, which this system does not have"
        )
    from jitlint.confirm.engine import Options
    from jitlint.confirm.engine import confirm as run_confirm
    from jitlint.driver.processes.schedule import available_cpus

    where = paths or (".",)
    settings = console.settings_for(paths, config, isolated)
    settings = _narrowed(settings, select, ignore, min_confidence, min_severity)
    options = Options(
        jobs=jobs or available_cpus(),
        seconds=timeout,
        memory=memory * _MEGABYTE,
        platform=platform,
        use_cache=not no_cache,
        missed=missed,
        total=total_timeout,
        each=finding_timeout,
        stub=stub_missing,
    )
    earlier = None if no_recorded or fixes else _recorded(where)
    about = partial(_words, *earlier) if earlier is not None else None
    teller = _Teller(output_format, color, not quiet, confirmed_only, _target(where, settings), fixes)
    run = partial(_with_fixes, alone=not confirmed_only) if fixes else partial(run_confirm, recorded=about)
    result = run(where, settings, options, teller.tell)
    rows = [row for c in result.confirmations if (row := teller.row(c)) is not None]
    lost = [(m.path, m.line, m.error, m.inputs) for m in result.missed]
    if earlier is not None:
        lost += _also_missed(lost, earlier, result.check.findings, where, settings)
    teller.finish(rows, lost)
    _write(rows, lost, result.check.urls, platform, output_format, html)
    _warn(result, stub_missing)
    return _exit_code(result, rows)


def _exit_code(result: ConfirmResult, rows: Sequence[Row]) -> int:
    if result.check.problems or result.asked:
        return FAILED
    return FINDINGS if any(row.verdict != "proved" for row in rows) else OK


def _with_fixes(
    paths: Sequence[str],
    settings: Settings,
    options: Options,
    told: Callable[[Confirmation, int, int], None],
    alone: bool,
) -> ConfirmResult:
    """The verdict on each fix of what is found."""
    if options.missed or not alone:
        raise ConfigError("--fixes is about fixes; it cannot be combined with --missed or --confirmed-only")
    from jitlint.driver.registry import rules
    from jitlint.driver.run import check
    from jitlint.driver.select import fixable_codes
    from jitlint.fix.engine import Engine
    from jitlint.frontends.proving import proved

    def again(unsaved: Mapping[str, bytes]) -> CheckResult:
        return check(paths, settings, jobs=options.jobs, use_cache=options.use_cache, unsaved=unsaved)

    result, engine, codes = again({}), Engine(again, {}), fixable_codes(settings, rules())
    offers = engine.candidates(result, lambda finding: finding.code in codes, lambda _, patch: True)
    return proved(paths, settings, options, engine, result, offers, told)


def _target(paths: Sequence[str], settings: Settings) -> Target:
    """The JAX that the findings are about."""
    from jitlint.driver.project import project_root
    from jitlint.driver.target import target_of

    return target_of(project_root(paths), settings.jax_version, settings.from_jax_version)


class _Teller:
    """Tells verdicts as they come, in the formats that can be written line by line; a bar says how far it is."""

    def __init__(
        self, output_format: str, color: str, words: bool, confirmed_only: bool, target: Target, fixes: bool
    ) -> None:
        self._fixes = fixes
        self._format = output_format
        self._style = console.style_for(sys.stdout, color)
        self._words = words
        self._bar = words and sys.stderr.isatty()
        self._confirmed_only = confirmed_only
        self._target = target

    def row(self, said: Confirmation) -> Row | None:
        """A verdict for a reader; None if it is not asked for."""
        from jitlint.report.verdicts import Row

        if self._confirmed_only and said.verdict.value != "confirmed":
            return None
        target = self._target.version if self._target.is_other(said.jax) else ""
        word = said.verdict.value
        if self._fixes:
            from jitlint.frontends.proving import WORDS

            word = WORDS.get(said.verdict, word)
        return Row(said.finding, word, said.evidence, said.inputs, said.jax, target)

    def tell(self, said: Confirmation, known: int, total: int) -> None:
        """A verdict is known, the ``known``-th of ``total``."""
        from jitlint.driver.registry import rules
        from jitlint.report.verdicts import verdict_json, verdict_lines

        row = self.row(said)
        self._clear()
        if row is not None and self._format == "table":
            console.print_lines(verdict_lines(row, self._style))
        elif row is not None and self._format == "jsonl":
            url = rules()[row.finding.code].url
            console.print_lines([verdict_json(row, {row.finding.code: url} if url else {})])
        if self._bar and known < total:
            _progress(known, total)

    def finish(self, rows: Sequence[Row], lost: Sequence[Missed]) -> None:
        """All verdicts are told."""
        from jitlint.report.verdicts import missed_json, missed_line, summary

        self._clear()
        if self._format == "table":
            console.print_lines([missed_line(item, self._style) for item in lost])
            console.print_lines(summary(rows) if self._words else [])
        elif self._format == "jsonl":
            console.print_lines([missed_json(item) for item in lost])

    def _clear(self) -> None:
        if self._bar:
            click.echo("\r\033[K", nl=False, err=True)


def _narrowed(
    settings: Settings,
    select: Sequence[str],
    ignore: Sequence[str],
    min_confidence: str | None,
    min_severity: str | None,
) -> Settings:
    """The settings with what the command line says of the findings to confirm."""
    if select:
        settings = replace(settings, select=console.selectors(select, "--select"))
    if ignore:
        settings = replace(settings, ignore=console.selectors(ignore, "--ignore"))
    if min_confidence is not None:
        settings = replace(settings, min_confidence=parse_confidence(min_confidence, "--min-confidence"))
    if min_severity is not None:
        settings = replace(settings, min_severity=parse_severity(min_severity, "--min-severity"))
    return settings


def _also_missed(
    lost: Sequence[Missed],
    earlier: tuple[Store, str],
    findings: Sequence[Finding],
    paths: Sequence[str],
    settings: Settings,
) -> list[Missed]:
    """What a recorded run has seen go wrong, and nobody else."""
    from jitlint.driver.files import files_of

    files = files_of(paths, settings).files
    known = {(path, line) for path, line, _, _ in lost}
    return [m for m in _missed(*earlier, findings, files) if m[:2] not in known]


def _write(
    rows: Sequence[Row],
    lost: Sequence[Missed],
    urls: Mapping[str, str],
    platform: str,
    output_format: str,
    html: str,
) -> None:
    """The formats that are not for a terminal."""
    if output_format == "json":
        from jitlint.report.verdicts import verdicts_json

        console.print_lines([verdicts_json(rows, lost, urls)])
    elif output_format == "html":
        console.print_lines([_page(rows, lost, urls, platform)])
    if html:
        from jitlint.driver.writing import save

        save(html, (_page(rows, lost, urls, platform) + "\n").encode("utf-8", "replace"))


def _warn(result: ConfirmResult, stub: bool) -> None:
    for problem in result.check.problems:
        console.warn(f"{problem.path}: {problem.message}")
    console.warn_if_empty(result.check.statistics, result.check.problems)
    if result.stopped:
        unasked = sum(c.evidence == f"not run: {result.stopped}" for c in result.confirmations)
        console.warn(f"{result.stopped}: {unasked} of {len(result.confirmations)} findings were not run")
    for why, count in _imports(result, stub):
        console.warn(f"{count} finding{'s' * (count > 1)} {'needs' if count == 1 else 'need'} {why}")
    if result.reachable:
        what = ", ".join(result.reachable[:-1]) + " and " * (len(result.reachable) > 1) + result.reachable[-1]
        console.warn(f"this system does not let `jitlint` shut the code in: it could reach {what}")


def _imports(result: ConfirmResult, stub: bool) -> list[tuple[str, int]]:
    """What could not be imported, and how many findings wait for it; the most wanted first."""
    from jitlint.confirm.verdict import Verdict

    counts: Counter[str] = Counter()
    for confirmation in result.confirmations:
        if confirmation.verdict is Verdict.COULD_NOT_IMPORT and "Error" in confirmation.evidence:
            missing = re.match(r"ModuleNotFoundError: No module named '([\w.]+)'", confirmation.evidence)
            why = f"a module that cannot be imported here: {confirmation.evidence}"
            hint = "" if stub else " (`--stub-missing` goes on without it)"
            counts[f"`{missing[1]}`, which is not there{hint}" if missing else why] += 1
    return counts.most_common()


def _page(rows: Sequence[Row], missed: Sequence[Missed], urls: Mapping[str, str], platform: str) -> str:
    import jitlint
    from jitlint.confirm.memory import installed_jax
    from jitlint.report.html import verdicts_html

    made_with = (
        f"jitlint {jitlint.__version__}, JAX {installed_jax()} on {platform}, Python {sys.version.split()[0]}"
    )
    return verdicts_html(rows, missed, urls, console.Texts({}).lines, made_with)


def _recorded(paths: Sequence[str]) -> tuple[Store, str] | None:
    """The last recorded run of the project, and the project's top; None if there is none. Raises ConfigError for a
    bad store."""
    from jitlint.driver.project import project_root
    from jitlint.record.store import NAME, read_store, still_true

    root = os.path.realpath(project_root(paths))
    path = os.path.join(root, NAME)
    if not os.path.exists(path):
        return None
    return still_true(read_store(path), root), root


def _missed(store: Store, root: str, findings: Sequence[Finding], files: Sequence[str]) -> list[Missed]:
    """What went wrong in the recorded run, in these files, and has no finding."""
    from jitlint.base.text import display_path
    from jitlint.driver.project import is_test
    from jitlint.record.compare import missed, relative_to

    def place(file: str) -> str:
        return os.path.join(root, *file.split("/"))

    wanted = {os.path.realpath(path) for path in files}
    return [
        (display_path(place(item.file)), item.line, f"in a recorded run {item.what}", _program(store))
        for item in missed(store, findings, relative_to(root), lambda file: is_test(place(file), root))
        if place(item.file) in wanted
    ]


def _words(store: Store, root: str, findings: Sequence[Finding]) -> Recorded:
    """What the recorded run said of the findings."""
    from jitlint.confirm.verdict import Recorded
    from jitlint.driver.registry import rules
    from jitlint.record.compare import CONFIRMED, REFUTED, relative_to, verdicts

    name_of = relative_to(root)
    outcomes = {code: rule.outcome for code, rule in rules().items()}
    raised = [error for function in store.functions for error in function.errors]
    words: dict[int, tuple[str, str]] = {}
    for number, (finding, word) in enumerate(zip(findings, verdicts(store, findings, outcomes, name_of))):
        if word == CONFIRMED:
            span = range(finding.span.line, finding.span.end_line + 1)
            here = [e.exception for e in raised if e.file == name_of(finding.path) and e.line in span]
            words[number] = (word, f"a recorded run raised {' and '.join(dict.fromkeys(here))} here")
        elif word == REFUTED:
            words[number] = (
                word,
                "a recorded run went through here while JAX traced, and nothing was raised",
            )
    signatures = {
        (os.path.join(root, *function.file.split("/")), function.line): list(function.signatures)
        for function in store.functions
    }
    return Recorded(words, _program(store), store.jax, signatures)


def _program(store: Store) -> str:
    """The recorded command, for a reader."""
    return shlex.join([os.path.basename(part) for part in store.command[:1]] + store.command[1:])


def _progress(done: int, total: int) -> None:
    width = 30
    filled = width * done // max(total, 1)
    click.echo(f"\r\033[K[{'#' * filled}{'.' * (width - filled)}] {done}/{total}", nl=False, err=True)
