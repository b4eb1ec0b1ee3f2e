"""The files of one run: found, hashed, named, and reduced to those that can matter (layer: ``driver``).

Files that the user named are reported on; files that they import (within the project) are context. Of a
directory, only files connected with JAX are analysed at all: those that mention a library, and what is
connected with them by imports, in either direction. On an unchanged tree nothing but file status is read.
What falls apart into units is said by `jitlint.driver.units`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jitlint.base.config import ConfigError, Settings
from jitlint.base.text import display_path
from jitlint.driver.environments import is_installed
from jitlint.driver.files import files_of, find_files
from jitlint.driver.memory.cache import Cache, FileEntry, cache_directory, entry_for
from jitlint.driver.memory.fingerprint import parser_fingerprint, tool_fingerprint
from jitlint.driver.memory.pack import digest
from jitlint.driver.project import Layout, module_names, project_root
from jitlint.driver.scan import mention_pattern, scan
from jitlint.driver.units import connected, units, with_names
from jitlint.syntax.documents import is_document, read_document

if TYPE_CHECKING:
    from jitlint.syntax.documents.document import Document


@dataclass(slots=True)
class Workspace:
    """What a run works on. All paths are absolute.

    root: the project's top. named: files asked for, in order. entries: every readable file, context included.
    names: dotted module names. relevant: what has to be read, in a fixed order. linked: what of it is analysed: a file
    that is named and has nothing to do with JAX is only read. edges: which files each file imports. failures: (path, why). excluded,
    hidden: what patterns leave out of what was named, and of what lies below it.
    lost: files that vanished or changed after the run had looked at them, and why they cannot be read. misled: the cache knew
    a file otherwise than it is; it has forgotten it, so whoever starts again is told the truth.
    """

    root: str
    layout: Layout
    cache: Cache
    named: list[str] = field(default_factory=list)
    entries: dict[str, FileEntry] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    relevant: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    edges: dict[str, set[str]] = field(default_factory=dict)
    failures: list[tuple[str, str]] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    misled: bool = False
    _documents: dict[str, Document] = field(default_factory=dict)
    _units: list[list[str]] | None = None

    @property
    def lines(self) -> int:
        """How many lines the named files have."""
        return sum(entry.scan.lines for path in self.named if (entry := self.entries.get(path)))

    def kept_path(self, path: str) -> str:
        """As remembered: relative to the project's top, so that the tree may move."""
        inside = self.root.rstrip(os.sep) + os.sep
        return path[len(inside) :] if path.startswith(inside) else os.path.relpath(path, self.root)

    @property
    def units(self) -> list[list[str]]:
        """The files that are analysed, in groups that imports connect."""
        if self._units is None:
            edges = with_names(self.edges, self.names, self.entries, self.root)
            self._units = units(self.linked, edges)
        return self._units

    @property
    def groups(self) -> list[list[str]]:
        """The files that are read, in groups of which each can be looked at without the others."""
        linked = set(self.linked)
        return [*self.units, *([path] for path in self.relevant if path not in linked)]

    def narrow(self, groups: Sequence[Sequence[str]]) -> None:
        """From now on, be about some of the groups."""
        kept = {path for group in groups for path in group}
        self._units = [unit for unit in self.units if unit[0] in kept]
        self.linked = [path for path in self.linked if path in kept]
        self.relevant = [path for path in self.relevant if path in kept]

    def content(self, path: str) -> bytes:
        """The bytes of a file of the run; of a notebook or a text, the module that its code makes.

        Raises OSError if it has become unreadable or is another one by now.
        """
        data = self.contents.get(path)
        if data is not None:
            return data
        entry = self.entries.get(path)
        try:
            with open(path, "rb") as stream:
                data = self.module(path, stream.read())
            if entry is not None and digest(data) != entry.digest:
                self.cache.forget(path)
                self.misled |= entry.holds_for(os.stat(path))
                raise OSError(errno.ESTALE, "it changed during the run")
        except OSError as error:
            if entry is not None:
                self.lost[path] = error.strerror or str(error)
            raise
        self.contents[path] = data
        return data

    def forget(self, path: str) -> None:
        """Read a file anew when it is asked for."""
        self.contents.pop(path, None)
        self._documents.pop(path, None)

    def module(self, path: str, data: bytes) -> bytes:
        """What is to be analysed of a file with these bytes."""
        if not is_document(path):
            return data
        document = self._documents[path] = read_document(path, data)
        if document.failure is None or b"jax" not in data:
            return document.data
        return document.data + b"# jax\n"  # so that it counts as a file that mentions it

    def document(self, path: str) -> Document | None:
        """How a notebook or a text was made a module; None for any other file, and for one that cannot be read."""
        if path not in self._documents and is_document(path):
            with contextlib.suppress(OSError):
                self.content(path)
        return self._documents.get(path)


def open_workspace(
    paths: Sequence[str],
    settings: Settings,
    use_cache: bool,
    unsaved: Mapping[str, bytes] | None = None,
    context: Sequence[str] = (),
) -> Workspace:
    """Find the files and everything about them that needs no parsing.

    unsaved: contents that take the place of what is on disk, by absolute path; such a file need not exist.
    context: files and folders whose files are read too, where imports connect them with the named ones.
    """
    cache = cache_of(project_root(paths), settings, use_cache)
    return read_workspace(paths, settings, cache, unsaved or {}, context)


def cache_of(root: str, settings: Settings, use_cache: bool) -> Cache:
    """The cache of the project at ``root``, or one in memory alone: nothing is written among installed code."""
    directory = cache_directory(root) if use_cache and not is_installed(root) else None
    return Cache(directory, root, tool_fingerprint(settings.catalogue), parser_fingerprint())


def read_workspace(
    paths: Sequence[str],
    settings: Settings,
    cache: Cache,
    unsaved: Mapping[str, bytes],
    context: Sequence[str] = (),
) -> Workspace:
    """As `open_workspace`, for somebody who has the project's cache."""
    workspace = Workspace(cache.root, Layout(cache.root, unsaved), cache)
    for path, data in unsaved.items():
        workspace.contents[path] = workspace.module(path, data)
    found = files_of(paths, settings, workspace.contents)
    workspace.failures, workspace.excluded, workspace.hidden = found.failures, found.excluded, found.hidden
    look = Look(workspace)
    workspace.named = [path for path in found.files if look.at(path, report=True)]
    nearby = find_files(context, settings.excluded, settings.directory)
    asked = {os.path.abspath(path) for path in context}
    for path, why in nearby.failures:
        if path in asked:  # a folder below that cannot be read holds nobody's callers
            raise ConfigError(f"--context: {display_path(path)}: {why}")
    around = nearby.files
    named = set(workspace.named)
    around = [path for path in around if path not in named and look.at(path, report=False)]
    workspace.edges = _with_context(workspace, look, around)
    name_and_choose(workspace, settings, paths, bool(around))
    return workspace


def name_and_choose(workspace: Workspace, settings: Settings, paths: Sequence[str], around: bool) -> None:
    """Name the modules and say which of them matter. around: files beside those that are named were looked at."""
    imports = {path: entry.scan.imports for path, entry in workspace.entries.items()}
    workspace.names = module_names(workspace.layout, imports)
    if around:
        neighbours = with_names(workspace.edges, workspace.names, workspace.entries, workspace.root)
        _keep(workspace, connected(neighbours, workspace.named))
    mentioning = [path for path, entry in workspace.entries.items() if entry.scan.mentions]
    # A file that is named itself is looked into in any case, if only to say that it is no Python.
    start = {os.path.abspath(path) for path in paths}
    if settings.traced or settings.catalogue:
        mentioning = list(workspace.entries)
    linked = connected(workspace.edges, mentioning)
    workspace.linked = [path for path in workspace.entries if path in linked]
    workspace.relevant = [path for path in workspace.entries if path in linked or path in start]


def look_again(workspace: Workspace, path: str, unsaved: bytes | None) -> bool:
    """A file holds something else. False: that concerns other files too, so all has to be read anew.

    unsaved: what it holds; None if the disk says so.
    """
    before = workspace.entries.get(path)
    workspace.forget(path)
    if before is None:
        return False
    if unsaved is not None:
        workspace.contents[path] = workspace.module(path, unsaved)
    if not Look(workspace).at(path, report=False):
        return False
    now = workspace.entries[path].scan
    return (now.mentions, now.imports) == (before.scan.mentions, before.scan.imports)


def _keep(workspace: Workspace, paths: set[str]) -> None:
    workspace.entries = {path: entry for path, entry in workspace.entries.items() if path in paths}
    workspace.names = {path: name for path, name in workspace.names.items() if path in paths}


class Look:
    """Reads files that the cache does not know; the catalogue is only loaded if there is one."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._pattern: re.Pattern[bytes] | None = None

    def at(self, path: str, report: bool) -> bool:
        """Make the file's entry. An unreadable one becomes a failure if it was asked for."""
        workspace = self._workspace
        try:
            if path in workspace.contents:  # unsaved text: nothing on disk says whether it has changed
                data = workspace.contents[path]
                workspace.entries[path] = entry_for(data, None, scan(data, self._mention()))
                return True
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):  # a device or a pipe may never end
                raise ValueError("it is not a regular file")
            entry = workspace.cache.file(path, status)
            if entry is None:
                data = workspace.content(path)
                entry = entry_for(data, status, scan(data, self._mention()))
                workspace.cache.remember(path, entry)
        except (OSError, ValueError) as error:
            if report:
                workspace.failures.append(
                    (path, f"cannot be read: {getattr(error, 'strerror', '') or error}")
                )
            return False
        workspace.entries[path] = entry
        return True

    def _mention(self) -> re.Pattern[bytes]:
        if self._pattern is None:
            cache = self._workspace.cache
            if not cache.libraries:
                from jitlint.catalogue.load import catalogue

                cache.keep_libraries(catalogue().libraries)
            self._pattern = mention_pattern(cache.libraries)
        return self._pattern


def _with_context(workspace: Workspace, look: Look, around: Sequence[str]) -> dict[str, set[str]]:
    """Add the project files that the named ones and those around import, at any remove. Gives each file's imported
    files. What installed files import is a whole environment: of that, only what is named counts."""
    installed: dict[str, bool] = {}
    edges: dict[str, set[str]] = {}
    waiting = [*reversed(around), *reversed(workspace.named)]
    while waiting:
        path = waiting.pop()
        if path in edges:
            continue
        targets = edges[path] = set()
        folder = os.path.dirname(path)
        if folder not in installed:
            installed[folder] = is_installed(folder)
        for imported in workspace.entries[path].scan.imports:
            for target in workspace.layout.resolve(path, imported):
                known = target in workspace.entries
                if not known and (installed[folder] or not look.at(target, report=False)):
                    continue
                if target != path:
                    targets.add(target)
        waiting.extend(sorted((target for target in targets if target not in edges), reverse=True))
    return edges
