"""Where a project begins, what its modules are called and which files import which (layer: ``driver``).

Imports are resolved to files only well enough to decide what belongs to a run; the names layer resolves
them for real. Paths are absolute throughout. Nothing here reads a source file.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from jitlint.driver.environments import is_installed

MARKERS = ("jitlint.toml", "pyproject.toml", "setup.cfg", "setup.py", ".git")
_SUBPROJECT = ("pyproject.toml", "setup.cfg", "setup.py")
_CODE_OF_TESTS = frozenset(("test", "tests", "testing"))
_TEST_DIRECTORIES = _CODE_OF_TESTS | {"example", "examples", "demo", "demos", "benchmark", "benchmarks"}


def project_root(paths: Sequence[str]) -> str:
    """The nearest directory above all the paths that looks like a project's top, else their common directory."""
    directories = [
        path if os.path.isdir(path) else os.path.dirname(path) for path in map(os.path.abspath, paths)
    ]
    common = os.path.commonpath(directories) if directories else os.getcwd()
    current = common
    while os.path.dirname(current) != current:
        if _is_top(current) and not is_installed(current):
            return current
        current = os.path.dirname(current)
    return common


def _is_top(directory: str) -> bool:
    return any(os.path.exists(os.path.join(directory, marker)) for marker in MARKERS)


def callers_of(paths: Sequence[str]) -> tuple[str, ...]:
    """Where to look for callers of what is at the paths: all of their project, if they are not all of it themselves.

    Of what belongs to no project, its package and the modules beside it: the folder around may be anybody's home. What is
    installed is judged by itself.
    """
    named = [path for path in map(os.path.abspath, paths) if not is_installed(path)]
    if not named:
        return ()
    root = project_root(named)
    if _is_top(root):
        return () if root in named else (root,)
    around: dict[str, None] = {}
    for path in named:
        own = project_root([path])
        around.update(dict.fromkeys((own,) if _is_top(own) else _beside(path)))
    return tuple(each for each in around if each not in named)


def _beside(path: str) -> list[str]:
    """The package that a path is in, and the modules in the folder around it; of a folder that is no package, nothing."""
    package, folder = "", path if os.path.isdir(path) else os.path.dirname(path)
    if folder == path and not _is_package(folder):
        return []
    while _is_package(folder) and os.path.dirname(folder) != folder:
        package, folder = folder, os.path.dirname(folder)
    found = [package] if package else []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        found += sorted(
            entry.path for entry in entries if entry.name.endswith(".py") and os.path.isfile(entry.path)
        )
    return found


def _is_package(directory: str) -> bool:
    return os.path.exists(os.path.join(directory, "__init__.py"))


class Layout:
    """The directories of one project: which are packages, where imports start. Remembers what it looked up.

    When the project's top is itself a package, names start in the directory above, but what else lies there
    does not belong to the project. unsaved: files that count as existing, by absolute path.
    """

    def __init__(self, root: str, unsaved: Iterable[str] = ()) -> None:
        self.root = root
        self._unsaved: dict[str, tuple[set[str], set[str]]] = {}
        for path in unsaved:
            self._count_as_existing(path)
        self._listings: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        self._start: dict[str, str] = {}
        self._found: dict[tuple[str, str], str] = {}
        self._resolved: dict[tuple[str, str], list[str]] = {}
        self._top = root
        while self.is_package(self.root) and os.path.dirname(self.root) != self.root:
            self._top = self.root
            self.root = os.path.dirname(self.root)

    def _count_as_existing(self, path: str) -> None:
        directory, name = os.path.split(path)
        self._unsaved.setdefault(directory, (set(), set()))[0].add(name)
        while _inside(directory, self.root) and directory != self.root:
            directory, name = os.path.split(directory)
            self._unsaved.setdefault(directory, (set(), set()))[1].add(name)

    def is_package(self, directory: str) -> bool:
        """Whether a directory holds an ``__init__.py``."""
        return "__init__.py" in self._listing(directory)[0]

    def start(self, path: str) -> str:
        """The directory that imports of the module at ``path`` start from: its source folder or the project's top."""
        directory = os.path.dirname(path)
        known = self._start.get(directory)
        if known is None:
            known = directory
            while known != self.root and (self.is_package(known) or not self._is_source_folder(known)):
                known = os.path.dirname(known)
            self._start[directory] = known
        return known

    def resolve(self, path: str, imported: str) -> list[str]:
        """Files of the project that importing ``imported`` in the file ``path`` runs: packages, then the module."""
        key = (os.path.dirname(path), imported)
        known = self._resolved.get(key)
        if known is None:
            known = self._resolved[key] = self._resolve(*key)
        return known

    def _resolve(self, base: str, imported: str) -> list[str]:
        dots = len(imported) - len(imported.lstrip("."))
        parts = [part for part in imported[dots:].split(".") if part]
        if dots:
            for _ in range(dots - 1):
                base = os.path.dirname(base)
            return self._follow(base, parts) if _inside(base, self.root) else []
        if not parts:
            return []
        found = self.search(base, parts[0]) or self._beside(base, parts[0])
        return self._follow(found, parts) if found else []

    def _beside(self, directory: str, first: str) -> str:
        """The directory itself, if it is a package whose scripts run where they lie: their neighbours go by their bare names."""
        near = any({f"{first}.py", first} & names for names in self._listing(directory))
        return directory if near and first not in sys.stdlib_module_names else ""

    def search(self, directory: str, first: str) -> str:
        """The directory in which a script or test in ``directory`` finds the top-level module ``first``, or ""."""
        key = (directory, first)
        known = self._found.get(key)
        if known is None:
            known = ""
            for start in self._starts_above(directory):
                files, directories = self._listing(start)
                if f"{first}.py" in files or first in directories:
                    known = start if _inside(os.path.join(start, first), self._top) else ""
                    break
            self._found[key] = known
        return known

    def _starts_above(self, directory: str) -> Iterable[str]:
        """Nearest first. Inside a regular package, neighbours are not importable by their bare name."""
        current = directory
        while _inside(current, self.root):
            if not self.is_package(current):
                yield current
            for name in ("src", "python", "lib"):
                if name in self._listing(current)[1]:
                    yield os.path.join(current, name)
            above = os.path.dirname(current)
            if above == current:
                return
            current = above

    def _follow(self, base: str, parts: Sequence[str]) -> list[str]:
        found: list[str] = []
        current = base
        if self.is_package(base):
            found.append(os.path.join(base, "__init__.py"))
        for part in parts:
            files, directories = self._listing(current)
            if part not in directories:
                found += [os.path.join(current, f"{part}.py")] if f"{part}.py" in files else []
                break
            current = os.path.join(current, part)
            if self.is_package(current):
                found.append(os.path.join(current, "__init__.py"))
        return found

    def _is_source_folder(self, directory: str) -> bool:
        if directory == self.root or os.path.basename(directory) == "src":
            return True
        return not self._listing(directory)[0].isdisjoint(_SUBPROJECT)

    def _listing(self, directory: str) -> tuple[frozenset[str], frozenset[str]]:
        """Names of the Python files (and project markers) and of the directories in ``directory``."""
        known = self._listings.get(directory)
        if known is None:
            files, directories = set(), set()
            try:
                with os.scandir(directory) as entries:
                    for entry in entries:
                        if entry.is_dir():
                            directories.add(entry.name)
                        elif entry.name.endswith(".py") or entry.name in _SUBPROJECT:
                            files.add(entry.name)
            except OSError:
                pass  # what cannot be listed has no modules
            more_files, more_directories = self._unsaved.get(directory, ((), ()))
            files.update(name for name in more_files if name.endswith(".py"))
            directories.update(more_directories)
            known = self._listings[directory] = (frozenset(files), frozenset(directories))
        return known


def module_names(layout: Layout, imports: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """A unique dotted name for every path in ``imports`` (path to what the file imports, as written).

    A folder below the project's top can be imported as ``folder`` (by a script beside it) or as
    ``above.folder``; what most of the project's own imports say decides, the longer name if they say nothing.
    """
    votes = Counter(
        os.path.join(base, first)
        for path, names in imports.items()
        for name in names
        if (first := name.partition(".")[0]) and (base := layout.search(os.path.dirname(path), first))
    )
    longest = {path: _dotted(path, layout.start(path)) for path in imports}
    chosen = {path: _dotted(path, _voted_start(path, layout.start(path), votes)) for path in imports}
    clashes = {name for name, count in Counter(chosen.values()).items() if count > 1}
    names: dict[str, str] = {}
    taken: set[str] = set()
    # Packages come first: of `a.py` and `a/__init__.py`, Python imports the package.
    for path in sorted(chosen, key=lambda path: (not path.endswith("__init__.py"), path)):
        name = longest[path] if chosen[path] in clashes else chosen[path]
        if name in taken:
            name = _dotted(path, layout.root)
        while name in taken:
            name += "~"
        taken.add(name)
        names[path] = name
    return names


def _voted_start(path: str, outermost: str, votes: Mapping[str, int]) -> str:
    """The directory from which most imports reach the folders around ``path``."""
    best, most = outermost, 0
    folder = os.path.dirname(path)
    while folder != outermost and _inside(folder, outermost):
        if votes.get(folder, 0) >= max(most, 1):
            best, most = os.path.dirname(folder), votes[folder]
        folder = os.path.dirname(folder)
    return best


def is_test(path: str, root: str) -> bool:
    """Whether a file belongs to the tests, examples or benchmarks of the project at ``root``."""
    return _is_in(path, root, _TEST_DIRECTORIES)


def is_test_code(path: str, root: str) -> bool:
    """Whether a file belongs to the tests of the project at ``root``; examples and benchmarks are programs."""
    return _is_in(path, root, _CODE_OF_TESTS)


def _is_in(path: str, root: str, directories: frozenset[str]) -> bool:
    parts = os.path.relpath(path, root).split(os.sep)
    name = parts[-1]
    return (
        name.startswith("test_")
        or name.endswith(("_test.py", "_tests.py"))
        or name == "conftest.py"
        or not directories.isdisjoint(parts[:-1])
    )


def _dotted(path: str, start: str) -> str:
    relative = os.path.relpath(path, start)
    parts = relative.removesuffix(".py").split(os.sep)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(part.replace(".", "_") for part in parts) or os.path.basename(start)


def _inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)
