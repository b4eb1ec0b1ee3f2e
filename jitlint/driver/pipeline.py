"""From the files of a run to what is to be said of them: the phases in order (layer: ``driver``).

Each phase takes from the cache what holds for what the files say now, and makes the rest: intermediate forms by content,
what the analysis found by unit, positions and words by content again. The answer is that of a run without any cache.
Selection, and the cache of whole runs, are in `jitlint.driver.run`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Confidence, Finding, Span
from jitlint.base.result import Reason, Statistics, TracedRow
from jitlint.driver.documents import placed
from jitlint.driver.drafts import Draft, TracedDraft, places
from jitlint.driver.linking import Heard, Program, Stop, Stopped, Task, failures, link, total
from jitlint.driver.lowering import Lowered, lower_files
from jitlint.driver.memory.kept import Clock, KeptCheck, KeptTraced
from jitlint.driver.pages import Pages, Places, findings
from jitlint.driver.problems import problems, unread_around, unused
from jitlint.driver.processes.ahead import Ahead
from jitlint.driver.processes.schedule import Forked, Progress, Workers
from jitlint.driver.target import Target
from jitlint.driver.workspace import Workspace

Listener: TypeAlias = "Callable[[Pipeline, Lowered], Heard]"
"""Makes somebody who hears of events while the analysis goes on."""


@dataclass(slots=True)
class Pipeline:
    """What the phases work with. left_out: rules whose findings nobody asks for; there may be many, each costs a position.

    possible: findings of that confidence are wanted. stop: whether the answer is still wanted. listener: hears of events before the end. complete: the same would
    come out the next time. ahead: answers early, if the answer need not be exact; early: it did.
    """

    workspace: Workspace
    settings: Settings
    target: Target
    possible: bool
    left_out: frozenset[str]
    workers: Workers
    clock: Clock = field(default_factory=Clock)
    progress: Progress | None = None
    stop: Stop | None = None
    listener: Listener | None = None
    pages: Pages | None = None
    complete: bool = True
    ahead: Ahead | None = None
    exact: bool = True
    early: bool = False

    def check(self) -> KeptCheck:
        """All findings in the named files, with absolute paths. Raises Stopped, AnalysisError and ConfigError."""
        workspace = self.workspace
        lowered, program = self._analysed(parameters=False)
        names, paths = workspace.names, {name: path for path, name in workspace.names.items()}
        pages = self._pages()
        named = {names[path] for path in workspace.named if path in names}
        with self.clock.phase("judge"):
            known = program.drafts
            drafts = {
                path: found
                for path, name in names.items()
                if name in known and (found := self._wanted(known[name], None if name in named else named))
            }
            wanted = _by_path(places(draft for found in drafts.values() for draft in found), paths)
        with self.clock.phase("spans"):
            # Nobody forks while others run beside this thread.
            spans = pages.locate(
                workspace, wanted, lowered, self.workers if self.listener is None else Forked(1)
            )
        with self.clock.phase("judge"):
            shown, by_noqa = self._told(pages, drafts, paths, spans)
            elsewhere = self._brought(pages, drafts, paths, spans)
            pages.write(workspace)
        statistics = self._statistics(lowered, program)
        statistics.placed = len(pages.looked_into)
        failed = problems(workspace, lowered, failures(program.linked))
        return KeptCheck(shown, by_noqa, failed, statistics, elsewhere, unread_around(workspace, lowered))

    def traced(self) -> KeptTraced:
        """Every function in the named files that traced code reaches, with absolute paths."""
        workspace = self.workspace
        lowered, program = self._analysed(parameters=True)
        names, paths = workspace.names, {name: path for path, name in workspace.names.items()}
        reported = {names[path] for path in workspace.named if path in names}
        functions = [each for unit in program.linked for each in unit.traced if each.module in reported]
        pages = self._pages()
        with self.clock.phase("spans"):
            wanted = _by_path(places(functions), paths)
            spans = pages.locate(workspace, wanted, lowered, self.workers)
            functions = [each for each in functions if paths[each.module] not in workspace.lost]
            pages.write(workspace)
        rows = [_traced_row(each, paths, spans, workspace) for each in functions]
        statistics = self._statistics(lowered, program)
        statistics.placed = len(pages.looked_into)
        return KeptTraced(rows, problems(workspace, lowered, failures(program.linked)), statistics)

    def _analysed(self, parameters: bool) -> tuple[Lowered, Program]:
        self._go_on()
        with self.clock.phase("parse"):
            lowered = lower_files(self.workspace, self.workers, self.progress)
        self.complete = lowered.complete
        self._go_on()
        with self.clock.phase("analyse"):
            task = Task(self.settings, self.possible, parameters, self.target)
            heard = self.listener(self, lowered) if self.listener is not None else None
            program = link(
                self.workspace, lowered, task, self.workers, self.stop, heard, self.ahead, self.exact
            )
            self.early = program.early
        self._go_on()
        return lowered, program

    def _go_on(self) -> None:
        if self.stop is not None and self.stop():
            raise Stopped

    def _pages(self) -> Pages:
        if self.pages is None:
            with self.clock.phase("cache"):
                self.pages = Pages(self.workspace.cache)
        return self.pages

    def _wanted(self, drafts: list[Draft], by: set[str] | None) -> list[Draft]:
        """What is to be said of a module. by: only what one of these modules has a part in."""
        return [
            draft
            for draft in drafts
            if self.possible or draft.confidence is not Confidence.POSSIBLE
            if draft.code not in self.left_out
            if by is None or any(step.module in by for step in draft.told)
        ]

    def _told(
        self, pages: Pages, drafts: dict[str, list[Draft]], paths: dict[str, str], spans: Places
    ) -> tuple[list[Finding], list[Finding]]:
        """What is shown, and what nothing but a ``noqa`` silences."""
        workspace, relevant = self.workspace, set(self.workspace.relevant)
        shown: list[Finding] = []
        by_noqa: list[Finding] = []
        idle: list[Finding] = []
        for path in workspace.named:
            if path not in relevant:
                continue
            here = drafts.get(path, [])
            page = pages.page(workspace, path, here, spans, self.left_out)
            if path in workspace.lost:
                continue
            told, silenced = findings(page, here, path, paths, spans)
            shown += told
            by_noqa += silenced
            idle += [unused(path, comment) for comment in page.unused]
        by_place = sorted(shown, key=lambda each: each.sort_key)
        return [*by_place, *idle], sorted(by_noqa, key=lambda each: each.sort_key)

    def _brought(
        self, pages: Pages, drafts: dict[str, list[Draft]], paths: dict[str, str], spans: Places
    ) -> list[Finding]:
        """What is shown of other files because of a named one."""
        workspace, named = self.workspace, set(self.workspace.named)
        shown: list[Finding] = []
        for path in drafts.keys() - named:
            page = pages.page(workspace, path, drafts[path], spans, self.left_out)
            if path not in workspace.lost:
                shown += findings(page, drafts[path], path, paths, spans)[0]
        return sorted(shown, key=lambda each: each.sort_key)

    def _statistics(self, lowered: Lowered, program: Program) -> Statistics:
        sites, resolved, notes, unmatched = total(program.linked, self.settings.traced)
        return Statistics(
            files=len(self.workspace.named),
            lines=self.workspace.lines,
            parsed=len(lowered.digests),
            jit_sites=sites,
            jit_sites_resolved=resolved,
            notes=notes,
            jax=self.target.words,
            unmatched=unmatched,
            units=len(program.linked),
            units_run=program.ran,
            lowered=lowered.fresh,
        )


_MODES = (("S", "staged"), ("B", "batched"), ("L", "linear"))


def _by_path(places: dict[str, set[int]], paths: dict[str, str]) -> dict[str, set[int]]:
    return {paths[module]: origins for module, origins in places.items() if module in paths}


def _traced_row(
    function: TracedDraft, paths: dict[str, str], spans: Places, workspace: Workspace
) -> TracedRow:
    def span(module: str, at: int) -> Span:
        return placed(paths[module], spans.span(paths[module], at), workspace)

    here = span(function.module, function.first_at)
    because = [(step, span(step.module, step.at)) for step in function.because if step.module in paths]
    return TracedRow(
        path=paths[function.module],
        qualname=function.qualname,
        line=here.line,
        modes=tuple(word for letter, word in _MODES if letter in function.modes),
        parameters=function.parameters,
        because=tuple(Reason(paths[step.module], at.line, step.message, at.cell) for step, at in because),
        ground=function.ground,
        confidence=function.confidence,
        cell=here.cell,
    )
