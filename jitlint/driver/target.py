"""Which JAX a project asks for: the newest release that its requirements and its lock file allow (layer: ``driver``).

What it does: reads `pyproject.toml`, `setup.cfg`, `setup.py`, `requirements*.txt` and lock files at the top of the
project. What it does not: install, import or resolve anything.
"""

from __future__ import annotations

import configparser
import glob
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

LAST_PATCH: Final = {
    (0, 2): 28, (0, 3): 25, (0, 4): 38, (0, 5): 3, (0, 6): 2, (0, 7): 2, (0, 8): 3, (0, 9): 2, (0, 10): 2, (0, 11): 2,
    (0, 12): 0,
}  # fmt: skip
"""The releases that JAX has made: the last patch of each minor version (https://docs.jax.dev/en/latest/changelog.html)."""

_LOCKS: Final = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
_IN_SETUP_PY: Final = re.compile(r"""['"]((?:jax|flax)(?:\[[^\]'"]*\])?\s*(?:[<>=!~][^'"]*)?)['"]""")
_FLAX: Final = [Version(f"0.{minor}.{patch}") for minor in range(3, 13) for patch in range(12)]
"""What flax may have released, and more: what a project allows of it is compared with these."""
_OWN: Final = re.compile(r"""^_version\s*=\s*['"](\d+\.\d+(?:\.\d+)?)['"]""", re.MULTILINE)
_PLAIN: Final = re.compile(r"\d+(\.\d+)+")
_CARET: Final = re.compile(r"^\^\s*(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Target:
    """The JAX that findings are about. version: "" for the newest that is known. why: where that is said, for people.

    before: the JAX that the project comes from, where it is to move to a newer one; "" where it is not. before_why: who says
    so. lowest: the oldest release that the project allows, "" if it says nothing. flax: its oldest and newest, likewise.
    """

    version: str = ""
    why: str = "nothing asks for another version"
    before: str = ""
    before_why: str = ""
    lowest: str = ""
    flax: tuple[str, str] = ("", "")

    @property
    def words(self) -> str:
        """All of it, for people."""
        to = f"{self.version or 'newest known'} ({self.why})"
        also = f"; {self.lowest} is allowed too" if self.lowest and self.lowest != self.version else ""
        return (
            f"{to}{also}" if not self.before else f"{to}, coming from {self.before} ({self.before_why}){also}"
        )

    def is_other(self, ran: str) -> bool:
        """Whether a JAX that was run is known to be another one than this. ``0.12`` is all of 0.12."""
        plain = _PLAIN.match(ran)
        if not self.version or plain is None:
            return False
        wanted = Version(self.version).release
        return Version(plain[0]).release[: len(wanted)] != wanted


def beyond_what_is_known(version: str) -> str:
    """The newest JAX that anything is known of, if a version is newer than that; else ""."""
    minor = max(LAST_PATCH)
    newest = (*minor, LAST_PATCH[minor])
    return ".".join(map(str, newest)) if version and Version(version).release[:3] > newest else ""


def target_of(root: str, chosen: str = "", before: str = "") -> Target:
    """The JAX that the project below ``root`` runs with. chosen, before: what the configuration says, "" for nothing.

    Else what the project asks for: where several requirements speak of JAX, all of them hold; a lock file pins what they
    leave open. Else the JAX that is installed beside jitlint, else the newest that is known. A chosen version that is newer
    than what the project asks for, or has, is one that it is to move to.
    """
    asked, flax = _asked(root), _flax(root)
    if not chosen:
        found = replace(asked or _installed() or Target(), flax=flax)
        is_upgrade = before and _is_newer(found.version, before)
        return (
            replace(found, before=before, before_why=f"from-jax-version = {before}") if is_upgrade else found
        )
    now = Target(chosen, f"jax-version = {chosen}", lowest=asked.lowest if asked else "", flax=flax)
    if before:
        come = Target(before, f"from-jax-version = {before}")
    else:
        come = asked or _installed() or Target()
    if not come.version or not _is_newer(chosen, come.version):
        return now
    return replace(now, before=come.version, before_why=come.why, lowest="")


def _is_newer(version: str, other: str) -> bool:
    """Whether one version is newer than another; "" is the newest, and ``0.12`` is all of 0.12."""
    if not version:
        return True
    length = 2 if version.count(".") < 2 or other.count(".") < 2 else 4
    return Version(version).release[:length] > Version(other).release[:length]


def _asked(root: str) -> Target | None:
    """What the project's own files ask for; JAX itself is what its own file says that it is."""
    itself = _OWN.search(_text(os.path.join(root, "jax", "version.py")))
    if itself is not None:
        return Target(itself[1], "this is JAX itself", lowest=itself[1])
    asked = [(name, spec) for name, spec in _requirements(root, "jax") if str(spec)]
    pins = [version for name in _LOCKS for version in _locked(os.path.join(root, name), "jax")]
    if pins:
        return Target(str(max(pins)), "the lock file", lowest=str(min(pins)))
    first = [(name, spec) for name, spec in asked if not _is_apart(name)]
    groups = [first] if first else [[one] for one in asked]
    return next((found for group in groups if (found := _allowed(group)) is not None), None)


def _flax(root: str) -> tuple[str, str]:
    """The oldest and the newest flax that satisfy all requirements, or that the lock file pins; "" twice if nothing is said."""
    asked = ",".join(str(spec) for _, spec in _requirements(root, "flax") if str(spec))
    found = [version for version in _FLAX if asked and version in SpecifierSet(asked)]
    found = sorted(pin for name in _LOCKS for pin in _locked(os.path.join(root, name), "flax")) or found
    return (str(found[0]), str(found[-1])) if found else ("", "")


def _allowed(asked: list[tuple[str, SpecifierSet]]) -> Target | None:
    """The releases that satisfy some requirements; None if there are none."""
    allowed = SpecifierSet(",".join(str(spec) for _, spec in asked))
    found = [version for version in _releases() if version in allowed]
    if not found:
        return None
    text = ", ".join(sorted({f"{name}: jax{spec}" for name, spec in asked}))
    return Target("" if found[-1] == _releases()[-1] else str(found[-1]), text, lowest=str(found[0]))


def _is_apart(name: str) -> bool:
    """Whether a file of requirements is one of several, for tests or for another machine."""
    return os.path.basename(name) not in ("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt")


def _installed() -> Target | None:
    """The JAX beside jitlint: its metadata is read, nothing is imported."""
    import importlib.metadata  # only where nobody says which JAX it is

    try:
        version = importlib.metadata.version("jax")
    except importlib.metadata.PackageNotFoundError:
        return None
    plain = _PLAIN.match(version)
    return Target(plain[0], "installed beside jitlint") if plain else None


def _releases() -> list[Version]:
    return [Version(f"{a}.{b}.{patch}") for (a, b), last in LAST_PATCH.items() for patch in range(last + 1)]


def _requirements(root: str, library: str) -> Iterator[tuple[str, SpecifierSet]]:
    """File names with what they ask of a library."""
    for name, text in _requirement_texts(root):
        try:
            requirement = Requirement(text.split("#")[0].split(" --")[0].strip())
        except InvalidRequirement:
            continue
        if requirement.name.lower() == library:
            yield name, requirement.specifier


def _requirement_texts(root: str) -> Iterator[tuple[str, str]]:
    yield from _in_pyproject(_toml(os.path.join(root, "pyproject.toml")))
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(_text(os.path.join(root, "setup.cfg")))
        for text in parser.get("options", "install_requires", fallback="").splitlines():
            yield "setup.cfg", text
    except configparser.Error:
        pass
    for found in _IN_SETUP_PY.findall(_text(os.path.join(root, "setup.py"))):
        yield "setup.py", found
    for pattern in ("requirements*.txt", os.path.join("requirements", "*.txt")):
        for path in sorted(glob.glob(os.path.join(glob.escape(root), pattern))):
            for text in _text(path).splitlines():
                yield os.path.relpath(path, root).replace(os.sep, "/"), text


def _in_pyproject(project: dict[str, Any]) -> Iterator[tuple[str, str]]:
    table = project.get("project")
    if isinstance(table, dict):
        for text in _strings(table.get("dependencies")):
            yield "pyproject.toml", text
        extras = table.get("optional-dependencies")
        for name, texts in extras.items() if isinstance(extras, dict) else ():
            for text in _strings(texts):
                yield f"pyproject.toml [{name}]", text
    tool = project.get("tool")
    poetry = tool.get("poetry") if isinstance(tool, dict) else None
    dependencies = poetry.get("dependencies") if isinstance(poetry, dict) else None
    for library in ("jax", "flax"):
        if isinstance(dependencies, dict) and library in dependencies:
            yield "pyproject.toml", f"{library}{_poetry(dependencies[library])}"


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


def _locked(path: str, library: str) -> Iterator[Version]:
    for package in _toml(path).get("package", _toml(path).get("packages", [])):
        if isinstance(package, dict) and package.get("name") == library:
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
