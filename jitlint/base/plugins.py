"""What other installed packages bring: rules and catalogue files, by entry points (layer: ``base``).

A package that has an entry point in one of the two groups is imported; nothing else is, and nothing of the project that
is checked. What makes a good rule is said here, whether it contradicts others by the registry.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from jitlint.base.config import ConfigError
from jitlint.base.rule import Rule

RULES: Final = "jitlint.rules"
CATALOGUES: Final = "jitlint.catalogue"

_CODE = re.compile(r"(?!JIT)[A-Z]{2,10}\d{3}")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Found:
    """What one entry point gives. package: who brings it, with its version."""

    package: str
    point: str
    value: Any

    def complain(self, what: str) -> ConfigError:
        """The error that names who is to blame."""
        return ConfigError(f"package {self.package}, entry point {self.point!r}: {what}")


@functools.cache
def installed_rules() -> tuple[tuple[Found, Rule], ...]:
    """The rules of other packages. Raises ConfigError for one that cannot be loaded or is no good rule."""
    return tuple((found, rule) for found in _load(RULES) for rule in _rules(found))


@functools.cache
def installed_catalogues() -> tuple[str, ...]:
    """The catalogue files of other packages, by absolute path. Raises ConfigError for one that is not there."""
    return tuple(path for found in _load(CATALOGUES) for path in _paths(found))


def stamps() -> Iterator[str]:
    """What changes whenever another package might bring something else."""
    yield from points()
    for name, path in modules():
        status = os.stat(path)
        yield f"{name} {status.st_size} {status.st_mtime_ns}"


def points() -> Iterator[str]:
    """Which packages bring something, by their own words."""
    for group in (RULES, CATALOGUES):
        for point in _entry_points(group):
            yield f"{group} {_package(point)} {point.value}"


def modules() -> Iterator[tuple[str, str]]:
    """The modules of other packages' rules, and their files."""
    names = {found_rule.checks[0][1].__module__ for _, found_rule in installed_rules() if found_rule.checks}
    for name in sorted(names):
        path = getattr(sys.modules.get(name), "__file__", None)
        if path:
            yield name, path


def _rules(found: Found) -> Iterator[Rule]:
    for rule in _listed(found, Rule, "a Rule, or several"):
        if not _CODE.fullmatch(rule.code):
            raise found.complain(
                f"{rule.code!r} is no code for a rule of your own; write capitals other than JIT and three digits, ACM101"
            )
        if not _NAME.fullmatch(rule.name):
            raise found.complain(f"{rule.name!r} is no name for a rule; write small letters and hyphens")
        yield rule


def _paths(found: Found) -> Iterator[str]:
    for path in _listed(found, (str, os.PathLike), "the path of a file, or several"):
        absolute = os.path.abspath(path)
        if not os.path.isfile(absolute):
            raise found.complain(f"{absolute}: no such file")
        yield absolute


def _listed(found: Found, kind: Any, wanted: str) -> list[Any]:
    several = isinstance(found.value, Iterable) and not isinstance(found.value, (str, os.PathLike))
    listed = list(found.value) if several else [found.value]
    if not all(isinstance(each, kind) for each in listed):
        raise found.complain(f"expected {wanted}, not {found.value!r}")
    return listed


def _load(group: str) -> Iterator[Found]:
    for point in _entry_points(group):
        name = _package(point)
        try:
            yield Found(name, point.name, point.load())
        except Exception as error:  # whatever the module of somebody else does
            why = f"cannot be loaded: {type(error).__name__}: {error}"
            raise Found(name, point.name, None).complain(why) from error


def _package(point: Any) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "unknown"


@functools.cache
def _entry_points(group: str) -> tuple[Any, ...]:
    if os.environ.get("JITLINT_NO_PLUGINS") or not _is_mentioned():
        return ()
    import importlib.metadata

    found = importlib.metadata.entry_points(group=group)
    return tuple(sorted(found, key=lambda point: (_package(point), point.name)))


@functools.cache
def _is_mentioned() -> bool:
    """Whether any installed package brings something. To look costs less than to import what knows exactly."""
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                metadata = [each.path for each in entries if each.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for path in metadata:
            try:
                with open(os.path.join(path, "entry_points.txt"), "rb") as stream:
                    if b"[jitlint." in stream.read():
                        return True
            except OSError:
                continue
    return False
