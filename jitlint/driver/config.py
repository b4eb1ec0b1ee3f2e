"""Finds and reads the configuration files of a project (layer: ``driver``).

The nearest directory, from the given one upwards, with a ``jitlint.toml``, a ``[tool.jitlint]`` table in
``pyproject.toml`` or a ``[jitlint]`` section in ``setup.cfg`` (looked for in this order) configures the run.
What the keys mean and which values are good is decided in `jitlint.base.config`.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jitlint.base.config import ConfigError, Settings, settings_from_mapping


def load_settings(start: str) -> Settings:
    """The settings that hold for ``start``, a directory; defaults if nothing configures it.

    Raises ConfigError for an unreadable or malformed file, an unknown key or a bad value.
    """
    directory = os.path.abspath(start)
    while True:
        found = _settings_in(directory)
        if found is not None:
            return found
        parent = os.path.dirname(directory)
        if parent == directory:
            return Settings()
        directory = parent


def _settings_in(directory: str) -> Settings | None:
    for name, reader in _READERS.items():
        path = os.path.join(directory, name)
        data = _read(path)
        if data is None or (name != "jitlint.toml" and b"jitlint" not in data):
            continue
        table = reader(data, path)
        if table is not None:
            return _resolve(table, path, directory)
    return None


def _resolve(table: Mapping[str, object], path: str, directory: str) -> Settings:
    settings = settings_from_mapping(table, _display(path))
    catalogue = tuple(os.path.normpath(os.path.join(directory, name)) for name in settings.catalogue)
    return replace(settings, catalogue=catalogue, directory=directory)


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
    return _toml(data, path)


def _from_pyproject(data: bytes, path: str) -> Mapping[str, object] | None:
    tool = _toml(data, path).get("tool", {})
    table = tool.get("jitlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{_display(path)}: tool.jitlint must be a table")
    return table


def _from_setup_cfg(data: bytes, path: str) -> Mapping[str, object] | None:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(data.decode("utf-8"))
    except (UnicodeDecodeError, configparser.Error) as error:
        raise ConfigError(f"{_display(path)}: not a valid configuration file: {error}") from None
    return dict(parser["jitlint"]) if parser.has_section("jitlint") else None


def _display(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


_READERS = {
    "jitlint.toml": _from_jitlint_toml,
    "pyproject.toml": _from_pyproject,
    "setup.cfg": _from_setup_cfg,
}
