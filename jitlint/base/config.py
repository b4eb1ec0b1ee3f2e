"""What the user may configure, and how values are checked (layer: ``base``).

Holds the settings and turns plain mappings (from TOML or INI) into them. Finding and reading the files
is the driver's business (`jitlint.driver.config`).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jitlint.base.diagnostic import Confidence


class ConfigError(Exception):
    """A configuration file or option that cannot be used. The message is for the user."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that changes what a run reports.

    select, ignore: code prefixes (``JIT1``), codes, names or ``ALL``. exclude, traced: patterns.
    catalogue: files with additional library knowledge, as absolute paths after loading. directory: where
    the configuration was found, which the patterns of ``exclude`` are relative to.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_confidence: Confidence = Confidence.LIKELY
    exclude: tuple[str, ...] = ()
    traced: tuple[str, ...] = ()
    catalogue: tuple[str, ...] = ()
    directory: str = ""


_LISTS = ("select", "ignore", "exclude", "traced", "catalogue")
KEYS = (*_LISTS, "min-confidence")


def parse_confidence(value: object, where: str) -> Confidence:
    """A confidence by its name. Raises ConfigError for anything else."""
    names = [level.value for level in Confidence]
    if isinstance(value, str) and value in names:
        return Confidence(value)
    raise ConfigError(f"{where}: {value!r} is not a confidence; use {_or(names)}")


def settings_from_mapping(table: Mapping[str, object], where: str) -> Settings:
    """Check the keys and values of one configuration table. ``where`` names it in messages.

    Raises ConfigError for an unknown key (naming the nearest valid one) or a bad value.
    """
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in KEYS:
            raise ConfigError(f"{where}: unknown key {key!r}; {_nearest(key)}")
        if key == "min-confidence":
            values["min_confidence"] = parse_confidence(value, f"{where}: {key}")
        else:
            values[key] = _string_list(value, f"{where}: {key}")
    return Settings(**values)


def _string_list(value: object, where: str) -> tuple[str, ...]:
    """A list of strings; INI files give one string with commas or line breaks between the items."""
    if isinstance(value, str):
        return tuple(item.strip() for item in value.replace("\n", ",").split(",") if item.strip())
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ConfigError(f"{where}: expected a list of strings, not {value!r}")


def _nearest(key: str) -> str:
    close = difflib.get_close_matches(key.replace("_", "-"), KEYS, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"the keys are {_or(sorted(KEYS))}"


def _or(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " or " + names[-1]
