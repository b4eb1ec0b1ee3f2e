"""Findings that are certain long before the check of a large project has come to its end (layer: ``confirm``).

What it does: listens to the analysis, and makes findings of errors that have no condition that is still to be decided.
Nothing that is still to come takes back one that is certain; of others, something surer may take the place. What it does
not: prove them, or know what else will be found. Small projects are through before anything could be gained.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Confidence, Finding, Severity
from jitlint.base.result import Statistics
from jitlint.driver.memory.kept import KeptCheck
from jitlint.driver.processes.schedule import Forked
from jitlint.driver.registry import rules
from jitlint.driver.run import Asked, selected, with_kept_paths

if TYPE_CHECKING:
    from jitlint.driver.drafts import Draft
    from jitlint.driver.lowering import Lowered
    from jitlint.driver.pipeline import Pipeline
    from jitlint.infer.events import AnyEvent

# Nobody is told before a check has taken so many seconds.
_PATIENCE = 3.0
# What is found in so many seconds is told together: findings of one function are proved together.
_TOGETHER = 0.3


class Ahead:
    """Listens to one check, see `Listener`. found: gets findings, in the thread of the analysis."""

    def __init__(self, settings: Settings, found: Callable[[list[Finding]], None]) -> None:
        self._settings = settings
        self._found = found
        self._from = time.monotonic() + _PATIENCE
        self._wanted = {kind for rule in rules().values() for kind, _ in rule.checks}
        self._seen: set[tuple[type, str, int, Confidence]] = set()
        self._waiting: list[AnyEvent] = []
        self._told: set[tuple[str, int, Confidence]] = set()

    def __call__(self, pipeline: Pipeline, lowered: Lowered) -> Callable[[AnyEvent], None]:
        """Who hears the events of an analysis."""

        def heard(event: AnyEvent) -> None:
            place = event.place
            if type(event) in self._wanted and not place.expected:
                key = (type(event), place.module, place.at, place.confidence)
                if key not in self._seen:
                    self._seen.add(key)
                    if not self._waiting:
                        self._from = max(self._from, time.monotonic() + _TOGETHER)
                    self._waiting.append(event)
            if self._waiting and time.monotonic() >= self._from:
                waiting, self._waiting = self._waiting, []
                try:
                    self._tell(waiting, pipeline, lowered)
                except Exception:  # the check itself says what is wrong
                    self._from = float("inf")

        return heard

    def _tell(self, events: list[AnyEvent], pipeline: Pipeline, lowered: Lowered) -> None:
        from jitlint.driver.drafts import draft
        from jitlint.driver.judge import verdicts

        workspace = pipeline.workspace
        names = workspace.names
        modules = {names[path]: path for path in workspace.named if path in names}
        found: list[Finding] = []
        for verdict in verdicts(events, rules(), modules):
            drafted = draft(verdict)
            # Of several errors at one place, a report has the first.
            place = (drafted.module, drafted.at, drafted.confidence)
            if drafted.severity is Severity.ERROR and place not in self._told:
                self._told.add(place)
                found += self._findings(drafted, pipeline, lowered)
        if found:
            self._found(found)

    def _findings(self, drafted: Draft, pipeline: Pipeline, lowered: Lowered) -> list[Finding]:
        """The finding that a report of the whole check would have; none if it would not."""
        from jitlint.driver.drafts import places
        from jitlint.driver.pages import Pages, findings

        workspace = pipeline.workspace
        paths = {name: path for path, name in workspace.names.items()}
        pages = Pages(workspace.cache)
        wanted = {paths[module]: at for module, at in places([drafted]).items() if module in paths}
        spans = pages.locate(workspace, wanted, lowered, Forked(1))
        path = paths[drafted.module]
        page = pages.page(workspace, path, [drafted], spans, pipeline.left_out)
        shown = findings(page, [drafted], path, paths, spans)[0]
        kept = with_kept_paths(KeptCheck(shown, [], [], Statistics(), [], []), workspace)
        return selected(kept, self._settings, Asked.of(self._settings), workspace).findings
