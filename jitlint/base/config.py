"""What the user may configure, and how values are checked (layer: ``base``).

Holds the settings and turns plain mappings (from TOML or INI) into them. Finding and reading the files
is the driver's business (`jitlint.driver.config`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jitlint.base.diagnostic import Confidence, Severity


class ConfigError(Exception):
    """A configuration file or option that cannot be used. The message is for the user."""


TESTS = ("errors", "all")
"""What may be reported in test code."""

FileIgnores = tuple[tuple[str, tuple[str, ...]], ...]
"""Patterns of files, each with the selectors that are ignored in them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that changes what a run reports. `KEYS` says what each means to the user.

    min_severity: None means warning, and whatever is selected. catalogue, baseline, extend: absolute
    paths after loading. directory: where the configuration was found, which patterns are relative to. source: the
    configuration file, "" for none.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    per_file_ignores: FileIgnores = ()
    min_confidence: Confidence = Confidence.LIKELY
    min_severity: Severity | None = None
    tests: str = "errors"
    fixable: tuple[str, ...] = ()
    unfixable: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    documents: tuple[str, ...] = ()
    traced: tuple[str, ...] = ()
    catalogue: tuple[str, ...] = ()
    jax_version: str = ""
    from_jax_version: str = ""
    baseline: str = ""
    extend: str = ""
    directory: str = ""
    source: str = ""

    @property
    def excluded(self) -> tuple[str, ...]:
        """All patterns of files to leave out."""
        return (*self.exclude, *self.extend_exclude)


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the configuration, as the reference shows it. ``check`` turns a raw value into the setting."""

    name: str
    kind: str
    default: str
    help: str
    example: str
    check: Callable[[object, str], object] = field(repr=False)

    @property
    def attribute(self) -> str:
        """The name of the setting in `Settings`."""
        return self.name.replace("-", "_")


def parse_confidence(value: object, where: str) -> Confidence:
    """A confidence by its name. Raises ConfigError for anything else."""
    names = [level.value for level in Confidence]
    if isinstance(value, str) and value in names:
        return Confidence(value)
    raise ConfigError(f"{where}: {value!r} is not a confidence; use {_or(names)}")


def parse_severity(value: object, where: str) -> Severity:
    """A severity by its name. Raises ConfigError for anything else."""
    names = [level.value for level in Severity]
    if isinstance(value, str) and value in names:
        return Severity(value)
    raise ConfigError(f"{where}: {value!r} is not a severity; use {_or(names)}")


def parse_tests(value: object, where: str) -> str:
    """What to report in test code, by its name. Raises ConfigError for anything else."""
    if isinstance(value, str) and value in TESTS:
        return value
    raise ConfigError(f"{where}: {value!r} says nothing about tests; use {_or(list(TESTS))}")


def string_list(value: object, where: str) -> tuple[str, ...]:
    """A list of strings; INI files and options give one string with commas or line breaks between the items."""
    if isinstance(value, str):
        return tuple(item.strip() for item in value.replace("\n", ",").split(",") if item.strip())
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ConfigError(f"{where}: expected a list of strings, not {value!r}")


def file_ignores(value: object, where: str) -> FileIgnores:
    """Patterns with selectors: a table, or text in the manner of flake8 (``tests/*: JIT1, JIT305``).

    Raises ConfigError for anything else.
    """
    if isinstance(value, Mapping):
        return tuple((str(pattern), string_list(codes, where)) for pattern, codes in value.items())
    if not isinstance(value, str):
        raise ConfigError(f"{where}: expected a table of patterns and codes, not {value!r}")
    found: list[tuple[str, list[str]]] = []
    for item in value.replace("\n", ",").split(","):
        pattern, colon, code = item.rpartition(":")
        if colon and pattern.strip():
            found.append((pattern.strip(), []))
        if code.strip():
            if not found:
                raise ConfigError(f"{where}: expected PATTERN:CODES, not {item.strip()!r}")
            found[-1][1].append(code.strip())
    if any(not codes for _, codes in found):
        raise ConfigError(f"{where}: a pattern without codes in {value.strip()!r}")
    return tuple((pattern, tuple(codes)) for pattern, codes in found)


def _string(value: object, where: str) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ConfigError(f"{where}: expected a path, not {value!r}")


def boolean(value: object, where: str) -> bool:
    """Yes or no; INI files give a word. Raises ConfigError for anything else."""
    words = {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }
    found = (
        value
        if isinstance(value, bool)
        else words.get(value.strip().lower())
        if isinstance(value, str)
        else None
    )
    if found is None:
        raise ConfigError(f"{where}: {value!r} is neither true nor false")
    return found


def jax_version(value: object, where: str) -> str:
    """A version such as 0.6.2; TOML may give it as a number. Raises ConfigError for anything else."""
    text = str(value).strip()
    if isinstance(value, (str, float)) and re.fullmatch(r"\d+(\.\d+){1,3}", text):
        return text
    raise ConfigError(f"{where}: {value!r} is not a version of JAX; write 0.6.2, for example")


KEYS: tuple[Key, ...] = (
    Key(
        "select",
        "list of rules",
        "every rule that is on by default",
        "Report exactly these rules: prefixes (`JIT1`), codes, names or `ALL`. Where `select` and `ignore` both match,"
        " the more specific one decides, then `ignore`.",
        'select = ["JIT1", "JIT304", "key-reuse"]',
        string_list,
    ),
    Key(
        "extend-select",
        "list of rules",
        "none",
        "Report these rules too.",
        'extend-select = ["JIT702"]',
        string_list,
    ),
    Key("ignore", "list of rules", "none", "Do not report these rules.", 'ignore = ["JIT511"]', string_list),
    Key(
        "extend-ignore",
        "list of rules",
        "none",
        "Do not report these rules either: adds to the `ignore` of an extended configuration.",
        'extend-ignore = ["traced-format"]',
        string_list,
    ),
    Key(
        "per-file-ignores",
        "table from patterns to rules",
        "none",
        "Do not report these rules in these files. Patterns are those of `.gitignore`, relative to the configuration.",
        'per-file-ignores = {"tests/" = ["JIT3"], "docs/*.py" = ["ALL"]}',
        file_ignores,
    ),
    Key(
        "min-confidence",
        "`possible`, `likely` or `certain`",
        "`likely`",
        "The least confidence to report. *possible* includes public functions that merely look traceable.",
        'min-confidence = "certain"',
        parse_confidence,
    ),
    Key(
        "min-severity",
        "`error`, `warning` or `info`",
        "`warning`, and whatever is selected",
        "The least severity to report. *error*: JAX raises. *warning*: silently wrong, or wasted work. *info*: worth"
        " knowing, and errors that the code itself expects.",
        'min-severity = "info"',
        parse_severity,
    ),
    Key(
        "tests",
        "`errors` or `all`",
        "`errors`",
        "What to report in test code: `test_*.py`, `*_test.py`, `conftest.py` and folders called `test`, `tests` or `testing`."
        " Tests use keys again, jit at each call and print on purpose, so only errors are reported there; the last line"
        " says how many warnings are not.",
        'tests = "all"',
        parse_tests,
    ),
    Key(
        "fixable",
        "list of rules",
        "every rule that has fixes",
        "Fix only findings of these rules: prefixes, codes, names or `ALL`.",
        'fixable = ["JIT4", "traced-print"]',
        string_list,
    ),
    Key(
        "unfixable",
        "list of rules",
        "none",
        "Do not fix findings of these rules. Where `fixable` and `unfixable` both match, the more specific one decides,"
        " then `unfixable`.",
        'unfixable = ["JIT301"]',
        string_list,
    ),
    Key(
        "exclude",
        "list of patterns",
        "none",
        "Files and folders to leave out, as in `.gitignore`, relative to the configuration. `.gitignore` itself is"
        " respected in any case. What is named on the command line is taken all the same, unless `force-exclude` is on.",
        'exclude = ["docs/", "*_pb2.py"]',
        string_list,
    ),
    Key(
        "extend-exclude",
        "list of patterns",
        "none",
        "Leave these out too: adds to the `exclude` of an extended configuration.",
        'extend-exclude = ["third_party/"]',
        string_list,
    ),
    Key(
        "force-exclude",
        "`true` or `false`",
        "`false`; flake8, the pre-commit hook and editors, which name files themselves, do so in any case",
        "Leave out what `exclude` and `extend-exclude` name even where it is named on the command line.",
        "force-exclude = true",
        boolean,
    ),
    Key(
        "documents",
        "list of patterns",
        "none",
        "Markdown and reStructuredText files to look into when a folder is checked, for the Python code that they show:"
        " patterns as in `.gitignore`, relative to the configuration. What is named on the command line is looked into in any"
        " case; notebooks always are.",
        'documents = ["docs/**/*.md", "README.md"]',
        string_list,
    ),
    Key(
        "traced",
        "list of patterns",
        "none",
        "Functions that somebody else will trace, by fully qualified name.",
        'traced = ["mypkg.envs.*.step"]',
        string_list,
    ),
    Key(
        "catalogue",
        "list of files",
        "none",
        "More knowledge about libraries: your own jit wrappers, static helpers, traced base classes"
        " ([how to write one](catalogues.md)). Paths are relative to the configuration.",
        'catalogue = ["our_wrappers.toml"]',
        string_list,
    ),
    Key(
        "jax-version",
        "version",
        "the newest that `pyproject.toml`, `setup.cfg`, `setup.py`, `requirements*.txt` or a lock file allows, else the one that"
        " is installed beside jitlint, else the newest known",
        "The JAX that the code runs with, or is to run with. A name counts as removed only if this version has it no more. If"
        " the project asks for an older one, what that one has and this one has not is JIT513: the report of an upgrade.",
        'jax-version = "0.4.30"',
        jax_version,
    ),
    Key(
        "from-jax-version",
        "version",
        "what the project asks for, or has installed, if `jax-version` is newer",
        "The JAX that the code runs with today, where it is to move to `jax-version`.",
        'from-jax-version = "0.4.30"',
        jax_version,
    ),
    Key(
        "baseline",
        "file",
        "none",
        "Known findings that are not reported, as written by `--write-baseline`; `--prune-baseline` drops those that are gone.",
        'baseline = "jitlint-baseline.json"',
        _string,
    ),
    Key(
        "extend",
        "file",
        "none",
        "Another configuration file whose keys hold where this one says nothing; `extend-*` keys add up.",
        'extend = "../jitlint.toml"',
        _string,
    ),
)
_BY_NAME = {key.name: key for key in KEYS}
_OLD_NAMES = {"severity": "min-severity"}
"""Names that keys had before; they stay."""


def settings_from_mapping(table: Mapping[str, object], where: str, base: Settings | None = None) -> Settings:
    """Check the keys and values of one configuration table. ``where`` names it in messages.

    base: the extended settings, which hold where the table is silent. Raises ConfigError for an unknown key (naming
    the nearest valid one) or a bad value.
    """
    base = base if base is not None else Settings()
    values: dict[str, Any] = {key.attribute: getattr(base, key.attribute) for key in KEYS}
    for name, raw in table.items():
        if _OLD_NAMES.get(name) in table:
            raise ConfigError(
                f"{where}: {name!r} is the old name of {_OLD_NAMES[name]!r}; one of them is enough"
            )
        key = _BY_NAME.get(_OLD_NAMES.get(name, name))
        if key is None:
            raise ConfigError(f"{where}: unknown key {name!r}; {_nearest(name)}")
        value: Any = key.check(raw, f"{where}: {name}")
        values[key.attribute] = (*values[key.attribute], *value) if name.startswith("extend-") else value
    return Settings(**values)


def _nearest(key: str) -> str:
    close = difflib.get_close_matches(key.replace("_", "-"), _BY_NAME, n=1, cutoff=0.7)
    return f"did you mean {close[0]!r}?" if close else f"the keys are {_or(sorted(_BY_NAME))}"


def _or(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " or " + names[-1]
