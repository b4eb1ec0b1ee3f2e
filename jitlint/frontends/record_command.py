"""`jitlint record`: what JAX really traces while the user's own program runs (layer: ``frontends``)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from jitlint.base.config import ConfigError
from jitlint.frontends import console
from jitlint.frontends.console import OK

if TYPE_CHECKING:
    from jitlint.record.compare import Comparison, Missed, Recall
    from jitlint.record.store import RecordedChange

# So many reasons are shown for each function.
_MOST_CHANGES = 4


@click.command(
    short_help="Run a program and note what JAX traces and compiles.",
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option(
    "--store",
    metavar="FILE",
    default="",
    help="Where to keep what was seen, instead of .jitlint_recorded.json.",
)
@click.option("--reasons", is_flag=True, help="Ask JAX why it traces again.")
@click.option(
    "--merge", is_flag=True, help="Add the stores that are named instead of a command to the project's."
)
@click.option("--report", is_flag=True, help="Print the table of functions, slowest first.")
@click.option("--compare", is_flag=True, help="Compare with what jitlint says of the project.")
@console.COLOR
def record(
    command: tuple[str, ...],
    store: str,
    reasons: bool,
    merge: bool,
    report: bool,
    compare: bool,
    color: str,
) -> int:
    """Run COMMAND (pytest, a script, python -m ...) and note which functions of this project JAX traces, and how.

    The command runs as it would without jitlint, child processes included; its exit code is that of `record`. Without
    a command, --report and --compare speak of the last run. `check` and `confirm` use what was seen.

    \b
    Examples:
      jitlint record -- pytest           run the tests and note what JAX does
      jitlint record --report            what was compiled, slowest first, and why again
      jitlint record --merge ci.json     add what a run elsewhere has seen
      jitlint record --compare           which findings the run confirms or refutes
    """
    from jitlint.driver.project import project_root
    from jitlint.record.store import NAME, write_store

    root = project_root(["."])
    path = store or os.path.join(root, NAME)
    code = OK
    if merge:
        _merge(command, path, root)
    elif command:
        from jitlint.record.run import record as run_record

        found, code = run_record(command, root, reasons)
        write_store(found, path)
        staged = sum(1 for function in found.functions if function.staged)
        click.echo(
            f"jitlint: {staged} function{'s were' if staged != 1 else ' was'} traced and compiled; see `jitlint record --report`",
            err=True,
        )
        if found.functions and not found.precise:
            console.warn("before Python 3.12 lines and errors are not recorded, and recording is slower")
    elif not report and not compare:
        raise ConfigError("nothing to do: give a command after `--`, or --report or --compare")
    if report:
        _report(path, color)
    if compare:
        _compare(path, root)
    if report or compare:
        click.echo(_made_with(path, root))
    return code


def _merge(names: Sequence[str], path: str, root: str) -> None:
    """Put stores together. Raises ConfigError if one cannot be read, or none is named."""
    from jitlint.record.store import read_store, together, write_store

    if not names:
        raise ConfigError("nothing to merge: name the stores after `--merge`")
    stores = [read_store(name) for name in names]
    if os.path.exists(path):
        stores.insert(0, read_store(path))
    found = together(stores, root)
    lost = {n for store in stores for n in store.digests} - set(found.digests)
    if lost:
        console.warn(f"{len(lost)} file{'s' * (len(lost) > 1)} left out: another text ran than is here now")
    write_store(found, path)
    click.echo(f"jitlint: {len(found.functions)} functions from {len(stores)} stores", err=True)


def _made_with(path: str, root: str) -> str:
    """Which JAX was seen, and whether it is the one that findings are about."""
    from jitlint.driver.config import load_settings
    from jitlint.driver.target import target_of
    from jitlint.record.store import read_store
    from jitlint.report.recorded import recorded_with

    seen, settings = read_store(path), load_settings(root)
    target = target_of(root, settings.jax_version, settings.from_jax_version)
    return recorded_with(seen.jax, seen.python, target.version if target.is_other(seen.jax) else "")


def _report(path: str, color: str) -> None:
    from jitlint.record.store import read_store
    from jitlint.report.recorded import RecordedRow, recorded_table

    store = read_store(path)
    rows = [
        RecordedRow(
            f"{function.file}:{function.line}",
            function.qualname,
            tuple(sorted(function.root_of)),
            function.traces,
            function.compiles,
            function.trace_seconds + function.compile_seconds,
            len(function.signatures),
            sum(function.captured.values()),
            next(iter(function.signatures), ""),
            function.reasons[-1] if function.reasons else "",
            _changes(function.changes),
        )
        for function in store.functions
        if function.root_of
    ]
    rows += [
        RecordedRow(
            f"{each.file}:{each.line}", each.name, ("library",), None, each.compiles, each.seconds, 0, 0, "", "",
            _changes(each.changes, library=True),
        )
        for each in store.operations
    ]  # fmt: skip
    console.print_lines(recorded_table(rows, console.style_for(sys.stdout, color)))


def _changes(changes: Sequence[RecordedChange], library: bool = False) -> tuple[str, ...]:
    """The most frequent changes first."""
    from jitlint.record.compare import in_words

    return tuple(in_words(c, library) for c in sorted(changes, key=lambda c: -c.times)[:_MOST_CHANGES])


def _compare(path: str, root: str) -> None:
    from jitlint.base.diagnostic import Severity
    from jitlint.driver.config import load_settings
    from jitlint.driver.project import is_test
    from jitlint.driver.registry import rules
    from jitlint.driver.run import check, traced
    from jitlint.record.compare import IN_WORDS, compare_traced, missed, relative_to, tally, verdicts
    from jitlint.record.store import read_store, still_true

    whole = read_store(path)
    found = still_true(whole, root)
    if len(found.functions) < len(whole.functions):
        gone = len(whole.functions) - len(found.functions)
        console.warn(f"{gone} of {len(whole.functions)} functions left out: their files have changed since")
    settings = load_settings(root)
    name_of = relative_to(root)

    def in_test(file: str) -> bool:
        return is_test(os.path.join(root, file), root)

    compared = compare_traced(found, traced([root], settings).rows, name_of, in_test)
    findings = check([root], settings).findings
    words = verdicts(found, findings, {code: rule.outcome for code, rule in rules().items()}, name_of)
    for finding, word in zip(findings, words):
        if word:
            click.echo(
                f"{IN_WORDS[word]}: {finding.path}:{finding.span.line}: {finding.code} {finding.message}"
            )
    console.print_lines(_gaps(compared, missed(found, findings, name_of, in_test), root))
    for function, name in compared.wrong:
        click.echo(f"called traced, but static: {function.file}:{function.line} {function.qualname}: {name}")
    click.echo(f"traced-function recall {_recall(compared.recall)}")
    if compared.tests.staged:
        click.echo(f"traced-function recall in tests {_recall(compared.tests)}")
    click.echo(f"parameters called traced that were static {len(compared.wrong)} of {compared.parameters}")
    errors = [word for finding, word in zip(findings, words) if finding.severity is Severity.ERROR]
    click.echo(f"findings at error level {len(errors)}: {tally(errors)}")


def _gaps(compared: Comparison, missed: Sequence[Missed], root: str) -> Iterator[str]:
    """What the run showed and static analysis did not know, function by function."""
    from jitlint.record.compare import around

    gaps: dict[tuple[str, int, str], list[str]] = {}
    for function in compared.unseen:
        how = ", ".join(sorted(function.modes))
        key = (function.file, function.line, function.qualname.rpartition(".")[2])
        gaps.setdefault(key, []).append(f"not called traced; the run traced it ({how})")
    for function, name in compared.unknown:
        key = (function.file, function.line, function.qualname.rpartition(".")[2])
        gaps.setdefault(key, []).append(f"`{name}` is called static; the run traced it")
    for item in missed:
        name, first = item.function if item.function[0] else around(os.path.join(root, item.file), item.line)
        key = (item.file, first or item.line, name.rpartition(".")[2])
        gaps.setdefault(key, []).append(f"line {item.line}: {item.what}")
    for (file, line, name), listed in sorted(gaps.items()):
        yield f"missed in {file}:{line}{f' {name}' if name else ''}"
        yield from (f"    {what}" for what in listed)


def _recall(recall: Recall) -> str:
    whole = f"{recall.recalled} of {recall.staged}{_share(recall.recalled, recall.staged)}"
    return f"{whole}, with a traced argument {recall.with_tracers_recalled} of {recall.with_tracers}"


def _share(part: int, whole: int) -> str:
    return f" ({part / whole:.1%})" if whole else ""
