"""Which calls of the project may reach a finding, and how its files import each other (layer: ``confirm``)."""

from __future__ import annotations

import ast
import functools
import io
import itertools
import os
import re
import tokenize
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jitlint.base.diagnostic import Finding
from jitlint.confirm.planning.cells import Cells
from jitlint.confirm.planning.drivers import Module, name_of, reached, read_module
from jitlint.confirm.protocol import Flag
from jitlint.driver.project import Layout, is_test
from jitlint.driver.scan import imports_of
from jitlint.syntax.documents import is_document

# So many calls are tried for one finding: in the files on its path, and in all others together.
_NEAR = 40
_FAR = 8
# Larger projects are not searched for callers beyond what was named.
_MOST_FILES = 4000


@dataclass(slots=True)
class Sources:
    """The modules of a run, read when first asked for. named: what was asked for. files: all of the project."""

    root: str
    named: Sequence[str]
    files: Sequence[str]
    cells: Cells = field(default_factory=Cells)
    _known: dict[str, Module | None] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)

    def text(self, path: str) -> str:
        """What the file at an absolute path says; "" if it cannot be read."""
        if path not in self._texts:
            document = self.cells.document(path)
            try:
                with tokenize.open(path) if document is None else io.StringIO(document.text) as stream:
                    self._texts[path] = stream.read()
            except (OSError, SyntaxError, UnicodeError, ValueError, LookupError):
                self._texts[path] = ""
        return self._texts[path]

    def module(self, path: str) -> Module | None:
        """The module at an absolute path; None if it cannot be read."""
        if path not in self._known:
            text = self.text(path)
            self._known[path] = read_module(text) if text else None
        return self._known[path]


class Reach:
    """Answers for one project."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._layout = Layout(sources.root)
        self._importing: dict[str, set[str]] | None = None

    def drivers(self, finding: Finding, flag: Flag) -> dict[str, list[str]]:
        """By file, the targets that may lead to the finding; nearer files first."""
        steps = [(os.path.realpath(step.path), step.span.line) for step in finding.related]
        places = [(flag.path, flag.line), *steps]
        modules = {path: module for path, _ in places if (module := self._sources.module(path)) is not None}
        tables = [module.uses for module in modules.values()]
        names = {name for path, line in places if path in modules for name in _names_at(modules[path], line)}
        found: dict[str, list[str]] = {}
        for path, module in modules.items():
            if path == flag.path and not _names_at(module, flag.line):
                found[path] = [""]  # importing runs the line, whatever else is called
                continue
            chosen = _near(module, [line for at, line in places if at == path], names, tables)
            if chosen := _runnable(path, chosen)[:_NEAR]:
                found[path] = chosen
        if not is_document(flag.path):  # which nobody imports
            found.update(self._far(flag.path, set(modules), names, tables))
        return found

    def _far(
        self, path: str, near: set[str], names: set[str], tables: list[dict[str, frozenset[str]]]
    ) -> dict[str, list[str]]:
        """Targets in files that import the flagged one, and are not on the path."""
        found: dict[str, list[str]] = {}
        left = _FAR
        mentioned = _mention(names, tables)
        for other in self._importers(path):
            # Most files of a large project have nothing to do with it: their text says so, sooner than their tree.
            if not left or other in near or not mentioned.search(self._sources.text(other)):
                continue
            module = self._sources.module(other)
            if module is None:
                continue
            chosen = [d for d in module.drivers if d and names & reached(d, module, tables)][:left]
            if chosen:
                found[other] = chosen
                left -= len(chosen)
        return found

    def import_of(self, path: str) -> tuple[str, list[str]]:
        """The name to import a file by, and where imports start."""
        directory, name = os.path.split(os.path.splitext(path)[0])
        parts = [] if name == "__init__" else [name]
        top = directory
        if is_document(path):  # nobody can import it, and its name may be that of what it is about
            parts = ["__main__"]
        while not is_document(path) and self._layout.is_package(top) and os.path.dirname(top) != top:
            parts.insert(0, os.path.basename(top))
            top = os.path.dirname(top)
        root = self._sources.root
        starts = [top]
        module = self._sources.module(path)
        for imported in module.imports if module else ():
            first = imported.partition(".")[0]
            if first:
                starts.append(self._layout.search(directory, first))
        starts += [os.path.join(top, "src"), self._layout.start(path), root, os.path.join(root, "src")]
        existing = [start for start in dict.fromkeys(starts) if start and os.path.isdir(start)]
        return ".".join(parts) or name, existing

    def users(self, path: str, name: str) -> list[Module]:
        """Files that import a module, directly or not, and have a name in their text; tests first."""
        named = (other for other in self._importers(path) if name in self._sources.text(other))
        modules = (module for other in named if (module := self._sources.module(other)) is not None)
        return list(itertools.islice(modules, _FAR))

    def _importers(self, path: str) -> list[str]:
        """Files that import the module, directly or not; tests first."""
        if self._importing is None:
            self._importing = defaultdict(set)
            real = functools.cache(os.path.realpath)  # many import the same few
            for other in self._sources.files[:_MOST_FILES]:
                if is_document(other):  # runs as a whole, or not at all
                    continue
                for imported in imports_of(self._sources.text(other).encode("utf-8", "replace")):
                    for target in self._layout.resolve(other, imported):
                        self._importing[real(target)].add(other)
        found: set[str] = set()
        waiting = [path]
        while waiting:
            fresh = self._importing.get(waiting.pop(), set()) - found
            found |= fresh
            waiting += fresh
        return sorted(found - {path}, key=lambda other: (not is_test(other, self._sources.root), other))


def _mention(names: set[str], tables: Sequence[Mapping[str, frozenset[str]]]) -> re.Pattern[str]:
    """Finds a mention of one of the names, or of what leads to one of them."""
    leading = set(names)
    while fresh := {
        n for table in tables for n, uses in table.items() if n not in leading and uses & leading
    }:
        leading |= fresh
    words = "|".join(sorted(re.escape(name) for name in leading if name.isidentifier()))
    return re.compile(rf"\b(?:{words})\b" if words else r"(?!)")


def _near(
    module: Module, lines: list[int], names: set[str], tables: list[dict[str, frozenset[str]]]
) -> list[str]:
    """The targets of a file on the path: those that lead to the names."""
    inside = {function.qualname for line in lines for function in module.around(line)}
    chosen = [d for d in module.drivers if name_of(d) in names or names & reached(d, module, tables)]
    # A test method that the line stands in runs it, and its neighbours do not.
    return [d for d in chosen if d.removeprefix("::").replace("::", ".") in inside] or chosen


def _runnable(path: str, targets: list[str]) -> list[str]:
    """Those that can be run in a file: pytest finds no tests in a notebook."""
    return [target for target in targets if not (is_document(path) and target.startswith("::"))]


def _names_at(module: Module, line: int) -> set[str]:
    """What the top-level code at a line is called: a function or class, or the variables that a statement binds."""
    top = module.top_name(line)
    if top:
        return {top}
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or node.lineno):
            return {part.id for t in node.targets for part in ast.walk(t) if isinstance(part, ast.Name)}
    return set()
