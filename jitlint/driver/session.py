"""A project that stays open: texts come, findings change (layer: ``driver``).

For editors. A session keeps in memory what a run reads from the cache: texts that are not saved yet, intermediate forms, what
was found in each unit, positions and words. Every answer is the one that `jitlint.driver.run.check` gives from scratch for
the same texts. It does not watch files and knows no protocol; whoever uses it says what has changed, one call at a time.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping, Sequence

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Finding
from jitlint.base.result import CheckResult, Statistics
from jitlint.driver.linking import Stop, Stopped
from jitlint.driver.memory.cache import Cache
from jitlint.driver.memory.kept import Clock
from jitlint.driver.pages import Pages
from jitlint.driver.pipeline import Pipeline
from jitlint.driver.processes.ahead import Ahead
from jitlint.driver.processes.schedule import Forked, available_cpus
from jitlint.driver.project import project_root
from jitlint.driver.run import Asked, quiet_collector, selected, with_kept_paths
from jitlint.driver.target import target_of
from jitlint.driver.workspace import Workspace, cache_of, look_again, read_workspace

Changed = Mapping[str, Sequence[Finding]]
"""Absolute paths of the files of which something else is said than before, with all that is said of them now."""

__all__ = ["Changed", "Session", "Stopped"]


class Session:
    """An open project. statistics: of the last answer. early: it was not wholly sure, and `settle` gives the one that is.

    ahead: answer early where that is much quicker (see `jitlint.driver.processes.ahead`), with a process beside this one.
    Nothing is looked at before the first call. `Stopped` is raised where ``stop`` answers True: what was said before
    still counts, and the next call catches up. ConfigError and AnalysisError are those of a run.
    """

    def __init__(
        self,
        paths: Sequence[str],
        settings: Settings,
        *,
        context: Sequence[str] = (),
        use_cache: bool = True,
        jobs: int | None = None,
        ahead: bool = False,
    ) -> None:
        self._paths = [os.path.abspath(path) for path in paths]
        self._context = [os.path.abspath(path) for path in context]
        self._use_cache = use_cache
        self._workers = Forked(jobs or available_cpus())
        self._unsaved: dict[str, bytes] = {}
        self._told: dict[str, list[Finding]] = {}
        self._workspace: Workspace | None = None
        self.statistics = Statistics()
        self.early = False
        self._ahead = Ahead() if ahead else None
        self._use(settings)

    def _use(self, settings: Settings) -> None:
        self._settings = settings
        self._asked = Asked.of(settings)
        self._root = project_root(self._paths)
        self._target = target_of(self._root, settings.jax_version, settings.from_jax_version)
        self._cache: Cache = cache_of(self._root, settings, self._use_cache)
        self._pages = Pages(self._cache)
        self._workspace = None

    @property
    def findings(self) -> Changed:
        """All that is said now, by absolute path; files without findings are left out."""
        return {path: list(found) for path, found in self._told.items()}

    def update(self, path: str, text: str | bytes | None, stop: Stop | None = None) -> Changed:
        """Somebody has typed: ``text`` is what the file holds now, saved or not; None: what the disk says holds again."""
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        if self._ahead is not None and data is not None:
            self._ahead.path = os.path.abspath(path)
        self._hold({os.path.abspath(path): data})
        return self._answer(stop)

    def settle(self, stop: Stop | None = None) -> Changed:
        """The exact answer, after an early one."""
        return self._answer(stop, exact=True)

    @property
    def is_ahead(self) -> bool:
        """Whether the next answer to an edit of the file that was edited last may be an early one."""
        return self._ahead is not None and self._ahead.is_ready

    def close(self) -> None:
        """End what runs beside this process."""
        if self._ahead is not None:
            self._ahead.close()

    def refresh(self, stop: Stop | None = None) -> Changed:
        """Files have changed on the disk, have come or gone."""
        self._workspace = None
        return self._answer(stop)

    def reload(self, settings: Settings, stop: Stop | None = None) -> Changed:
        """The configuration has changed. Raises ConfigError, and keeps the old one, for selectors that match no rule."""
        Asked.of(settings)
        self._use(settings)
        return self._answer(stop)

    def trial(self, texts: Mapping[str, bytes], stop: Stop | None = None) -> CheckResult:
        """What would be said if these files, by absolute path, held these texts. What is said does not change."""
        before = {path: self._unsaved.get(path) for path in texts}
        try:
            self._hold(texts)
            with quiet_collector():
                return self._checked(stop, None)
        finally:
            self._hold(before)

    def _hold(self, texts: Mapping[str, bytes | None]) -> None:
        """These are the texts of these files now; None: what the disk says."""
        for path, data in texts.items():
            if data is None:
                self._unsaved.pop(path, None)
            else:
                self._unsaved[path] = data
            if self._workspace is not None and not look_again(self._workspace, path, data):
                self._workspace = None

    def _answer(self, stop: Stop | None, exact: bool = False) -> Changed:
        with quiet_collector():
            result = self._checked(stop, self._ahead, exact)
        now: dict[str, list[Finding]] = {}
        for finding in sorted([*result.problems, *result.findings], key=lambda each: each.sort_key):
            now.setdefault(os.path.abspath(finding.path), []).append(finding)
        before, self._told = self._told, now
        self.statistics = result.statistics
        if result.statistics.units_run and not self.early:
            gc.collect()  # an analysis is a large knot
        return {
            path: now.get(path, []) for path in sorted({*before, *now}) if before.get(path) != now.get(path)
        }

    def _checked(self, stop: Stop | None, ahead: Ahead | None, exact: bool = True) -> CheckResult:
        clock = Clock()
        self._pages.looked_into.clear()
        with clock.phase("files"):
            workspace = self._workspace
            if workspace is None:
                new = [path for path in self._unsaved if not os.path.exists(path)]
                paths = [*self._paths, *new]
                workspace = read_workspace(paths, self._settings, self._cache, self._unsaved, self._context)
                self._workspace = workspace
        pipeline = Pipeline(
            workspace,
            self._settings,
            self._target,
            self._asked.possible,
            self._asked.left_out,
            self._workers,
            clock,
            stop=stop,
            pages=self._pages,
            ahead=ahead,
            exact=exact,
        )
        kept = with_kept_paths(pipeline.check(), workspace)
        if workspace.misled:
            self._workspace = None
            return self._checked(stop, ahead, exact)
        self.early = pipeline.early
        if workspace.lost or not pipeline.complete:
            self._workspace = None  # the next answer looks again
        for path in workspace.contents.keys() - self._unsaved.keys():
            del workspace.contents[path]  # the disk has them; how notebooks were read stays
        self._cache.save_index()
        self._cache.freeze()
        kept.statistics.seconds = clock.seconds
        return selected(kept, self._settings, self._asked, workspace)
