"""From findings to what has to be run to prove them (layer: ``confirm``). Reads sources; runs nothing."""

from __future__ import annotations

import ast
import contextlib
import functools
import os
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from jitlint.base.diagnostic import Finding
from jitlint.base.outcome import Raises, Retraces
from jitlint.base.parts import Parts
from jitlint.confirm.drivers import Function, Module, names_in, owner_of_decorator, reads_in
from jitlint.confirm.places import Places, columns_at
from jitlint.confirm.protocol import Call, Flag, Task
from jitlint.confirm.reach import Reach, Sources
from jitlint.confirm.statements import guarded_by, statement_around
from jitlint.driver.registry import rules

# By the number of the finding.
Findings = Mapping[int, "tuple[Finding, Flag]"]
# So many recorded signatures of a function are tried.
_RECORDED = 3
_TRANSFORMED = re.compile(
    r"`(?P<name>[^`]+)` (?:is|runs|(?=takes|belongs|does)) ?(?P<how>jitted|traced|batched|declared|handed|under|takes|belongs|does)?"
)


def flag_for(number: int, finding: Finding, path: str, sources: Sources) -> Flag:
    """A finding as the worker needs it. ``path``: absolute."""
    module = sources.module(path)
    span = finding.span
    steps = [step.span.line for step in finding.related if os.path.realpath(step.path) == path]
    flag = Flag(
        number,
        finding.code,
        path,
        span.line,
        span.line,
        span.line,
        "",
        [],
        case=finding.case,
        steps=steps,
        eager=finding.ground == "eager",
        meant=finding.ground == "catalogue",
    )
    if module is None:
        return flag
    places, columns = Places(module.tree), columns_at(module.source, span)
    where = (span.line, span.column, span.end_line, span.end_column)
    first, last = statement_around(module.source, span.line)
    tried, handler = guarded_by(module.source, span.line)
    mentions = places.names(columns)
    outcome = rules()[finding.code].outcome_of(finding.case)
    wide = isinstance(outcome, Retraces) or (isinstance(outcome, Raises) and outcome.spread)
    part = _parts(module.source).at(span)
    return msgspec.structs.replace(
        flag,
        first=first,
        last=last,
        owner=owner_of_decorator(module, span.line),
        # What fails is the storing, where something is stored.
        names=mentions if places.is_store(columns) else names_in(module, where),
        reads=reads_in(module, where),
        tried=tried,
        columns=columns,
        accepted=places.accepted(columns, wide),
        alone=places.is_alone(columns),
        always=part is not None and part.always,
        mentions=mentions,
        calls=places.calls(columns),
        repeats=places.repeats(columns),
        handler=handler,
    )


@functools.lru_cache(maxsize=64)
def _parts(source: str) -> Parts:
    return Parts(source)


@dataclass(frozen=True, slots=True)
class Repairs:
    """Fixes to be proved. alone: by the number of the finding, the texts that its fix gives to files, by absolute path.
    together: the texts that all of them give. without: those that all but one give to its files."""

    alone: Mapping[int, Mapping[str, str]]
    together: Mapping[str, str] = field(default_factory=dict)
    without: Mapping[int, Mapping[str, str]] = field(default_factory=dict)


class Planner:
    """Makes tasks. ``seconds`` and ``memory`` are the limits of a call, ``signatures`` those of a recorded run. ``stub``: see
    `Task`."""

    def __init__(
        self,
        sources: Sources,
        seconds: float,
        memory: int,
        signatures: Mapping[tuple[str, int], Sequence[str]],
        stub: bool = False,
        repairs: Repairs | None = None,
    ) -> None:
        self._stub = stub
        self._repairs = repairs if repairs is not None else Repairs({})
        self._sources = sources
        self._reach = Reach(sources)
        self._seconds = seconds
        self._memory = memory
        self._signatures = signatures

    def drive(self, findings: Findings, known: Mapping[int, Flag] | None = None) -> list[Task]:
        """Calls that are there: tests, cases and scripts that reach the flagged function, by the names they mention.

        With ``known`` (all findings) also all other calls of the files that were named, to find what has no finding.
        """
        calls: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, (finding, flag) in findings.items():
            for path, targets in self._reach.drivers(finding, flag).items():
                for target in targets:
                    calls[path][target].append(number)
        flags = {number: flag for number, (_, flag) in findings.items()} if known is None else known
        everything = self._sources.named if known is not None else ()
        tasks = []
        for path in dict.fromkeys([*calls, *everything]):
            wanted, module = calls.get(path, {}), self._sources.module(path)
            order = list(dict.fromkeys(["", *module.drivers])) if module else []
            listed = [
                Call(target, wanted.get(target, []))
                for target in order
                if target in wanted or (module and known is not None and target in module.drivers)
            ]
            if listed:
                tasks.append(self.task(path, listed, flags, known is not None))
        return tasks

    def parts(self, findings: Findings, unloaded: Collection[int]) -> list[Task]:
        """Parts of modules that fail, or take too long, elsewhere. ``unloaded``: see `search`."""
        flags = {number: flag for number, (_, flag) in findings.items()}
        tasks = []
        for number, (finding, flag) in findings.items():
            module = self._sources.module(flag.path)
            if module is not None and self._runs_by_itself(module, flag):
                lines = sorted({flag.line, *flag.steps})
                tasks.append(self.task(flag.path, [Call("", [number], part=lines)], flags))
            if number not in unloaded:
                continue
            for path, targets in self._reach.drivers(finding, flag).items():
                driving = self._sources.module(path)
                lines_of = {f.qualname: f.line for f in driving.functions} if driving else {}
                calls = [Call(t, [number], part=[lines_of[t]]) for t in targets if t in lines_of]
                if calls:
                    tasks.append(self.task(path, calls, flags))
        return tasks

    def _runs_by_itself(self, module: Module, flag: Flag) -> bool:
        """Whether importing the module, or starting it as a script, may run the line."""
        return "" in module.drivers or "__main__" in module.drivers or not module.around(flag.line)

    def group_of(self, number: int, finding: Finding, flag: Flag) -> object:
        """Findings with the same answer are searched arguments for together."""
        root = root_function(finding, flag, self._sources)
        return (root[0], root[1].qualname.partition(".<locals>.")[0]) if root is not None else number

    def search(self, findings: Findings, unloaded: Collection[int]) -> list[Task]:
        """Functions to find arguments for: what the transform on the path of each finding is applied to.

        ``unloaded``: findings for which a module with calls could not be loaded to its end.
        """
        numbers: dict[tuple[str, str, int], list[int]] = defaultdict(list)
        calls: dict[tuple[str, str, int], Call] = {}
        for number, (finding, flag) in findings.items():
            root = root_function(finding, flag, self._sources)
            if root is None:
                continue
            path, function = root
            module = self._sources.module(path)
            target, _, nested = function.qualname.partition(".<locals>.")
            if module is not None and target in module.drivers and number not in unloaded:
                continue  # it needs no arguments, and has been called
            around = module.around(function.line) if module else []
            outer = around[0] if nested and around else function
            key = (path, target, outer.line)
            numbers[key].append(number)
            example = module.examples.get(outer.line, "") if module else ""
            static = _static_names(finding, function, self._sources)
            transform = _transform(finding, function, nested)
            seen = list(self._signatures.get((path, outer.line), ()))[:_RECORDED]
            part = [outer.line] if number in unloaded else calls[key].part if key in calls else []
            calls[key] = Call(target, [], True, outer.line, example, seen, static, transform, part)
        flags = {number: flag for number, (_, flag) in findings.items()}
        return [
            self.task(key[0], [msgspec.structs.replace(call, flags=numbers[key])], flags)
            for key, call in calls.items()
        ]

    def task(self, path: str, calls: list[Call], flags: Mapping[int, Flag], all_flags: bool = False) -> Task:
        """Calls into the module at ``path``."""
        wanted = {number for call in calls for number in call.flags}
        carried = [flag for number, flag in flags.items() if all_flags or number in wanted]
        name, search_path = self._reach.import_of(path)
        task = Task(path, name, self._sources.root, search_path, carried, calls, self._seconds, self._memory)
        repairs = {n: dict(texts) for n, texts in self._repairs.alone.items() if n in wanted}
        without = {n: dict(texts) for n, texts in self._repairs.without.items() if n in wanted}
        together = dict(self._repairs.together) if repairs else {}
        return msgspec.structs.replace(
            task, stub=self._stub, repairs=repairs, together=together, without=without
        )


def root_function(finding: Finding, flag: Flag, sources: Sources) -> tuple[str, Function] | None:
    """The function that a transform is applied to, on the way to the finding: its file, and what was read of it.

    The first step of the path is the transform, perhaps as a decorator; the next one is a call inside the function
    that is wanted.
    """
    match = _TRANSFORMED.match(finding.related[0].message) if finding.related else None
    if match:
        path = os.path.realpath(finding.related[0].path)
        module = sources.module(path)
        for function in module.around(finding.related[0].span.line) if module is not None else []:
            if function.qualname == match["name"]:
                return path, function
    places = [(os.path.realpath(step.path), step.span.line) for step in finding.related[1:]]
    for path, line in [*places, (flag.path, flag.line)]:
        module = sources.module(path)
        around = module.around(line) if module is not None else []
        if around:
            named = [function for function in around if match and function.qualname == match["name"]]
            return path, (named or around)[-1]
    return None


def _transform(finding: Finding, function: Function, nested: str) -> str:
    """`jit` if the path says that it is this function that a transform is applied to, and no caller of it, nor one
    that somebody else makes."""
    match = _TRANSFORMED.match(finding.related[0].message) if finding.related and not nested else None
    return "jit" if match is not None and match["name"] == function.qualname and match["how"] else ""


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
