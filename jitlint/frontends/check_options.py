"""The options of `jitlint check`: in which order the help shows them, and what settings they make (layer: ``frontends``)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jitlint.base.config import Settings, file_ignores, string_list
from jitlint.base.config import jax_version as parse_jax_version
from jitlint.driver.files import check_option
from jitlint.frontends import console

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
