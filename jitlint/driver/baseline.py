"""Known findings that are not reported again (layer: ``driver``).

A baseline is a JSON file to commit. A finding is known when its fingerprint is listed, so edits elsewhere do
not bring it back; what has been fixed is dropped when the file is written the next time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import msgspec

from jitlint.base.config import ConfigError
from jitlint.base.diagnostic import Finding
from jitlint.base.fingerprint import Lines, fingerprints
from jitlint.base.text import display_path
from jitlint.driver.writing import save

_VERSION = 1


class _Entry(msgspec.Struct):
    fingerprint: str
    path: str
    code: str
    message: str


class _File(msgspec.Struct):
    version: int
    findings: list[_Entry]


@dataclass(frozen=True, slots=True)
class Compared:
    """new: findings that the baseline does not know. known: how many it does. fixed: how many of its entries, in
    the files of this run, have no finding any more."""

    new: list[Finding]
    known: int
    fixed: int


def compare(findings: Sequence[Finding], path: str, lines_of: Lines, looked_at: Collection[str]) -> Compared:
    """The findings without those that the baseline at ``path`` lists.

    looked_at: the files of the run. Raises ConfigError for a baseline that cannot be read.
    """
    entries = _read(path).findings
    listed = {entry.fingerprint for entry in entries}
    marks = fingerprints(findings, lines_of, _relative_to(path))
    new = [finding for finding, mark in zip(findings, marks) if mark not in listed]
    files = {_relative_to(path)(name) for name in looked_at}
    found = set(marks)
    fixed = sum(entry.path in files and entry.fingerprint not in found for entry in entries)
    return Compared(new, len(findings) - len(new), fixed)


def write(findings: Sequence[Finding], path: str, lines_of: Lines) -> int:
    """Write a baseline of these findings; how many entries it has. Raises ConfigError if it cannot be written."""
    place = _relative_to(path)
    marks = fingerprints(findings, lines_of, place)
    entries = [_Entry(m, place(f.path), f.code, f.message) for f, m in zip(findings, marks)]
    data = msgspec.json.format(msgspec.json.encode(_File(_VERSION, entries)), indent=1) + b"\n"
    save(path, data)
    return len(entries)


def _relative_to(baseline: str) -> Callable[[str], str]:
    """Names of files as the baseline writes them: relative to its own folder, with forward slashes."""
    folder = os.path.dirname(os.path.abspath(baseline))

    def relative(path: str) -> str:
        return os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/")

    return relative


def _read(path: str) -> _File:
    try:
        with open(path, "rb") as stream:
            found = msgspec.json.decode(stream.read(), type=_File)
    except FileNotFoundError:
        raise ConfigError(f"{display_path(path)}: no such baseline; --write-baseline makes one") from None
    except OSError as error:
        raise ConfigError(f"{display_path(path)}: cannot be read: {error.strerror or error}") from None
    except msgspec.DecodeError as error:
        raise ConfigError(f"{display_path(path)}: not a baseline: {error}") from None
    if found.version != _VERSION:
        raise ConfigError(f"{display_path(path)}: a baseline of version {found.version}, not {_VERSION}")
    return found
