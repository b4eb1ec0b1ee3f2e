"""Which files a run looks at (layer: ``driver``).

Directories are walked for ``*.py`` and ``*.ipynb`` in a fixed order, and for the texts that the settings name. Skipped are what ``.gitignore`` files and the ``exclude``
setting name, directories that hold no code of the project (virtual environments, caches, build output) and
symbolic links to directories (so there are no loops). What the user names explicitly is taken, but for files
that hold no Python, and, if that is forced, for what ``exclude`` names and what is installed below the project.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jitlint.base.config import ConfigError, Settings
from jitlint.driver.environments import is_installed
from jitlint.syntax.documents import NOTEBOOK, TEXTS, is_document

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SKIPPED_DIRECTORIES = frozenset(
    (
        ".bzr .direnv .eggs .git .hg .ipynb_checkpoints .jitlint_cache .mypy_cache .nox .pytest_cache .pytype "
        ".ruff_cache .svn .tox .venv .vscode .idea __pycache__ __pypackages__ _build build dist "
        "node_modules site-packages venv"
    ).split()
)
# A name without a suffix is as good as any.
_PYTHON = frozenset({"", ".py", ".pyi", ".pyw"})


@dataclass(slots=True)
class Found:
    """files: absolute paths in a fixed order. failures: (path, why) of what could not be looked into. excluded: what was
    given and is left out all the same. hidden: files and directories below what was given that a pattern leaves out."""

    files: list[str] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    texts: _Ignore | None = field(default=None, repr=False)

    def wants(self, name: str, path: str) -> bool:
        """Whether a walk takes a file of this name: Python, a notebook, or a text that the settings name."""
        if name.endswith((".py", NOTEBOOK)):
            return True
        return (
            self.texts is not None
            and os.path.splitext(name)[1].lower() in TEXTS
            and bool(self.texts.verdict(path, False))
        )


@dataclass(frozen=True, slots=True)
class _Ignore:
    """Patterns and the directory that they are relative to."""

    directory: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, is_directory: bool) -> bool | None:
        """True: ignored; False: explicitly kept; None: no pattern speaks about it."""
        relative = path[len(self.directory) :].lstrip(os.sep)
        return self.spec.check_file(relative + "/" if is_directory else relative).include

    def is_about(self, path: str, is_directory: bool) -> bool:
        """Whether the patterns hide a path, or a directory above it; never the one that they are relative to."""
        return path != self.directory and bool(self.verdict(path, is_directory))

    def but_for(self, named: str) -> _Ignore:
        """Without the patterns that hide a directory which was named, or one above it."""
        relative = named[len(self.directory) :].strip(os.sep)
        if not relative or not self.spec.check_file(relative + "/").include:
            return self
        kept = [p for p in self.spec.patterns if p.match_file(relative + "/") is None]
        return _Ignore(self.directory, type(self.spec)(kept))


class FileIgnores:
    """Which selectors are ignored in which files: patterns as in ``.gitignore``, relative to a directory."""

    def __init__(self, entries: Sequence[tuple[str, Sequence[str]]], directory: str) -> None:
        self._entries = [
            (_Ignore(directory, _checked_spec([pattern], "per-file-ignores")), selectors)
            for pattern, selectors in entries
        ]

    def selectors(self, path: str) -> list[str]:
        """The selectors that are ignored in the file at an absolute path."""
        found: list[str] = []
        for ignore, selectors in self._entries:
            if _inside(path, ignore.directory) and ignore.verdict(path, False):
                found += selectors
        return found


def find_files(
    paths: Iterable[str],
    exclude: Sequence[str] = (),
    exclude_root: str = "",
    unsaved: Container[str] = frozenset(),
    documents: Sequence[str] = (),
    *,
    force: bool = False,
) -> Found:
    """Walk the given files and directories. unsaved: files that count as existing. documents: patterns of texts that
    are taken too, relative to ``exclude_root`` like those in ``exclude``. force: ``exclude`` holds for what is given, too.

    A missing path, an unreadable directory or a file that is no Python becomes a failure; the rest is still walked.
    Files that are reached twice are listed once. Raises ConfigError for a pattern in ``exclude`` that is none.
    """
    found = Found()
    excluded = _checked_spec(exclude, "exclude") if exclude else None
    texts = _checked_spec(documents, "documents") if documents else None
    for path in map(os.path.abspath, paths):
        is_folder = os.path.isdir(path)
        top = _top_of(path, is_folder, exclude_root)
        exclusion = _Ignore(top, excluded) if excluded else None
        found.texts = _Ignore(top, texts) if texts else None
        if not (is_folder or os.path.exists(path) or path in unsaved):
            found.failures.append((path, "no such file or directory"))
        elif force and _is_left_out(path, is_folder, exclusion, top):
            found.excluded.append(path)
        elif is_folder:
            found.files.extend(_walk(path, _ignores_in(path, exclusion, force), found))
        elif why := _no_python(path, path in unsaved):
            found.failures.append((path, why))
        else:
            found.files.append(path)
    found.files = _unique(found.files)
    return found


def _is_left_out(path: str, is_folder: bool, exclusion: _Ignore | None, top: str) -> bool:
    """Whether nothing that is named, where others name files, is meant: an excluded path, and installed code below a project."""
    if exclusion and exclusion.is_about(path, is_folder):
        return True
    return path != top and is_installed(path) and not is_installed(top)


def _ignores_in(folder: str, exclusion: _Ignore | None, force: bool) -> list[_Ignore]:
    """What hides files in a folder that was named. force: what hides the folder itself does so, too."""
    ignores = [ignore.but_for(folder) for ignore in _ignores_above(folder)]
    if exclusion:
        ignores.append(exclusion if force else exclusion.but_for(folder))
    return ignores


def files_of(paths: Iterable[str], settings: Settings, unsaved: Container[str] = frozenset()) -> Found:
    """The files at the paths that the settings leave in; see `find_files`."""
    where = settings.directory
    return find_files(
        paths, settings.excluded, where, unsaved, settings.documents, force=settings.force_exclude
    )


def _top_of(path: str, is_folder: bool, exclude_root: str) -> str:
    """The directory that patterns for a path are relative to."""
    root = os.path.abspath(exclude_root or os.getcwd())
    return root if _inside(path, root) else path if is_folder else os.path.dirname(path)


def _no_python(path: str, unsaved: bool) -> str:
    """Why a file that was named is not looked into; "" if it is, as everything is that might be Python."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix in _PYTHON or is_document(path) or unsaved or not os.path.isfile(path):
        return ""
    try:
        with open(path, "rb") as stream:
            first = stream.readline(200)
    except OSError:
        return ""  # whoever reads it says so
    return "" if first.startswith(b"#!") and b"python" in first else f"{suffix} is no suffix of Python files"


def _walk(directory: str, ignores: list[_Ignore], found: Found) -> Iterator[str]:
    """Python files below ``directory``: its own first, then those of its subdirectories, by name."""
    waiting = [(directory, ignores)]
    while waiting:  # not by recursion: directories may be nested deeper than calls
        directory, ignores = waiting.pop()
        below: list[tuple[str, list[_Ignore]]] = []
        yield from _look_into(directory, ignores, found, below)
        waiting.extend(reversed(below))


def _look_into(
    directory: str, ignores: list[_Ignore], found: Found, below: list[tuple[str, list[_Ignore]]]
) -> Iterator[str]:
    """The Python files of one directory. below: gets its subdirectories and the patterns that hold there."""
    try:
        with os.scandir(directory) as iterator:
            entries = sorted(iterator, key=lambda entry: entry.name)
    except OSError as error:
        found.failures.append((directory, f"cannot be read: {error.strerror or error}"))
        return
    names = {entry.name for entry in entries}
    if ".gitignore" in names:
        own = _read_gitignore(directory)
        ignores = [*ignores, own] if own else ignores
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if _is_skipped(entry.name):
                continue
            if _ignored(entry.path, True, ignores):
                found.hidden.append(entry.path)
            elif not os.path.exists(os.path.join(entry.path, "pyvenv.cfg")):
                below.append((entry.path, ignores))
        elif found.wants(entry.name, entry.path) and _is_source(entry):
            if _ignored(entry.path, False, ignores):
                found.hidden.append(entry.path)
            else:
                yield entry.path


def _is_skipped(name: str) -> bool:
    return name in SKIPPED_DIRECTORIES or name.endswith(".egg-info")


def _is_source(entry: os.DirEntry[str]) -> bool:
    """Regular files and links to them. A link to nothing counts (it is reported), unless it is an editor's lock."""
    if os.path.isfile(entry.path):  # the entry's own method raises for a link that leads in a circle
        return True
    return entry.is_symlink() and not entry.name.startswith(".#") and not os.path.exists(entry.path)


def _ignored(path: str, is_directory: bool, ignores: list[_Ignore]) -> bool:
    """The innermost file that speaks about the path decides, as in git."""
    for ignore in reversed(ignores):
        verdict = ignore.verdict(path, is_directory)
        if verdict is not None:
            return verdict
    return False


def _ignores_above(directory: str) -> list[_Ignore]:
    """The .gitignore files between the enclosing repository's top and ``directory`` (exclusive), outermost first."""
    above: list[str] = []
    current = directory
    while not os.path.exists(os.path.join(current, ".git")):
        parent = os.path.dirname(current)
        if parent == current:
            return []
        above.append(parent)
        current = parent
    return [ignore for path in reversed(above) if (ignore := _read_gitignore(path))]


def _read_gitignore(directory: str) -> _Ignore | None:
    try:
        with open(os.path.join(directory, ".gitignore"), encoding="utf-8", errors="replace") as stream:
            lines = stream.read().splitlines()
    except OSError:
        return None
    return _Ignore(directory, _spec(lines))


def check_patterns(settings: Settings, where: str) -> None:
    """Raises ConfigError for a pattern of the settings that is none; where: the file that they come from."""
    file_patterns = [pattern for pattern, _ in settings.per_file_ignores]
    for key, patterns in (
        ("exclude", settings.exclude),
        ("extend-exclude", settings.extend_exclude),
        ("documents", settings.documents),
        ("per-file-ignores", file_patterns),
    ):
        if patterns:
            _checked_spec(patterns, f"{where}: {key}")


def check_option(patterns: Sequence[str], option: str) -> None:
    """Raises ConfigError for a pattern, given by an option, that is none."""
    _checked_spec(patterns, option)


def _checked_spec(patterns: Sequence[str], where: str) -> GitIgnoreSpec:
    """Patterns that the user has given. Raises ConfigError for one that is none."""
    spec = _spec(patterns)
    for pattern in patterns:
        wanted = pattern.strip() and not pattern.lstrip().startswith("#")
        if wanted and not any(each.include is not None for each in _spec([pattern]).patterns):
            raise ConfigError(f"{where}: {pattern!r} is not a pattern as in .gitignore")
    return spec


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # only runs that meet patterns pay for the import

    good: list[str] = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:  # a pattern that git would not understand either
            continue
        good.append(line)
    return GitIgnoreSpec.from_lines(good)


def _inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


def _unique(paths: list[str]) -> list[str]:
    """Without repetitions, links to a file that is listed anyway included."""
    seen: set[str] = set()
    unique: list[str] = []
    plain = {path for path in paths if not os.path.islink(path)}
    for path in paths:
        real = os.path.realpath(path) if path not in plain else path
        if real in seen or (real != path and real in plain):
            continue
        seen.add(real)
        unique.append(path)
    return unique
