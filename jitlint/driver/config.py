"""Finds and reads the configuration files of a project (layer: ``driver``).

The nearest directory, from the given one upwards, with a ``jitlint.toml``, a ``[tool.jitlint]`` table in
``pyproject.toml`` or a ``[jitlint]`` section in ``setup.cfg`` (looked for in this order) configures the run.
What the keys mean and which values are good is decided in `jitlint.base.config`.
"""

from __future__ import annotations

import configparser
import difflib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jitlint.base.config import ConfigError, Settings, settings_from_mapping
from jitlint.base.plugins import installed_catalogues
from jitlint.driver.files import check_patterns


def with_installed(settings: Settings) -> Settings:
    """With the catalogues that other packages bring. Raises ConfigError for one that is not there."""
    return replace(settings, catalogue=(*installed_catalogues(), *settings.catalogue))


def load_settings(start: str, config: str = "") -> Settings:
    """The settings that hold for ``start``, a directory, and the catalogues of other packages; see ``_find``."""
    return with_installed(_find(start, config))


def _find(start: str, config: str) -> Settings:
    """The settings that hold for ``start``, a directory; defaults if nothing configures it.

    config: a file to use instead of the nearest one; its name says how it is read (``pyproject.toml``, ``setup.cfg``
    or, for any other, the form of ``jitlint.toml``). Raises ConfigError for a missing, unreadable or malformed
    file, an unknown key or a bad value.
    """
    if config:
        return _load(os.path.abspath(config), ())
    directory = os.path.abspath(start)
    while True:
        hidden = os.path.join(directory, ".jitlint.toml")
        if os.path.isfile(hidden):
            raise ConfigError(f"{_display(hidden)}: is not read; the file is called jitlint.toml")
        for name in _READERS:
            path = os.path.join(directory, name)
            table = _table(path)
            if table is not None:
                return _resolve(table, path, ())
        parent = os.path.dirname(directory)
        if parent == directory:
            return Settings()
        directory = parent


def _load(path: str, chain: tuple[str, ...]) -> Settings:
    """The settings of a file that somebody named. chain: the files that extend it."""
    if path in chain:
        raise ConfigError(f"{_display(chain[0])}: extend: {_display(path)} extends itself")
    if not os.path.isfile(path):
        raise ConfigError(f"{_display(path)}: no such configuration file")
    table = _table(path)
    if table is None:
        raise ConfigError(f"{_display(path)}: says nothing about jitlint")
    return _resolve(table, path, chain)


def _table(path: str) -> Mapping[str, object] | None:
    """What a file says about jitlint, or None."""
    name = os.path.basename(path)
    data = _read(path)
    if data is None:
        return None
    if name in ("pyproject.toml", "setup.cfg"):
        _refuse_misspelt(data, path)
        if b"jitlint" not in data:
            return None
    return _READERS.get(name, _from_jitlint_toml)(data, path)


def _refuse_misspelt(data: bytes, path: str) -> None:
    """Raises ConfigError for a section that is nearly called like ours: nobody else will read it either."""
    for match in _SECTION.finditer(data):
        name = match["name"].decode()
        if name != "jitlint" and difflib.get_close_matches(name, ("jitlint",), cutoff=0.85):
            wanted = "[tool.jitlint]" if path.endswith(".toml") else "[jitlint]"
            raise ConfigError(
                f"{_display(path)}: nobody reads [{match['all'].decode()}]; did you mean {wanted}?"
            )


def _resolve(table: Mapping[str, object], path: str, chain: tuple[str, ...]) -> Settings:
    directory = os.path.dirname(path)
    base: Settings | None = None
    extended = table.get("extend")
    if isinstance(extended, str) and extended.strip():
        base = _load(os.path.normpath(os.path.join(directory, extended.strip())), (*chain, path))
    settings = settings_from_mapping(table, _display(path), base)
    check_patterns(settings, _display(path))

    def absolute(name: str) -> str:
        return os.path.normpath(os.path.join(directory, name)) if name else ""

    return replace(
        settings,
        catalogue=tuple(absolute(name) for name in settings.catalogue),
        baseline=absolute(settings.baseline),
        extend=absolute(settings.extend),
        directory=directory,
        source=path,
    )


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{_display(path)}: cannot be read: {error.strerror or error}") from None


def _toml(data: bytes, path: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{_display(path)}: not valid TOML: {error}") from None


def _from_jitlint_toml(data: bytes, path: str) -> Mapping[str, object] | None:
    table = _toml(data, path)
    if "tool" in table:
        raise ConfigError(f"{_display(path)}: here the keys stand at the top, not below [tool.jitlint]")
    return table


def _from_pyproject(data: bytes, path: str) -> Mapping[str, object] | None:
    whole = _toml(data, path)
    if "jitlint" in whole:
        raise ConfigError(f"{_display(path)}: here the table is called [tool.jitlint], not [jitlint]")
    tool = whole.get("tool", {})
    table = tool.get("jitlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{_display(path)}: tool.jitlint must be a table")
    return table


def _from_setup_cfg(data: bytes, path: str) -> Mapping[str, object] | None:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(data.decode("utf-8"), _display(path))
    except (UnicodeDecodeError, configparser.Error) as error:
        why = " ".join(str(error).split())  # the parser writes several lines
        raise ConfigError(f"{_display(path)}: not a valid configuration file: {why}") from None
    for section in ("tool:jitlint", "tool.jitlint"):
        if parser.has_section(section):
            raise ConfigError(f"{_display(path)}: the section is called [jitlint], not [{section}]")
    return dict(parser["jitlint"]) if parser.has_section("jitlint") else None


def _display(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


_SECTION = re.compile(rb"^\s*\[(?P<all>(?:tool[.:]\s*)?(?P<name>[A-Za-z_-]+))[\].]", re.MULTILINE)
_READERS = {
    "jitlint.toml": _from_jitlint_toml,
    "pyproject.toml": _from_pyproject,
    "setup.cfg": _from_setup_cfg,
}
