"""The options of `jitlint check`: in which order the help shows them, and what settings they make (layer: ``frontends``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import click

from jitlint.base.config import Settings, file_ignores, string_list
from jitlint.base.config import jax_version as parse_jax_version
from jitlint.driver.files import check_option
from jitlint.frontends import console
from jitlint.frontends.check_output import FORMATS

SECTIONS = {
    "What to report": (
        "select extend-select ignore extend-ignore per-file-ignores min-confidence min-severity tests baseline write-baseline"
        " prune-baseline diff no-recorded show-refuted add-noqa"
    ),
    "What to fix": "fix unsafe-fixes diff-fixes confirm show-fixes",
    "Which files": "exclude extend-exclude force-exclude context no-context stdin-filename show-files",
    "How to report": ("output-format output-file show-path statistics exit-zero color quiet verbose"),
    "Many machines": "shard executor scheduler",
    "Configuration and cache": "jax-version from-jax-version config isolated show-settings jobs no-cache",
}
"""The headings of the help, with the options below them."""

_REPORTING: Final = (
    click.option(
        "--output-format", type=click.Choice(FORMATS), default="full", help="How to report findings."
    ),
    click.option("--output-file", "-o", metavar="FILE", default="", help="Write the report to a file."),
    click.option(
        "--statistics", is_flag=True, help="Count findings per rule; show what was analysed and the time."
    ),
    click.option("--show-path", is_flag=True, help="Show every step from the transform to the finding."),
    click.option(
        "--baseline", metavar="FILE", default="", help="Do not report the findings that FILE lists."
    ),
    click.option(
        "--write-baseline",
        "write_baseline_to",
        metavar="FILE",
        default="",
        help="List all findings in FILE and report none; says how many are new in it.",
    ),
    click.option(
        "--prune-baseline",
        is_flag=True,
        help="Drop from the baseline what is not found any more; take nothing new in.",
    ),
    click.option("--no-recorded", is_flag=True, help="Do not use what `jitlint record` has seen."),
    click.option("--show-refuted", is_flag=True, help="Show, as info, what a recorded run has gone through."),
    click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings."),
    console.COLOR,
    click.option("-q", "--quiet", is_flag=True, help="Print findings only, no summary."),
    click.option(
        "-v", "--verbose", is_flag=True, help="Say which configuration holds, and what took how long."
    ),
)


def reporting(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say what becomes of findings: of a check, and of the parts of one."""
    for option in reversed(_REPORTING):
        command = option(command)
    return command


def with_options(
    settings: Settings, lists: dict[str, tuple[str, ...]], per_file_ignores: tuple[str, ...]
) -> Settings:
    """Options replace what the configuration says; ``--extend-*`` add to it."""
    changes: dict[str, Any] = {}
    for attribute, values in lists.items():
        option = "--" + attribute.replace("_", "-")
        given = (
            tuple(item for value in values for item in string_list(value, option))
            if "exclude" in attribute
            else console.selectors(values, option)
        )
        if given and "exclude" in attribute:
            check_option(given, option)
        if given:
            before = getattr(settings, attribute) if attribute.startswith("extend_") else ()
            changes[attribute] = (*before, *given)
    if per_file_ignores:
        ignores = file_ignores("\n".join(per_file_ignores), "--per-file-ignores")
        check_option([pattern for pattern, _ in ignores], "--per-file-ignores")
        changes["per_file_ignores"] = ignores
    return replace(settings, **changes)


def with_versions(settings: Settings, now: str, before: str) -> Settings:
    """The versions of JAX that options name replace those of the configuration."""
    if now:
        settings = replace(settings, jax_version=parse_jax_version(now, "--jax-version"))
    if before:
        settings = replace(settings, from_jax_version=parse_jax_version(before, "--from-jax-version"))
    return settings
