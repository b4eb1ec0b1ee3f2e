"""From findings to what has to be run to prove them (layer: ``confirm``). Reads sources; runs nothing."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from jitlint.base.diagnostic import Finding
from jitlint.confirm.drivers import Function, Module, names_in, owner_of_decorator, reached, read_module
from jitlint.confirm.protocol import Call, Flag, Task
from jitlint.confirm.statements import statement_around
from jitlint.driver.project import Layout

# Of other files, so many calls are tried for one finding.
_FOREIGN = 6
_OWN = 40
_TRANSFORMED = re.compile(r"`(?P<name>[^`]+)` (?:is|runs) ")


@dataclass(slots=True)
class Sources:
    """The modules of a run, read when first asked for."""

    root: str
    files: Sequence[str]
    _known: dict[str, Module | None] = field(default_factory=dict)

    def module(self, path: str) -> Module | None:
        """The module at an absolute path; None if it cannot be read."""
        if path not in self._known:
            try:
                with tokenize.open(path) as stream:
                    self._known[path] = read_module(stream.read())
            except (OSError, SyntaxError, UnicodeError, ValueError, LookupError):
                self._known[path] = None
        return self._known[path]


def flag_for(number: int, finding: Finding, path: str, sources: Sources) -> Flag:
    """A finding as the worker needs it. ``path``: absolute."""
    module = sources.module(path)
    span = finding.span
    first, last = statement_around(module.source, span.line) if module else (span.line, span.line)
    owner = owner_of_decorator(module, span.line) if module else ""
    names = names_in(module, (span.line, span.column, span.end_line, span.end_column)) if module else []
    return Flag(number, finding.code, path, span.line, first, last, owner, names)


class Planner:
    """Makes tasks. ``seconds`` and ``memory`` are the limits of a call."""

    def __init__(self, sources: Sources, seconds: float, memory: int) -> None:
        self._sources = sources
        self._layout = Layout(sources.root)
        self._seconds = seconds
        self._memory = memory

    def drive(self, findings: dict[int, tuple[Finding, Flag]], related: dict[int, list[str]]) -> list[Task]:
        """Calls that are there: drivers that mention the flagged function, directly or not.

        ``related``: for each finding the other files on its path.
        """
        calls: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, (_, flag) in findings.items():
            own = [flag.path, *related[number]]
            for path, targets in self._drivers(flag, own).items():
                for target in targets:
                    calls[path][target].append(number)
        flags = {number: flag for number, (_, flag) in findings.items()}
        tasks = []
        for path, wanted in calls.items():
            module = self._sources.module(path)
            order = module.drivers if module else []
            listed = [Call(target, wanted[target]) for target in order if target in wanted]
            tasks.append(self.task(path, listed, flags))
        return tasks

    def search(self, findings: dict[int, tuple[Finding, Flag]]) -> list[Task]:
        """Functions to find arguments for: what the transform on the path of each finding is applied to."""
        numbers: dict[tuple[str, str, int], list[int]] = defaultdict(list)
        calls: dict[tuple[str, str, int], Call] = {}
        for number, (finding, flag) in findings.items():
            root = root_function(finding, flag, self._sources)
            if root is None:
                continue
            path, function = root
            module = self._sources.module(path)
            target, _, nested = function.qualname.partition(".<locals>.")
            around = module.around(function.line) if module else []
            outer = around[0] if nested and around else function
            key = (path, target, outer.line)
            numbers[key].append(number)
            example = module.examples.get(outer.line, "") if module else ""
            static = _static_names(finding, function, self._sources)
            transform = "" if nested else "jit"
            calls[key] = Call(target, [], True, outer.line, example, static, transform)
        flags = {number: flag for number, (_, flag) in findings.items()}
        return [
            self.task(key[0], [msgspec.structs.replace(call, flags=numbers[key])], flags)
            for key, call in calls.items()
        ]

    def everything(self, flags: Iterable[Flag]) -> list[Task]:
        """All drivers of all files, to find what the analysis missed."""
        known = {flag.number: flag for flag in flags}
        tasks = []
        for path in self._sources.files:
            module = self._sources.module(path)
            if module is not None and module.drivers:
                tasks.append(self.task(path, [Call(target, []) for target in module.drivers], known, True))
        return tasks

    def task(self, path: str, calls: list[Call], flags: dict[int, Flag], all_flags: bool = False) -> Task:
        """Calls into the module at ``path``."""
        wanted = {number for call in calls for number in call.flags}
        carried = [flag for number, flag in flags.items() if all_flags or number in wanted]
        name, search_path = self._import_of(path)
        return Task(path, name, self._sources.root, search_path, carried, calls, self._seconds, self._memory)

    def _drivers(self, flag: Flag, own: list[str]) -> dict[str, list[str]]:
        names = self._names(flag)
        modules = {path: module for path in own if (module := self._sources.module(path)) is not None}
        tables = [module.uses for module in modules.values()]
        found: dict[str, list[str]] = {}
        for path, module in modules.items():
            chosen = [d for d in module.drivers if self._reaches(d, module, tables, names, flag, path)]
            if chosen:
                found[path] = chosen[:_OWN]
        left = _FOREIGN
        for path in self._importers(flag.path):
            if path in modules or not left:
                continue
            foreign = self._sources.module(path)
            if foreign is None:
                continue
            chosen = [d for d in foreign.drivers if names & reached(d, foreign, tables)][:left]
            if chosen:
                found[path] = chosen
                left -= len(chosen)
        return found

    def _reaches(
        self,
        driver: str,
        module: Module,
        tables: list[dict[str, frozenset[str]]],
        names: set[str],
        flag: Flag,
        path: str,
    ) -> bool:
        if not names:  # at module level: importing runs it
            return driver == "" or path != flag.path or "" not in module.drivers
        return driver in names or bool(names & reached(driver, module, tables))

    def _names(self, flag: Flag) -> set[str]:
        module = self._sources.module(flag.path)
        top = module.top_name(flag.line) if module else ""
        if top:
            return {top}
        # What a module-level statement binds stands for it: a lambda, a jitted function.
        if module is not None:
            for node in module.tree.body:
                if node.lineno <= flag.line <= (node.end_lineno or node.lineno) and isinstance(
                    node, ast.Assign
                ):
                    return {
                        part.id for t in node.targets for part in ast.walk(t) if isinstance(part, ast.Name)
                    }
        return set()

    def _importers(self, path: str) -> list[str]:
        """Files that mention the module, tests first."""
        stem = os.path.splitext(os.path.basename(path))[0]
        if stem == "__init__":
            stem = os.path.basename(os.path.dirname(path))
        pattern = re.compile(rf"import\b.*\b{re.escape(stem)}\b|\bfrom\b.*\b{re.escape(stem)}\b.*\bimport\b")
        found = []
        for other in self._sources.files:
            module = self._sources.module(other) if other != path else None
            if module is not None and module.drivers and pattern.search(module.source):
                found.append(other)
        return sorted(found, key=lambda other: "test" not in os.path.basename(other))

    def _import_of(self, path: str) -> tuple[str, list[str]]:
        """The name to import a file by, and where imports start."""
        directory, name = os.path.split(os.path.splitext(path)[0])
        parts = [] if name == "__init__" else [name]
        top = directory
        while self._layout.is_package(top) and os.path.dirname(top) != top:
            parts.insert(0, os.path.basename(top))
            top = os.path.dirname(top)
        root = self._sources.root
        starts = [top, os.path.join(top, "src"), self._layout.start(path), root, os.path.join(root, "src")]
        existing = [start for start in dict.fromkeys(starts) if os.path.isdir(start)]
        return ".".join(parts) or name, existing


def root_function(finding: Finding, flag: Flag, sources: Sources) -> tuple[str, Function] | None:
    """The function that a transform is applied to, on the way to the finding: its file, and what was read of it.

    The first step of the path is the transform; the next one is a call inside the function that is wanted.
    """
    places = [(os.path.realpath(step.path), step.span.line) for step in finding.related[1:]]
    match = _TRANSFORMED.match(finding.related[0].message) if finding.related else None
    for path, line in [*places, (flag.path, flag.line)]:
        module = sources.module(path)
        around = module.around(line) if module is not None else []
        if around:
            named = [function for function in around if match and function.qualname == match["name"]]
            return path, (named or around)[-1]
    return None


def _static_names(finding: Finding, function: Function, sources: Sources) -> list[str]:
    """Parameters that the transform's call declares static, as far as it says so in plain constants."""
    if not finding.related:
        return []
    step = finding.related[0]
    module = sources.module(os.path.realpath(step.path))
    found: set[str] = set()
    for node in ast.walk(module.tree) if module is not None else ():
        if not isinstance(node, ast.Call) or not node.lineno <= step.span.line <= (node.end_lineno or 0):
            continue
        for keyword in node.keywords:
            if keyword.arg not in ("static_argnums", "static_argnames"):
                continue
            with contextlib.suppress(ValueError):
                value = ast.literal_eval(keyword.value)
                for item in value if isinstance(value, (tuple, list)) else (value,):
                    if isinstance(item, str):
                        found.add(item)
                    elif isinstance(item, int) and -len(function.parameters) <= item < len(
                        function.parameters
                    ):
                        found.add(function.parameters[item])
    return sorted(found)
