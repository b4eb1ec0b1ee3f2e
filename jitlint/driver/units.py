"""What a program falls apart into: groups of modules that no import connects (layer: ``driver``).

What one unit does says nothing about another: the analysis runs over each of them alone, and what it found holds until a
module of that very unit says something else. Two ways of finding imported files are put together, that of the
project's folders and that of the modules' names, by which the analysis follows imports: an import that only one of them
understands connects all the same. What an import means is said in `jitlint.link.engine.imports`; nothing is read here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from jitlint.driver.memory.cache import FileEntry
from jitlint.driver.project import is_test

Edges = Mapping[str, Iterable[str]]
"""Paths of files with those of the files that they are connected with, in one direction."""


def connected(edges: Edges, start: Iterable[str]) -> set[str]:
    """What hangs together with ``start`` by imports, in either direction."""
    neighbours = _both_ways(edges)
    reached = set(start)
    _spread(neighbours, reached)
    return reached


def with_names(edges: Edges, names: Mapping[str, str], entries: Mapping[str, FileEntry], root: str) -> Edges:
    """The edges, and those that the names make: every prefix of what a file imports, the package around it, and for tests
    the ``conftest.py`` files above, whose fixtures a test runner hands to them.

    names: dotted names by path. entries: what is known of the files. root: the project's top.
    """
    by_name = {name: path for path, name in names.items()}
    conftests = {os.path.dirname(path): path for path in names if os.path.basename(path) == "conftest.py"}
    known: dict[tuple[str, str, str], list[str]] = {}
    out: dict[str, Iterable[str]] = {}
    for path, name in names.items():
        parent = name.rpartition(".")[0]
        package = name if path.endswith("__init__.py") else parent
        found = {*edges.get(path, ())}
        if parent in by_name:
            found.add(by_name[parent])
        if conftests and is_test(path, root):
            found.update(conftests[folder] for folder in _above(path) if folder in conftests)
        for imported in entries[path].scan.imports:
            key = (parent, package, imported)
            if key not in known:
                known[key] = _modules(by_name, *key)
            found.update(known[key])
        out[path] = found
    return out


def _above(path: str) -> Iterator[str]:
    """The folders that a file is in, the nearest first."""
    folder = os.path.dirname(path)
    while folder:
        yield folder
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return


def _modules(by_name: Mapping[str, str], parent: str, package: str, imported: str) -> list[str]:
    """Files with a name that the import may mean, or a part of it."""
    dots = len(imported) - len(imported.lstrip("."))
    dotted = imported[dots:]
    if dots:
        parts = package.split(".")
        base = ".".join(parts[: len(parts) - (dots - 1)])
        spellings = [f"{base}.{dotted}" if base and dotted else base or dotted]
    else:
        spellings = [dotted, f"{parent}.{dotted}"] if parent else [dotted]
    found: list[str] = []
    for spelling in spellings:
        while spelling:
            if spelling in by_name:
                found.append(by_name[spelling])
            spelling = spelling.rpartition(".")[0]
    return found


def units(paths: Sequence[str], edges: Edges) -> list[list[str]]:
    """The paths in groups that hang together, in their order; edges to other files do not count."""
    chosen = set(paths)
    neighbours = _both_ways(
        {path: [other for other in edges.get(path, ()) if other in chosen] for path in paths}
    )
    group: dict[str, int] = {}
    out: list[list[str]] = []
    for path in paths:
        if path not in group:
            reached = {path}
            _spread(neighbours, reached)
            group.update(dict.fromkeys(reached, len(out)))
            out.append([])
        out[group[path]].append(path)
    return out


def _both_ways(edges: Edges) -> dict[str, set[str]]:
    neighbours: dict[str, set[str]] = {path: set(targets) for path, targets in edges.items()}
    for path, targets in edges.items():
        for target in targets:
            neighbours.setdefault(target, set()).add(path)
    return neighbours


def _spread(neighbours: Mapping[str, set[str]], reached: set[str]) -> None:
    """Add what hangs together with what is reached."""
    waiting = list(reached)
    while waiting:
        for neighbour in neighbours.get(waiting.pop(), ()):
            if neighbour not in reached:
                reached.add(neighbour)
                waiting.append(neighbour)
