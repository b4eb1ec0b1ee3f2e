"""From findings to what has to be run to prove them (layer: ``confirm``). Reads sources; runs nothing."""

from __future__ import annotations

import functools
import os
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from jitlint.base.diagnostic import Finding
from jitlint.base.outcome import Raises, Retraces
from jitlint.base.parts import Parts
from jitlint.confirm.planning.drivers import Module, names_in, owner_of_decorator, reads_in
from jitlint.confirm.planning.places import Places, columns_at
from jitlint.confirm.planning.reach import Reach, Sources
from jitlint.confirm.planning.roots import Root, inner_root, root_of
from jitlint.confirm.planning.statements import guarded_by, statement_around
from jitlint.confirm.planning.words import words_for
from jitlint.confirm.protocol import Call, Flag, Task
from jitlint.driver.registry import rules
from jitlint.syntax.documents import is_document

# By the number of the finding.
Findings = Mapping[int, "tuple[Finding, Flag]"]
# So many recorded signatures of a function are tried.
_RECORDED = 3
# A search calls its function many times, and may take as long as so many calls.
_SEARCH = 2


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
        self._had_parts: set[int] = set()

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
                listed = [*self._first_part(path, findings), *listed]
                tasks.append(self.task(path, listed, flags, known is not None))
        return tasks

    def _first_part(self, path: str, findings: Findings) -> list[Call]:
        """What the findings of a notebook need, without all else: it may take long, and is run if that is not enough."""
        if not is_document(path):
            return []
        here = {number: flag for number, (_, flag) in findings.items() if flag.path == path}
        if len(here) == 1:
            self._had_parts |= here.keys()
        lines = {line for flag in here.values() for line in (flag.line, *flag.steps)}
        return [Call("", list(here), part=sorted(lines))] if here else []

    def parts(self, findings: Findings, unloaded: Collection[int]) -> list[Task]:
        """Parts of modules that fail, or take too long, elsewhere. ``unloaded``: see `search`."""
        flags = {number: flag for number, (_, flag) in findings.items()}
        tasks = []
        for number, (finding, flag) in findings.items():
            module = self._sources.module(flag.path)
            fresh = number not in self._had_parts
            if module is not None and fresh and self._runs_by_itself(module, flag):
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
        root = root_of(finding, flag, self._sources)
        return (root.path, root.function.qualname.partition(".<locals>.")[0]) if root is not None else number

    def search(self, findings: Findings, unloaded: Collection[int]) -> list[Task]:
        """Functions to find arguments for: what the transform on the path of each finding is applied to, and the function
        that applies the innermost one.

        ``unloaded``: findings for which a module with calls could not be loaded to its end.
        """
        numbers: dict[tuple[str, str, int], list[int]] = defaultdict(list)
        calls: dict[tuple[str, str, int], Call] = {}
        for number, (finding, flag) in findings.items():
            roots = [root_of(finding, flag, self._sources, handed=not self._repairs.alone)]
            if not self._repairs.alone:  # a fix is to hold for the calls that there are
                roots.append(inner_root(finding, flag, self._sources))
            for root in roots:
                module = self._sources.module(root.path) if root is not None else None
                if root is None or module is None or self._has_been_called(root, module, number, unloaded):
                    continue
                key = (root.path, root.target, root.outer.line)
                if number not in numbers[key]:
                    numbers[key].append(number)
                # Where one function is both, it is the one that gets the transform.
                call = calls[key] if key in calls else self._call(root, module)
                part = [root.outer.line] if number in unloaded else call.part
                calls[key] = msgspec.structs.replace(call, part=part)
        flags = {number: flag for number, (_, flag) in findings.items()}
        tasks = [
            self.task(key[0], [msgspec.structs.replace(call, flags=numbers[key])], flags)
            for key, call in calls.items()
        ]
        return [msgspec.structs.replace(task, seconds=_SEARCH * self._seconds) for task in tasks]

    def _has_been_called(self, root: Root, module: Module, number: int, unloaded: Collection[int]) -> bool:
        """Whether it needs no arguments, and was one of the calls."""
        return root.target in module.drivers and number not in unloaded

    def _call(self, root: Root, module: Module) -> Call:
        line = root.outer.line
        seen = list(self._signatures.get((root.path, line), ()))[:_RECORDED]
        name = root.target.rpartition(".")[2]
        words = words_for(root.outer, [module, *self._reach.users(root.path, name)])
        example = module.examples.get(line, "")
        return Call(root.target, [], True, line, example, seen, root.static, root.transform, words=words)

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
