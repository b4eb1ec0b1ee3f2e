"""Which lines changed since a git revision, and where a finding is seen that such a line brings (layer: ``driver``).

git itself says what changed, and what files held before; jitlint reads the hunk headers of ``git diff``.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from jitlint.base.config import ConfigError
from jitlint.base.diagnostic import Finding, Related, Span
from jitlint.syntax.documents import is_document

_HUNK = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? @@")

Changes = dict[str, list[tuple[int, int]]]
"""Absolute path to ranges of changed lines, both ends included."""

_WHOLE_FILE = (1, 1 << 60)


def changed_lines(revision: str, directory: str) -> Changes:
    """The lines that differ between ``revision`` and the working tree of the repository around ``directory``.

    Files that git does not track yet have changed as a whole; of a file that got another name, its changed lines have. Raises
    ConfigError if git cannot say.
    """
    top = _top(directory)
    _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", what=revision)
    output = _git(
        top, "-c", "core.quotePath=false", "diff", "--unified=0", "--no-color", "--no-ext-diff", "--find-renames",
        "--src-prefix=a/", "--dst-prefix=b/", revision, "--",
    )  # fmt: skip
    changes: Changes = {}
    current: list[tuple[int, int]] = []
    for line in output.split(b"\n"):
        if line.startswith(b"+++ b/"):
            name = os.fsdecode(line[6:].rstrip(b"\t"))
            current = changes.setdefault(os.path.realpath(os.path.join(top, name)), [])
        elif line.startswith(b"@@") and (match := _HUNK.match(line)):
            first, count = int(match[1]), int(match[2] or 1)
            if count:
                current.append((first, first + count - 1))
    for untracked in _git(top, "ls-files", "--others", "--exclude-standard", "-z").split(b"\0"):
        if untracked:
            changes[os.path.realpath(os.path.join(top, os.fsdecode(untracked)))] = [_WHOLE_FILE]
    return changes


@dataclass(frozen=True, slots=True)
class Before:
    """The files that differ from a revision, as they were there: contents by absolute path, nothing in those that are new.

    gone: files that are not there any more, with the path that they have now if they got another one, else their own.
    """

    texts: dict[str, bytes]
    gone: dict[str, str]


def before(revision: str, directory: str) -> Before:
    """What a revision of the repository around ``directory`` holds instead of what is in the working tree."""
    top = _top(directory)
    shown = os.path.normpath(os.path.join(directory, os.path.relpath(top, os.path.realpath(directory))))
    found = Before({}, {})
    asked: dict[str, bytes] = {}
    for status, old, new in _listed(top, revision):
        path, now = (os.path.join(shown, os.fsdecode(name)) for name in (old, new))
        if not (path.endswith(".py") or is_document(path)) or b"\n" in old:
            continue
        if status in b"A?CR":
            found.texts[now] = b""
        if status in b"MDRT":
            asked[path] = old
        if status in b"DR":
            found.gone[path] = now
    for path, data in zip(asked, _contents(top, revision, list(asked.values()))):
        if data is not None:
            found.texts[path] = data
    return found


def _listed(top: str, revision: str) -> Iterator[tuple[bytes, bytes, bytes]]:
    """What happened to files since the revision, by git's letter, with their names then and now."""
    words = iter(
        _git(top, "diff", "--name-status", "-z", "--no-ext-diff", "--find-renames", revision, "--").split(
            b"\0"
        )
    )
    for status in words:
        if status:
            old = next(words)
            yield status[:1], old, next(words) if status[:1] in b"RC" else old
    for untracked in _git(top, "ls-files", "--others", "--exclude-standard", "-z").split(b"\0"):
        if untracked:
            yield b"?", untracked, untracked


def _contents(top: str, revision: str, names: Sequence[bytes]) -> Iterator[bytes | None]:
    """What files hold in a revision; None for what is no file there, such as a repository inside."""
    asked = b"".join(os.fsencode(revision) + b":" + name + b"\n" for name in names)
    answer = _git(top, "cat-file", "--batch", given=asked) if names else b""
    for _ in names:
        header, _, answer = answer.partition(b"\n")
        if not header[-1:].isdigit():
            yield None
            continue
        kind, size = header.split(b" ")[-2:]
        yield answer[: int(size)] if kind == b"blob" else None
        answer = answer[int(size) + 1 :]


def may_be_brought(finding: Finding, changes: Changes) -> bool:
    """Whether a step on the way to a finding has changed, so that the change may have brought it about.

    In notebooks the ``file_line`` of steps has to be known, here and below.
    """
    return any(_has_changed(changes, step.path, step.span) for step in finding.related)


def has_changed(finding: Finding, changes: Changes) -> bool:
    """Whether the flagged lines themselves have changed."""
    return _has_changed(changes, finding.path, finding.span)


def in_sight(finding: Finding, named: Container[str], changes: Changes | None = None) -> Finding:
    """The finding at a place that whoever asked can see: its own, or else the last step on the way to it.

    named: the files that were asked for, as absolute paths. changes: only lines that have changed are looked at. A finding
    that is shown at one of its steps says where it is in its message, and in a step of its own.
    """

    def is_seen(path: str, span: Span) -> bool:
        return os.path.abspath(path) in named and (changes is None or _has_changed(changes, path, span))

    path, span = finding.path, finding.span
    if is_seen(path, span):
        return finding
    for step in reversed(finding.related):
        if is_seen(step.path, step.span):
            return replace(
                finding,
                path=step.path,
                span=step.span,
                message=f"{finding.message} ({span.within(path)}:{span.line}:{span.column})",
                related=(*finding.related, Related(path, span, "and leads to this line")),
            )
    return finding


def _has_changed(changes: Changes, path: str, span: Span) -> bool:
    ranges = changes.get(os.path.realpath(path), ())
    start, end = span.line, span.end_line
    if span.cell:  # git knows the file only
        start, end = span.file_line, span.file_line + end - start
    return any(first <= end and start <= last for first, last in ranges)


def _top(directory: str) -> str:
    return os.fsdecode(_git(directory, "rev-parse", "--show-toplevel").rstrip(b"\n"))


def _git(directory: str, *arguments: str, what: str = "", given: bytes = b"") -> bytes:
    command: Sequence[str] = ("git", "-C", directory, *arguments)
    try:
        done = subprocess.run(command, capture_output=True, check=False, input=given)
    except OSError as error:
        raise ConfigError(f"--diff needs git, which cannot be run: {error.strerror or error}") from None
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
        raise ConfigError(f"--diff: {f'no commit {what!r}' if what else why}")
    return done.stdout
