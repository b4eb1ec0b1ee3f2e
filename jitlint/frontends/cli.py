"""The command line: arguments to the driver, results to a reporter, and an exit code (layer: ``frontends``).

Exit codes: 0 nothing found, 1 findings, 2 the tool or its input failed. Imports that cost time happen inside
the commands, so that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import difflib
import os
import sys
from typing import Any

import click

import jitlint
from jitlint.base.config import ConfigError
from jitlint.base.result import AnalysisError
from jitlint.frontends.check_command import check
from jitlint.frontends.confirm_command import confirm
from jitlint.frontends.console import (
    COLOR,
    CONFIG,
    FAILED,
    ISOLATED,
    JOBS,
    NO_CACHE,
    OK,
    PATHS,
    ReaderGone,
    complain,
    complete_rule,
    print_lines,
    print_statistics,
    settings_for,
    style_for,
    warn_if_empty,
)
from jitlint.frontends.merge_command import merge
from jitlint.frontends.playground_command import playground
from jitlint.frontends.record_command import record
from jitlint.frontends.server_command import server
from jitlint.frontends.why_command import why

_GROUPS = {
    "Find and fix": ("check", "merge", "confirm", "record"),
    "Understand": ("explain", "why", "traced", "playground", "rules"),
    "Set up": ("server", "completion", "clean"),
}


class _Commands(click.Group):
    """The commands; who leaves the command out and names a path is told which one is missing."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands as click does, but under headings."""
        for heading, names in _GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(90)) for name in names])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            if not os.path.exists(args[0]):
                raise
            raise click.UsageError(
                f"{args[0]!r} is a path, not a command; to check it: jitlint check {args[0]}", ctx
            ) from None


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(jitlint.__version__, prog_name="jitlint", message="%(prog)s %(version)s")
def cli() -> None:
    """Find the code that JAX will refuse to trace, silently get wrong, or compile again and again.

    \b
    Examples:
      jitlint check                     everything below the working directory
      jitlint check model.py            one file, judged with its callers
      jitlint explain JIT101            what a rule means, and what to write instead
      jitlint why model.py:12           what jitlint knows of the values on a line
      jitlint COMMAND --help            the options of a command
    """


cli.add_command(check)
cli.add_command(merge)
cli.add_command(record)
cli.add_command(confirm)
cli.add_command(why)
cli.add_command(server)
cli.add_command(playground)


@cli.command(short_help="List the functions that JAX traces, and why.")
@PATHS
@click.option(
    "--output-format", type=click.Choice(["table", "json"]), default="table", help="A table or JSON."
)
@click.option("--statistics", is_flag=True, help="Show what was analysed and the time.")
@click.option("--show-path", is_flag=True, help="Show why each function is traced.")
@CONFIG
@ISOLATED
@JOBS
@NO_CACHE
@COLOR
def traced(
    paths: tuple[str, ...],
    output_format: str,
    statistics: bool,
    show_path: bool,
    config: str,
    isolated: bool,
    jobs: int | None,
    no_cache: bool,
    color: str,
) -> int:
    """List the functions under PATHS that JAX traces, and why.

    JAX runs a traced function in Python only once for each kind of arguments, with traced values in the place of arrays:
    they have a shape and a type, but no value yet. Nearly all rules are about such functions.

    \b
    Examples:
      jitlint traced model.py               the functions of one file
      jitlint traced --show-path model.py   with the calls that lead to each
      jitlint traced --output-format json   for a program
    """
    from jitlint.driver.run import traced as run_traced
    from jitlint.report.json import traced_json
    from jitlint.report.tables import traced_story, traced_table
    from jitlint.report.text import concise

    result = run_traced(
        paths or ["."], settings_for(paths, config, isolated), jobs=jobs, use_cache=not no_cache
    )
    if output_format == "json":
        print_lines([traced_json(result.rows)])
    else:
        print_lines(traced_table(result.rows, style_for(sys.stdout, color), show_path))
    print_lines(concise(result.problems, style_for(sys.stderr, color)), sys.stderr)
    warn_if_empty(result.statistics, result.problems)
    if output_format != "json":
        print_lines(traced_story(result.rows, style_for(sys.stdout, color), show_path))
    if statistics:
        print_statistics([], result.statistics, to_error=output_format == "json")
    return FAILED if result.problems else OK


@cli.command()
def rules() -> int:
    """List all rules."""
    from jitlint.driver.registry import rules as all_rules
    from jitlint.report.tables import rules_table

    print_lines(rules_table(all_rules().values(), style_for(sys.stdout)))
    return OK


@cli.command(short_help="Explain rules: what they report, why, what to write instead.")
@click.argument("rules", metavar="RULE...", nargs=-1, required=True, shell_complete=complete_rule)
@COLOR
def explain(rules: tuple[str, ...], color: str) -> int:
    """Say what a rule reports, why it matters and what to write instead.

    RULE is a code, a name or the beginning of a code, which means a family of rules. On a terminal what is longer than
    the screen goes through a pager; elsewhere it is Markdown.

    \b
    Examples:
      jitlint explain JIT101          one rule
      jitlint explain traced-branch   the same, by its name
      jitlint explain JIT1 key-reuse  a family, and another rule
    """
    from jitlint.frontends.explaining import pages, show

    show(pages(rules), color)
    return OK


@cli.command(short_help="Remove the cache.")
@PATHS
def clean(paths: tuple[str, ...]) -> int:
    """Remove the cache of the projects that PATHS (by default the working directory) are in."""
    from jitlint.base.text import display_path
    from jitlint.driver.memory.cache import remove_cache
    from jitlint.driver.project import project_root

    for path in paths or (".",):
        if not os.path.exists(path):
            raise ConfigError(f"{path}: no such file or directory")
        removed = remove_cache(project_root([path]))
        if removed:
            click.echo(f"Removed {display_path(removed)}.")
    return OK


@cli.command(short_help="Print what completes commands and options in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print what makes SHELL complete jitlint's commands and options.

    For bash: eval "$(jitlint completion bash)"
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "jitlint", "_JITLINT_COMPLETE").source())
    return OK


def _has_surroundings() -> bool:
    """Whether there is a working directory. Streams that were closed before the start become empty ones."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  open until the end
    try:
        os.getcwd()
    except OSError as error:
        complain(f"the working directory cannot be used: {error.strerror or error}")
        return False
    return True


def _as_ours(error: click.ClickException) -> str:
    """A message of the option parser in the style of all others."""
    if isinstance(error, click.NoSuchOption):
        near = difflib.get_close_matches(error.option_name, error.possibilities or (), n=1)
        return f"no such option {error.option_name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
    text = error.format_message().strip().rstrip(".").replace(". Did you mean", "; did you mean")
    return text[:1].lower() + text[1:]


def _say_how_to_use(error: click.UsageError) -> None:
    """What is wrong with the command line, in one line; the help where nothing was asked for."""
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        error.show()
        return
    text = _as_ours(error)
    if ";" not in text and error.ctx is not None:
        text += f"; `{error.ctx.command_path} --help` says more"
    complain(text)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code. Never raises for bad input."""
    if not _has_surroundings():
        return FAILED
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # names and source may hold what the terminal cannot show
            reconfigure(errors="backslashreplace")
    try:
        code: Any = cli.main(args=arguments, prog_name="jitlint", standalone_mode=False)
        return code if isinstance(code, int) else OK
    except click.UsageError as error:
        _say_how_to_use(error)
    except click.ClickException as error:
        complain(_as_ours(error))
    except click.Abort:
        complain("interrupted")
    except (ConfigError, AnalysisError) as error:
        complain(str(error))
    except ReaderGone as gone:
        if gone.args:
            complain(str(gone))
        # Python flushes standard output once more at exit; let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        if os.environ.get("JITLINT_DEBUG"):
            raise
        complain(f"internal error: {type(error).__name__}: {error} (JITLINT_DEBUG=1 shows where)")
    return FAILED
