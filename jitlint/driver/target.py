"""Which JAX a project asks for: the newest release that its requirements and its lock file allow (layer: ``driver``).

What it does: reads `pyproject.toml`, `setup.cfg`, `setup.py`, `requirements*.txt` and lock files at the top of the
project. What it does not: install, import or resolve anything.
"""

from __future__ import annotations

import configparser
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

LAST_PATCH: Final = {
    (0, 2): 28, (0, 3): 25, (0, 4): 38, (0, 5): 3, (0, 6): 2, (0, 7): 2, (0, 8): 3, (0, 9): 2, (0, 10): 2, (0, 11): 2,
    (0, 12): 1,
}  # fmt: skip
"""The releases that JAX has made: the last patch of each minor version (https://docs.jax.dev/en/latest/changelog.html)."""

_LOCKS: Final = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
_IN_SETUP_PY: Final = re.compile(r"""['"](jax(?:\[[^\]'"]*\])?\s*(?:[<>=!~][^'"]*)?)['"]""")
_CARET: Final = re.compile(r"^\^\s*(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Target:
    """The JAX that findings are about. version: "" for the newest that is known. why: where that is said, for people."""

    version: str = ""
    why: str = "nothing asks for another version"


def target_of(root: str, chosen: str = "") -> Target:
    """The JAX that the project below ``root`` runs with. chosen: what the configuration says, "" for nothing.

    Where several requirements speak of JAX, all of them hold; a lock file pins what they leave open.
    """
    if chosen:
        return Target(chosen, f"jax-version = {chosen}")
    asked = [(name, spec) for name, spec in _requirements(root) if str(spec)]
    pins = [version for name in _LOCKS for version in _locked(os.path.join(root, name))]
    if pins:
        newest = max(pins)
        return Target(str(newest), "the lock file")
    allowed = SpecifierSet(",".join(str(spec) for _, spec in asked)) if asked else SpecifierSet()
    found = [version for version in _releases() if version in allowed]
    if not asked or not found or found[-1] == _releases()[-1]:
        return Target()
    text = ", ".join(sorted({f"{name}: jax{spec}" for name, spec in asked}))
    return Target(str(found[-1]), text)


def _releases() -> list[Version]:
    return [Version(f"{a}.{b}.{patch}") for (a, b), last in LAST_PATCH.items() for patch in range(last + 1)]


def _requirements(root: str) -> Iterator[tuple[str, SpecifierSet]]:
    """File names with what they ask of JAX."""
    for name, text in _requirement_texts(root):
        try:
            requirement = Requirement(text.split("#")[0].split(" --")[0].strip())
        except InvalidRequirement:
            continue
        if requirement.name.lower() == "jax":
            yield name, requirement.specifier


def _requirement_texts(root: str) -> Iterator[tuple[str, str]]:
    project = _toml(os.path.join(root, "pyproject.toml"))
    table = project.get("project")
    if isinstance(table, dict):
        for text in _strings(table.get("dependencies")):
            yield "pyproject.toml", text
    tool = project.get("tool")
    poetry = tool.get("poetry") if isinstance(tool, dict) else None
    dependencies = poetry.get("dependencies") if isinstance(poetry, dict) else None
    if isinstance(dependencies, dict) and "jax" in dependencies:
        yield "pyproject.toml", f"jax{_poetry(dependencies['jax'])}"
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(_text(os.path.join(root, "setup.cfg")))
        for text in parser.get("options", "install_requires", fallback="").splitlines():
            yield "setup.cfg", text
    except configparser.Error:
        pass
    for found in _IN_SETUP_PY.findall(_text(os.path.join(root, "setup.py"))):
        yield "setup.py", found
    for name in ("requirements.txt", os.path.join("requirements", "requirements.txt")):
        for text in _text(os.path.join(root, name)).splitlines():
            yield name.replace(os.sep, "/"), text


def _poetry(value: Any) -> str:
    """A constraint of poetry's own kind as a specifier."""
    text = value.get("version", "") if isinstance(value, dict) else value
    if not isinstance(text, str):
        return ""
    caret = _CARET.match(text)
    if caret is not None:
        return f">={text[1:].strip()},<{caret[1]}.{int(caret[2]) + 1}" if caret[1] == "0" else f">={text[1:]}"
    try:
        return str(SpecifierSet(text)) if text[:1] in "<>=!~" else (f"=={text}" if text[:1].isdigit() else "")
    except InvalidSpecifier:
        return ""


def _locked(path: str) -> Iterator[Version]:
    for package in _toml(path).get("package", _toml(path).get("packages", [])):
        if isinstance(package, dict) and package.get("name") == "jax":
            try:
                yield Version(str(package.get("version")))
            except InvalidVersion:
                continue


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(1_000_000)
    except OSError:
        return ""


def _toml(path: str) -> dict[str, Any]:
    """A TOML file, {} when there is none or it is none: that is for its own tools to say."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open(path, "rb") as stream:
            return tomllib.load(stream)
    except (OSError, ValueError, RecursionError):
        return {}
