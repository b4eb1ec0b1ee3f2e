"""One run from paths to results: what is asked, the cache of whole runs, selection (layer: ``driver``).

`check` gives findings, `traced` gives the functions that traced code reaches. Both remember their result by
everything it depends on; an unchanged tree is answered without importing the parser or the interpreter. What happens when
something has changed is in `jitlint.driver.pipeline`.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Confidence, Finding, Severity
from jitlint.base.result import CheckResult, TracedResult, TracedRow
from jitlint.base.text import display_path
from jitlint.driver.documents import in_document
from jitlint.driver.files import FileIgnores
from jitlint.driver.memory.kept import Clock, KeptCheck, KeptTraced
from jitlint.driver.processes.schedule import Forked, Progress, Workers, available_cpus
from jitlint.driver.project import callers_of, is_test_code
from jitlint.driver.registry import rules
from jitlint.driver.select import selected_codes, wanted
from jitlint.driver.target import target_of
from jitlint.driver.workspace import Workspace, open_workspace

if TYPE_CHECKING:
    from jitlint.driver.pipeline import Listener, Pipeline

_Kept = TypeVar("_Kept", KeptCheck, KeptTraced)


def check(
    paths: Sequence[str],
    settings: Settings,
    *,
    jobs: int | None = None,
    use_cache: bool = True,
    unsaved: Mapping[str, bytes] | None = None,
    context: Sequence[str] | None = None,
    respect_noqa: bool = True,
    progress: Progress | None = None,
    listener: Listener | None = None,
    workers: Workers | None = None,
) -> CheckResult:
    """Everything jitlint has to say about the files at ``paths``, as the settings select it.

    unsaved: contents that take the place of what is on disk, by absolute path. context: files and folders to look for
    callers in, by default all of the project; nothing is reported on them. respect_noqa: leave out what a
    ``noqa`` comment silences. listener: see `Pipeline`. workers: who does the work instead of ``jobs`` processes here. Raises ConfigError for selectors that match no rule and AnalysisError if jitlint
    itself fails.
    """
    asked = Asked.of(settings)
    with quiet_collector():
        hands = workers or Forked(jobs or available_cpus())
        run = _Run(paths, settings, asked, hands, use_cache, unsaved or {}, context, progress, listener)
        kept = run.remembered("check", KeptCheck, run.check)
    return selected(kept, settings, asked, run.workspace, respect_noqa)


@dataclass(frozen=True, slots=True)
class PartFound:
    """What was found in a part of a project, before anybody selects. state: stands for all that the whole result depends on,
    but for the tool."""

    kept: KeptCheck
    workspace: Workspace
    state: str


def check_part(
    paths: Sequence[str],
    settings: Settings,
    narrow: Callable[[Workspace], None],
    *,
    workers: Workers,
    use_cache: bool = True,
    context: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> PartFound:
    """As `check`, in those files alone that ``narrow`` leaves of a project. Raises what `check` raises."""
    with quiet_collector():
        asked = Asked.of(settings)
        run = _Run(paths, settings, asked, workers, use_cache, {}, context, progress, narrow=narrow)
        kept = run.remembered("check", KeptCheck, run.check)
    return PartFound(kept, run.workspace, run.state)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the settings ask the analysis for. codes: of the rules that are on. left_out: rules that are off unless
    somebody asks for them; there may be many findings, each costs a position. possible: of that confidence, too."""

    codes: frozenset[str]
    left_out: frozenset[str]
    possible: bool

    @staticmethod
    def of(settings: Settings) -> Asked:
        """Raises ConfigError for selectors that match no rule."""
        codes = selected_codes(settings, rules())
        quiet = frozenset(code for code, rule in rules().items() if rule.severity is Severity.INFO)
        return Asked(codes, quiet - codes, settings.min_confidence is Confidence.POSSIBLE)


class Shows:
    """Which findings the settings ask for, of those in the project at ``root``; their paths are relative to it, or absolute."""

    def __init__(self, settings: Settings, asked: Asked, root: str) -> None:
        self._settings = settings
        self._asked = asked
        self._root = root
        self._ignores = FileIgnores(settings.per_file_ignores, settings.directory or os.getcwd())

    def all_of(self, found: Sequence[Finding]) -> list[Finding]:
        """Those that a report has."""
        return [finding for finding in self.wanted(found) if self.counts(finding)]

    def wanted(self, found: Sequence[Finding]) -> list[Finding]:
        """Those of selected rules that are sure and severe enough."""
        codes, ignored = self._asked.codes, self._ignores.selectors
        return wanted(found, self._settings, codes, rules(), lambda path: ignored(self._absolute(path)))

    def counts(self, finding: Finding) -> bool:
        """Whether a finding in test code, if it is in such, is one that is reported there."""
        if self._settings.tests != "errors" or finding.severity is Severity.ERROR:
            return True
        return not is_test_code(self._absolute(finding.path), self._root)

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self._root, path))


def selected(
    kept: KeptCheck, settings: Settings, asked: Asked, workspace: Workspace, respect_noqa: bool = True
) -> CheckResult:
    """Of what was found, with paths relative to the project's top, what the settings ask for, with paths for people."""
    root = workspace.root
    shows = Shows(settings, asked, root)

    def absolute(path: str) -> str:
        return os.path.normpath(os.path.join(root, path))

    def chosen(found: Sequence[Finding]) -> list[Finding]:
        return sorted(shows.wanted(found), key=lambda finding: finding.sort_key)

    def place(finding: Finding) -> Finding:
        return with_paths(finding, lambda path: display_path(os.path.join(root, path)))

    everywhere = chosen(kept.findings if respect_noqa else [*kept.findings, *kept.by_noqa])
    findings = [place(f) for f in everywhere if shows.counts(f)]
    # A comment on a line that nobody is shown is heard in any case: who would hear it elsewhere?
    elsewhere = [place(f) for f in chosen(kept.elsewhere) if shows.counts(f)]
    return CheckResult(
        findings,
        [place(f) for f in kept.problems],
        kept.statistics,
        {f.code: url for f in (*findings, *elsewhere) if (url := rules()[f.code].url)},
        len(everywhere) - len(findings),
        elsewhere,
        frozenset(workspace.named),
        [display_path(absolute(path)) for path in kept.unread],
    )


def traced(
    paths: Sequence[str],
    settings: Settings,
    *,
    jobs: int | None = None,
    use_cache: bool = True,
    progress: Progress | None = None,
) -> TracedResult:
    """Every function in the files at ``paths`` that some traced code reaches, on whatever ground.

    Raises AnalysisError if jitlint itself fails.
    """
    asked = Asked(frozenset(), frozenset(), True)
    with quiet_collector():
        workers = Forked(jobs or available_cpus())
        run = _Run(paths, settings, asked, workers, use_cache, {}, None, progress)
        kept = run.remembered("traced", KeptTraced, run.traced)

    def shown(path: str) -> str:
        return display_path(os.path.join(run.workspace.root, path))

    rows = [_row_with_paths(row, shown) for row in kept.rows]
    return TracedResult(rows, [with_paths(each, shown) for each in kept.problems], kept.statistics)


class _Run:
    """The state of one run."""

    def __init__(
        self,
        paths: Sequence[str],
        settings: Settings,
        asked: Asked,
        workers: Workers,
        use_cache: bool,
        unsaved: Mapping[str, bytes],
        context: Sequence[str] | None,
        progress: Progress | None,
        listener: Listener | None = None,
        narrow: Callable[[Workspace], None] | None = None,
    ) -> None:
        self._listener = listener
        self._clock = Clock()
        self._settings = settings
        self._asked = asked
        self._workers = workers
        self._complete = True
        self._progress = progress
        around = callers_of(paths) if context is None else context
        self._open = partial(open_workspace, paths, settings, use_cache, unsaved, around)
        self._narrow = narrow
        self.state = ""
        self._look()

    def _look(self) -> None:
        settings = self._settings
        with self._clock.phase("files"):
            self.workspace = self._open()
            self._target = target_of(self.workspace.root, settings.jax_version, settings.from_jax_version)
            if self._narrow is not None:
                self.state = _digest(self._depends())
                self._narrow(self.workspace)

    # ------------------------------------------------------------ the cache around a run

    def remembered(self, command: str, kind: type[_Kept], compute: Callable[[], _Kept]) -> _Kept:
        """The kept result of an equal run, or a new one."""
        kept = self._once(command, kind, compute)
        if self.workspace.misled:
            self._look()
            kept = self._once(command, kind, compute)
        kept.statistics.seconds = self._clock.seconds
        kept.statistics.excluded = [display_path(path) for path in self.workspace.excluded]
        kept.statistics.hidden = [display_path(path) for path in self.workspace.hidden]
        return kept

    def _once(self, command: str, kind: type[_Kept], compute: Callable[[], _Kept]) -> _Kept:
        workspace = self.workspace
        key = self._key(command)
        with self._clock.phase("cache"):
            kept = workspace.cache.run(key, kind)
        hit = kept is not None
        if kept is None:
            kept = compute()
            with self._clock.phase("cache"):
                if self._complete and not workspace.lost:
                    workspace.cache.keep_run(key, kept)
        workspace.cache.save_index()
        if hit:
            kept.statistics.cached = True
            kept.statistics.units_run = kept.statistics.lowered = kept.statistics.placed = 0
        return kept

    def _key(self, command: str) -> str:
        """Everything that the result depends on: the tool is part of the index and of the names below."""
        return _digest([command, self.workspace.cache.tool, *self._depends()])

    def _depends(self) -> list[object]:
        workspace = self.workspace
        named, relevant = set(workspace.named), set(workspace.relevant)
        parts: list[object] = [
            self._asked.possible,
            sorted(self._asked.left_out),
            self._settings.traced,
            [workspace.kept_path(path) for path in self._settings.catalogue],
            (self._target.version, self._target.before, self._target.flax),
            [(workspace.kept_path(path), why) for path, why in workspace.failures],
        ]
        for path, entry in workspace.entries.items():
            roles = (path in named, path in relevant)
            parts.append((workspace.kept_path(path), workspace.names[path], entry.digest, roles))
        return parts

    # ------------------------------------------------------------ what is computed

    def check(self) -> KeptCheck:
        """The findings, with paths relative to the project's top, so that the tree may move."""
        pipeline = self._pipeline()
        kept = pipeline.check()
        self._complete = pipeline.complete
        return with_kept_paths(kept, self.workspace)

    def traced(self) -> KeptTraced:
        """The traced functions, with such paths."""
        pipeline = self._pipeline()
        kept = pipeline.traced()
        self._complete = pipeline.complete
        workspace = self.workspace
        rows = [_row_with_paths(row, workspace.kept_path) for row in kept.rows]
        rows.sort(key=lambda row: (row.path, row.line, row.qualname))
        problems = [with_paths(in_document(each, workspace), workspace.kept_path) for each in kept.problems]
        return KeptTraced(rows, problems, kept.statistics)

    def _pipeline(self) -> Pipeline:
        from jitlint.driver.pipeline import Pipeline

        return Pipeline(
            self.workspace,
            self._settings,
            self._target,
            self._asked.possible,
            self._asked.left_out,
            self._workers,
            self._clock,
            self._progress,
            listener=self._listener,
        )


def with_kept_paths(kept: KeptCheck, workspace: Workspace) -> KeptCheck:
    """With paths relative to the project's top."""

    def place(finding: Finding) -> Finding:
        return with_paths(in_document(finding, workspace), workspace.kept_path)

    return KeptCheck(
        [place(each) for each in kept.findings],
        [place(each) for each in kept.by_noqa],
        [place(each) for each in kept.problems],
        kept.statistics,
        [place(each) for each in kept.elsewhere],
        [workspace.kept_path(path) for path in kept.unread],
    )


def _digest(parts: list[object]) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _row_with_paths(row: TracedRow, convert: Callable[[str], str]) -> TracedRow:
    because = tuple(replace(reason, path=convert(reason.path)) for reason in row.because)
    return replace(row, path=convert(row.path), because=because)


def with_paths(finding: Finding, convert: Callable[[str], str]) -> Finding:
    """The finding with other paths."""
    related = tuple(replace(step, path=convert(step.path)) for step in finding.related)
    return replace(finding, path=convert(finding.path), related=related)


@contextlib.contextmanager
def quiet_collector() -> Iterator[None]:
    """Without the cyclic collector: nearly everything that a run allocates lives until its end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
