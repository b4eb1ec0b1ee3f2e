"""Known findings that are not reported again (layer: ``driver``).

A baseline is a JSON file to commit. A finding is known when its fingerprint is listed, so edits elsewhere do
not bring it back. An entry is only dropped by a run that would have found it: one that looked at its file, for its rule, at
its confidence and severity, and met nothing that it could not analyse.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import msgspec

from jitlint.base.config import ConfigError
from jitlint.base.diagnostic import Confidence, Finding, Severity, Span
from jitlint.base.fingerprint import Lines, fingerprints
from jitlint.base.text import display_path
from jitlint.driver.writing import descriptor_of, save

_VERSION = 2


class _Entry(msgspec.Struct):
    fingerprint: str
    path: str
    code: str
    severity: Severity
    confidence: Confidence
    message: str


class _File(msgspec.Struct):
    version: int
    findings: list[_Entry]


class _Version(msgspec.Struct):
    version: int


@dataclass(frozen=True, slots=True)
class Looked:
    """What a run has looked at. files: absolute paths. folders: such of directories that were asked for as a whole.

    shows: of findings, those that the settings of the run ask for. is_whole: all that could bring a finding about was read.
    """

    files: Collection[str] = ()
    folders: Sequence[str] = ()
    shows: Callable[[Sequence[Finding]], list[Finding]] = field(default=list)
    is_whole: bool = False


NOWHERE = Looked()
"""A run that is asked about known findings, and not about those that are gone."""


@dataclass(frozen=True, slots=True)
class Compared:
    """new: findings that the baseline does not know. known: how many it does. gone: how many of its entries have no finding
    any more, as far as the run can tell."""

    new: list[Finding]
    known: int
    gone: int


@dataclass(frozen=True, slots=True)
class Written:
    """What a baseline lists now. is_first: there was none before. new, dropped: in comparison with before. kept: entries that
    the run has no say in."""

    entries: int
    is_first: bool
    new: int
    dropped: int
    kept: int


def compare(
    findings: Sequence[Finding],
    path: str,
    lines_of: Lines,
    looked: Looked = NOWHERE,
    is_changed: Callable[[Finding], bool] = lambda finding: False,
) -> Compared:
    """The findings without those that the baseline at ``path`` lists.

    is_changed: of equal findings, more than the baseline lists, these are the new ones. Raises ConfigError for a baseline that
    cannot be read.
    """
    entries = _read(path).findings
    listed = {entry.fingerprint for entry in entries}
    marks = fingerprints(findings, lines_of, _relative_to(path), is_changed)
    new = [finding for finding, mark in zip(findings, marks) if mark not in listed]
    return Compared(new, len(findings) - len(new), len(_gone(entries, marks, path, looked)))


def write(findings: Sequence[Finding], path: str, lines_of: Lines, looked: Looked) -> Written:
    """List these findings, and keep what else is listed unless the run knows that it is gone.

    Raises ConfigError if that cannot be written, and for a file that is no baseline.
    """
    place = _relative_to(path)
    before = _read(path).findings if _has_text(path) else []
    known = {entry.fingerprint for entry in before}
    marks = fingerprints(findings, lines_of, place)
    gone = _gone(before, marks, path, looked)
    kept = [each for each in before if each.fingerprint not in gone and each.fingerprint not in set(marks)]
    entries = [
        _Entry(mark, place(each.path), each.code, each.severity, each.confidence, each.message)
        for each, mark in zip(findings, marks)
    ]
    _save(path, [*entries, *kept], [entry.fingerprint for entry in before])
    new = sum(mark not in known for mark in marks)
    return Written(len(entries) + len(kept), not before, new, len(gone), len(kept))


def prune(findings: Sequence[Finding], path: str, lines_of: Lines, looked: Looked) -> int:
    """Drop the entries that have no finding any more, and list nothing new; how many these were. Raises ConfigError."""
    entries = _read(path).findings
    gone = _gone(entries, fingerprints(findings, lines_of, _relative_to(path)), path, looked)
    if gone:
        left = [each for each in entries if each.fingerprint not in gone]
        _save(path, left, [entry.fingerprint for entry in left])
    return len(gone)


def _gone(entries: Sequence[_Entry], marks: Sequence[str], path: str, looked: Looked) -> set[str]:
    """The fingerprints of entries that the run would have found again."""
    if not looked.is_whole:
        return set()
    found = set(marks)
    folder = os.path.dirname(os.path.abspath(path))
    missing = {
        entry.fingerprint: _finding(entry, os.path.normpath(os.path.join(folder, entry.path)))
        for entry in entries
        if entry.fingerprint not in found
    }
    shown = set(map(id, looked.shows(list(missing.values()))))
    return {mark for mark, each in missing.items() if id(each) in shown and _was_looked_at(each.path, looked)}


def _was_looked_at(path: str, looked: Looked) -> bool:
    if path in looked.files:
        return True
    below = any(path.startswith(folder.rstrip(os.sep) + os.sep) for folder in looked.folders)
    return below and not os.path.exists(path)


def _finding(entry: _Entry, path: str) -> Finding:
    return Finding(entry.code, "", entry.severity, entry.confidence, entry.message, path, Span(1, 1, 1, 1))


def _relative_to(baseline: str) -> Callable[[str], str]:
    """Names of files as the baseline writes them: relative to its own folder, with forward slashes."""
    folder = os.path.dirname(os.path.abspath(baseline))

    def relative(path: str) -> str:
        return os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/")

    return relative


def _save(path: str, entries: list[_Entry], before: Sequence[str]) -> None:
    """Write the entries by path; those that were listed before stay in their order, so that a diff shows what is new."""
    places = {mark: number for number, mark in enumerate(before)}
    entries.sort(key=lambda entry: (entry.path, places.get(entry.fingerprint, len(places))))
    save(path, msgspec.json.format(msgspec.json.encode(_File(_VERSION, entries)), indent=1) + b"\n")


def _has_text(path: str) -> bool:
    """Whether a file is there that holds something; a stream of this process, a device or a pipe is written only."""
    return descriptor_of(path) is None and os.path.isfile(path) and os.path.getsize(path) > 0


def _read(path: str) -> _File:
    try:
        with open(path, "rb") as stream:
            data = stream.read()
        version = msgspec.json.decode(data, type=_Version).version
        if version == _VERSION:
            return msgspec.json.decode(data, type=_File)
    except FileNotFoundError:
        raise ConfigError(f"{display_path(path)}: no such baseline; --write-baseline makes one") from None
    except OSError as error:
        raise ConfigError(f"{display_path(path)}: cannot be read: {error.strerror or error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ConfigError(
            f"{display_path(path)}: not a baseline, which is a file that --write-baseline has written"
        ) from None
    raise ConfigError(
        f"{display_path(path)}: a baseline of version {version}, not {_VERSION}; remove it and write a new one"
    )
