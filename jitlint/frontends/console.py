"""What the commands share: printing, colours, complaints and the settings of a run (layer: ``frontends``)."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

import click
from click.core import ParameterSource

from jitlint.base.config import Settings
from jitlint.base.text import split_lines

if TYPE_CHECKING:
    from jitlint.base.diagnostic import Finding
    from jitlint.base.result import Statistics
    from jitlint.driver.processes.schedule import Progress
    from jitlint.report.style import Style

OK, FINDINGS, FAILED = 0, 1, 2


def _no_empty_path(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    if any(not path.strip() for path in value):
        raise click.UsageError("a path is empty; is a variable of the shell not set?", ctx)
    return value


PATHS = click.argument("paths", nargs=-1, metavar="[PATHS]...", callback=_no_empty_path)
JOBS = click.option("--jobs", type=click.IntRange(min=1), help="Processes to use; by default all processors.")
NO_CACHE = click.option("--no-cache", is_flag=True, help="Neither read nor write .jitlint_cache.")
CONFIG = click.option(
    "--config", metavar="FILE", default="", help="Use this configuration file instead of the nearest one."
)
ISOLATED = click.option("--isolated", is_flag=True, help="Ignore all configuration files.")
COLOR = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colours: on a terminal (auto), always or never.",
)


class ReaderGone(Exception):
    """Nobody reads our output any more: it was closed, or (then the exception says so) it cannot be written.

    Not an OSError, which click would answer with exit code 1.
    """


class SectionedCommand(click.Command):
    """A command with so many options that its help shows them under headings.

    sections: heading to the long names of its options; the others come last.
    """

    def __init__(self, *arguments: Any, sections: Mapping[str, str], **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._sections = {heading: names.split() for heading, names in sections.items()}

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, but not with an option that was given nothing: whoever writes one wants something else than
        what holds without it."""
        for parameter in self.params:
            given = ctx.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
            value = ctx.params.get(parameter.name or "")
            values = value if isinstance(value, tuple) else (value,)
            if given and any(isinstance(each, str) and not each.strip(" ,") for each in values):
                raise click.UsageError(
                    f"`{parameter.opts[0]}` is given nothing; is a variable of the shell not set?", ctx
                )
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, as click does, but in sections."""
        rows: dict[str, list[tuple[str, str]]] = {
            heading: [] for heading in (*self._sections, "Other options")
        }
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None and isinstance(parameter, click.Option):
                rows[self._heading(parameter.opts)].append(row)
        for heading, listed in rows.items():
            if listed:
                with formatter.section(heading):
                    formatter.write_dl(listed)

    def _heading(self, names: Sequence[str]) -> str:
        known = {name.lstrip("-") for name in names}
        return next((h for h, listed in self._sections.items() if known & set(listed)), "Other options")


class Texts:
    """The source lines of one run's files. unsaved: contents that take the place of files, by absolute path."""

    def __init__(self, unsaved: Mapping[str, bytes]) -> None:
        self._unsaved = unsaved
        self._known: dict[str, list[str]] = {}

    def lines(self, place: str) -> list[str]:
        """The lines of a file, or of a cell (`Span.within`); none if it has become unreadable.

        Does without the parser: showing a remembered finding should not load it.
        """
        if place not in self._known:
            self._known[place] = self._read(place)
        return self._known[place]

    def _read(self, place: str) -> list[str]:
        from jitlint.driver.documents import is_notebook, lines_in_cell

        path, mark, cell = place.rpartition(":cell ")
        if mark and cell.isdecimal() and is_notebook(path):
            return [*lines_in_cell(path, int(cell), self._unsaved)]
        data = self._unsaved.get(os.path.abspath(place))
        try:
            if data is not None:
                return split_lines(_decoded(data))
            if os.path.splitext(place)[1] not in ("", ".py"):
                with open(place, "rb") as binary:
                    return split_lines(_decoded(binary.read()))
            with tokenize.open(place) as stream:
                return stream.read().split("\n")
        except (OSError, SyntaxError, UnicodeError, ValueError, LookupError):
            return []


def _decoded(data: bytes) -> str:
    from jitlint.syntax.source import SyntaxProblem, decode

    text = decode(data)
    return "" if isinstance(text, SyntaxProblem) else text


def settings_for(paths: tuple[str, ...], config: str = "", isolated: bool = False) -> Settings:
    """The configuration that holds where the paths are. Raises ConfigError for a bad one."""
    from jitlint.base.config import ConfigError
    from jitlint.driver.config import load_settings, with_installed
    from jitlint.driver.project import project_root

    if isolated and config:
        raise ConfigError("--config and --isolated exclude each other")
    return with_installed(Settings()) if isolated else load_settings(project_root(paths or ["."]), config)


def complete_rule(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Codes and names of rules, for the shell."""
    from jitlint.driver.registry import rules

    known = [*rules(), *(rule.name for rule in rules().values())]
    return [name for name in known if name.lower().startswith(incomplete.lower())]


def selectors(values: Sequence[str], option: str) -> tuple[str, ...]:
    """The selectors that an option was given. Raises ConfigError, naming it, for one that matches no rule."""
    from jitlint.base.config import string_list
    from jitlint.driver.registry import rules
    from jitlint.driver.select import check_selectors

    given = tuple(item for value in values for item in string_list(value, option))
    if given:
        check_selectors(given, rules(), option)
    return given


def style_for(stream: TextIO, color: str = "auto") -> Style:
    """Colours, links and width as the stream, the environment and ``--color`` want them."""
    from jitlint.report.style import Style, columns_for, wants_colours, wants_links

    terminal = stream.isatty()
    return Style(
        wants_colours(terminal) if color == "auto" else color == "always",
        wants_links(terminal) and color != "never",
        columns_for(shutil.get_terminal_size().columns if terminal else 0),
    )


def print_lines(lines: Iterable[str], stream: TextIO | None = None) -> None:
    """Write lines. Raises ReaderGone if nobody reads them."""
    target = stream or sys.stdout
    try:
        for line in lines:
            target.write(line + "\n")
        target.flush()
    except BrokenPipeError:
        raise ReaderGone from None
    except OSError as error:
        raise ReaderGone(f"the output cannot be written: {error.strerror or error}") from None


def print_statistics(findings: list[Finding], statistics: Statistics, to_error: bool) -> None:
    """The numbers of a run; to standard error where standard output is for a machine."""
    from jitlint.report.statistics import statistics_lines

    print_lines(statistics_lines(findings, statistics), sys.stderr if to_error else sys.stdout)


def warn_if_empty(statistics: Statistics, problems: list[Finding]) -> None:
    """A run over nothing is probably a mistake, unless somebody wanted it so."""
    if statistics.files or problems or statistics.excluded:
        return
    names, more = statistics.hidden[:3], len(statistics.hidden) - 3
    shown = ", ".join(names) + (f" and {more:,} more" if more > 0 else "")
    warn("no Python files found" + (f"; `exclude` or .gitignore leaves out {shown}" if names else ""))


def warn(message: str) -> None:
    """A sentence on standard error."""
    click.echo(f"jitlint: warning: {message}", err=True)


def complain(message: str) -> None:
    """Why the run failed, on standard error."""
    click.echo(f"jitlint: error: {message}", err=True)


FIRST_SHOWN, SHOWN_EVERY = 0.7, 0.1
"""Seconds until the line of progress appears, and between its changes."""


class _ProgressLine:
    """One line on a terminal that says what is going on, and is gone in the end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._start = time.monotonic()
        self._words = "Looking for files"
        self._shown = False

    def update(self, done: int, total: int) -> None:
        """``done`` of ``total`` files have been read."""
        files = f"{total:,} file{'s' if total != 1 else ''}"
        self._words = f"Reading {done:,} of {files}" if done < total else f"Analysing {files}"

    def draw(self, *_signal: object) -> None:
        """Not through the stream, which may be in the middle of a line."""
        passed = f"{self._words} ({time.monotonic() - self._start:.0f} s)"
        self._write(f"\r\033[K{passed}")
        self._shown = True

    def remove(self) -> None:
        """Leave the terminal as it was."""
        if self._shown:
            self._write("\r\033[K")

    def _write(self, text: str) -> None:
        with suppress(OSError):
            os.write(self._descriptor, text.encode())


@contextmanager
def progress_line(wanted: bool) -> Iterator[Progress | None]:
    """Says on a terminal what is going on, once that takes longer than a moment.

    Driven by a timer of the process: the analysis has no steps of equal length, and workers are forked, which threads
    would not survive.
    """
    in_main = threading.current_thread() is threading.main_thread()
    can = in_main and hasattr(signal, "setitimer") and os.environ.get("TERM") != "dumb"
    if not wanted or not can or not sys.stderr.isatty():
        yield None
        return
    line = _ProgressLine(sys.stderr.fileno())
    before = signal.signal(signal.SIGALRM, line.draw)
    signal.setitimer(signal.ITIMER_REAL, FIRST_SHOWN, SHOWN_EVERY)
    try:
        yield line.update
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        line.remove()
