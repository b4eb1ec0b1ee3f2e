"""One run from paths to results: the phases in order, and the cache around them (layer: ``driver``).

`check` gives findings, `traced` gives the functions that traced code reaches. Both remember their result by
everything it depends on; an unchanged tree is answered without importing the parser or the interpreter.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import msgspec

from jitlint.base.config import ConfigError, Settings
from jitlint.base.diagnostic import Confidence, Finding, Severity, Span
from jitlint.base.result import AnalysisError, CheckResult, Reason, Statistics, TracedResult, TracedRow
from jitlint.base.text import display_path
from jitlint.driver.documents import in_document, placed
from jitlint.driver.files import FileIgnores
from jitlint.driver.project import is_test_code
from jitlint.driver.registry import rule_url, rules
from jitlint.driver.schedule import Progress, available_cpus
from jitlint.driver.select import selected_codes, wanted
from jitlint.driver.target import target_of
from jitlint.driver.workspace import open_workspace

if TYPE_CHECKING:
    from jitlint.driver.lowering import Lowered
    from jitlint.driver.positions import Positions
    from jitlint.driver.suppress import Comment
    from jitlint.infer.events import TracedFunction
    from jitlint.link.program import Analysis


class _KeptCheck(msgspec.Struct):
    """A check's result before selection, with paths relative to the project's top. by_noqa: silenced by ``noqa``."""

    findings: list[Finding]
    by_noqa: list[Finding]
    problems: list[Finding]
    statistics: Statistics


class _KeptTraced(msgspec.Struct):
    rows: list[TracedRow]
    problems: list[Finding]
    statistics: Statistics


_Kept = TypeVar("_Kept", _KeptCheck, _KeptTraced)


@dataclass(slots=True)
class _Clock:
    """Wall time per phase."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time spent inside to the phase ``name``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def check(
    paths: Sequence[str],
    settings: Settings,
    *,
    jobs: int | None = None,
    use_cache: bool = True,
    unsaved: Mapping[str, bytes] | None = None,
    context: Sequence[str] = (),
    respect_noqa: bool = True,
    progress: Progress | None = None,
) -> CheckResult:
    """Everything jitlint has to say about the files at ``paths``, as the settings select it.

    unsaved: contents that take the place of what is on disk, by absolute path. context: files and folders to look for
    callers in; nothing is reported on them. respect_noqa: leave out what a
    ``noqa`` comment silences. Raises ConfigError for selectors that match no rule and AnalysisError if jitlint
    itself fails.
    """
    codes = selected_codes(settings, rules())
    possible = settings.min_confidence is Confidence.POSSIBLE
    with _quiet_collector():
        left_out = _unasked(codes)
        run = _Run(paths, settings, possible, left_out, jobs, use_cache, unsaved or {}, context, progress)
        kept = run.remembered("check", _KeptCheck, run.check)
    found = kept.findings if respect_noqa else [*kept.findings, *kept.by_noqa]
    ignores = FileIgnores(settings.per_file_ignores, settings.directory or os.getcwd())
    findings = wanted(found, settings, codes, rules(), lambda path: ignores.selectors(run.absolute(path)))
    findings.sort(key=lambda finding: finding.sort_key)
    everywhere, root = len(findings), run.root
    if settings.tests == "errors":
        findings = [
            f
            for f in findings
            if f.severity is Severity.ERROR or not is_test_code(run.absolute(f.path), root)
        ]
    urls = {f.code: url for f in findings if (url := rule_url(rules()[f.code]))}
    place = run.shown
    return CheckResult(
        [place(f) for f in findings],
        [place(f) for f in kept.problems],
        kept.statistics,
        urls,
        everywhere - len(findings),
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
    with _quiet_collector():
        run = _Run(paths, settings, True, frozenset(), jobs, use_cache, {}, (), progress)
        kept = run.remembered("traced", _KeptTraced, run.traced)
    rows = [
        replace(
            row,
            path=run.shown_path(row.path),
            because=tuple(replace(reason, path=run.shown_path(reason.path)) for reason in row.because),
        )
        for row in kept.rows
    ]
    return TracedResult(rows, [run.shown(problem) for problem in kept.problems], kept.statistics)


class _Run:
    """The state of one run. left_out: rules whose findings nobody asks for; there may be many, each costs a position."""

    def __init__(
        self,
        paths: Sequence[str],
        settings: Settings,
        possible: bool,
        left_out: frozenset[str],
        jobs: int | None,
        use_cache: bool,
        unsaved: Mapping[str, bytes],
        context: Sequence[str],
        progress: Progress | None,
    ) -> None:
        self._clock = _Clock()
        self._settings = settings
        self._possible = possible
        self._jobs = jobs or available_cpus()
        self._left_out = left_out
        self._complete = True
        self._progress = progress
        with self._clock.phase("files"):
            self._workspace = open_workspace(paths, settings, use_cache, unsaved, context)
            self._target = target_of(self._workspace.root, settings.jax_version, settings.from_jax_version)

    @property
    def root(self) -> str:
        """The top of the project."""
        return self._workspace.root

    # ------------------------------------------------------------ the cache around a run

    def remembered(self, command: str, kind: type[_Kept], compute: Callable[[], _Kept]) -> _Kept:
        """The kept result of an equal run, or a new one."""
        workspace = self._workspace
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
        kept.statistics.cached = hit
        kept.statistics.seconds = self._clock.seconds
        return kept

    def _key(self, command: str) -> str:
        """Everything that the result depends on: the tool is part of the index and of the names below."""
        workspace = self._workspace
        named, relevant = set(workspace.named), set(workspace.relevant)
        parts: list[object] = [
            command,
            workspace.cache.tool,
            self._possible,
            sorted(self._left_out),
            self._settings.traced,
            self._settings.catalogue,
            (self._target.version, self._target.before),
            [(self._kept_path(path), why) for path, why in workspace.failures],
        ]
        for path, entry in workspace.entries.items():
            roles = (path in named, path in relevant)
            parts.append((self._kept_path(path), workspace.names[path], entry.digest, roles))
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:40]

    # ------------------------------------------------------------ the phases

    def check(self) -> _KeptCheck:
        from jitlint.driver.judge import findings, origins, verdicts
        from jitlint.driver.suppress import judge

        lowered, analysis = self._analysed()
        names, paths = self._workspace.names, {n: p for p, n in self._workspace.names.items()}
        with self._clock.phase("judge"):
            reported = {names[path]: path for path in self._workspace.named if path in names}
            found = [
                verdict
                for verdict in verdicts(analysis.events, rules(), reported)
                if self._possible or verdict.event.place.confidence is not Confidence.POSSIBLE
                if verdict.rule.code not in self._left_out
            ]
        with self._clock.phase("spans"):
            positions = self._locate(origins(found, paths), lowered)
            lost = self._workspace.lost
            found = [verdict for verdict in found if paths[verdict.event.place.module] not in lost]
        with self._clock.phase("judge"):
            named = set(self._workspace.named)
            looked_at = [
                path for path in self._workspace.relevant if path in named and self._may_silence(path)
            ]
            judged = judge(
                findings(found, paths, positions, self._text), looked_at, self._text, self._unheard
            )
            unused = [_unused(path, comment) for path, comment in judged.unused]
        return _KeptCheck(
            [self._kept(finding) for finding in (*judged.findings, *unused)],
            [self._kept(finding) for finding in judged.by_noqa],
            [self._kept(problem) for problem in self._problems(lowered, analysis)],
            self._statistics(lowered, analysis),
        )

    def traced(self) -> _KeptTraced:
        lowered, analysis = self._analysed(parameters=True)
        names, paths = self._workspace.names, {n: p for p, n in self._workspace.names.items()}
        reported = {names[path] for path in self._workspace.named if path in names}
        functions = [function for function in analysis.traced if function.module in reported]
        needed: dict[str, set[int]] = {}
        for function in functions:
            needed.setdefault(paths[function.module], set()).add(function.first_at)
            for step in function.because:
                if step.module in paths:
                    needed.setdefault(paths[step.module], set()).add(step.at)
        with self._clock.phase("spans"):
            positions = self._locate(needed, lowered)
            functions = [each for each in functions if paths[each.module] not in self._workspace.lost]

        rows = [self._traced_row(function, paths, positions) for function in functions]
        rows.sort(key=lambda row: (row.path, row.line, row.qualname))
        problems = [self._kept(problem) for problem in self._problems(lowered, analysis)]
        return _KeptTraced(rows, problems, self._statistics(lowered, analysis))

    def _traced_row(
        self, function: TracedFunction, paths: Mapping[str, str], positions: Positions
    ) -> TracedRow:
        def span(module: str, at: int) -> Span:
            return placed(paths[module], positions.span(paths[module], at), self._workspace)

        here = span(function.module, function.first_at)
        because = [(step, span(step.module, step.at)) for step in function.because if step.module in paths]
        return TracedRow(
            path=self._kept_path(paths[function.module]),
            qualname=function.qualname,
            line=here.line,
            modes=tuple(word for letter, word in _MODES if letter in function.modes),
            parameters=tuple((parameter.name, parameter.status) for parameter in function.parameters),
            because=tuple(
                Reason(self._kept_path(paths[step.module]), at.line, step.message, at.cell)
                for step, at in because
            ),
            ground=function.ground,
            confidence=function.confidence,
            cell=here.cell,
        )

    def _analysed(self, parameters: bool = False) -> tuple[Lowered, Analysis]:
        from jitlint.driver.lowering import lower_files

        workspace = self._workspace
        with self._clock.phase("parse"):
            lowered = lower_files(workspace, self._jobs, self._progress)
        self._complete = lowered.complete
        with self._clock.phase("analyse"):
            return lowered, self._analyse(lowered, parameters)

    def _analyse(self, lowered: Lowered, parameters: bool) -> Analysis:
        from jitlint.catalogue.schema import CatalogueError
        from jitlint.driver.deep import on_deep_stack
        from jitlint.driver.project import is_test
        from jitlint.link.program import ModuleInput, Options, analyse

        workspace = self._workspace
        modules = [
            ModuleInput(
                name=workspace.names[path],
                path=display_path(path),
                is_package=os.path.basename(path) == "__init__.py",
                data=data,
                is_test=is_test(path, workspace.root),
            )
            for path in workspace.relevant
            if (data := lowered.modules.get(path)) is not None
        ]
        options = Options(
            traced=self._settings.traced,
            include_possible=self._possible,
            parameters=parameters,
            catalogue=self._settings.catalogue,
            jax_version=self._target.version,
            jax_before=self._target.before,
        )
        try:
            return on_deep_stack(lambda: analyse(modules, options))
        except CatalogueError as error:
            raise ConfigError(str(error)) from error
        except Exception as error:
            raise AnalysisError(f"{type(error).__name__}: {error}") from error

    def _locate(self, needed: dict[str, set[int]], lowered: Lowered) -> Positions:
        from jitlint.driver.positions import locate

        return locate(self._workspace, needed, lowered.modules, self._jobs)

    def _may_silence(self, path: str) -> bool:
        """Whether a file can have a comment that silences something."""
        try:
            data = self._workspace.content(path).lower()
        except OSError:
            return False
        return b"jitlint" in data or b"noqa" in data

    def _text(self, path: str) -> str | None:
        from jitlint.syntax.source import SyntaxProblem, decode

        try:
            text = decode(self._workspace.content(path))
        except OSError:
            return None
        return None if isinstance(text, SyntaxProblem) else text

    def _statistics(self, lowered: Lowered, analysis: Analysis) -> Statistics:
        return Statistics(
            files=len(self._workspace.named),
            lines=self._workspace.lines,
            parsed=len(lowered.modules),
            jit_sites=analysis.jit_sites,
            jit_sites_resolved=analysis.jit_sites_resolved,
            notes=dict(analysis.notes),
            jax=self._target.words,
            unmatched=list(analysis.unmatched),
        )

    def _problems(self, lowered: Lowered, analysis: Analysis) -> list[Finding]:
        """What could not be analysed, of what was asked for."""
        named = set(self._workspace.named)
        problems = [_problem("JIT002", path, why, 1, 1) for path, why in self._workspace.failures]
        problems += [
            _problem("JIT002", path, f"cannot read the file: {why}", 1, 1)
            for path, why in self._workspace.lost.items()
            if path in named and path not in lowered.problems
        ]
        problems += [
            _problem(problem.code, path, problem.message, problem.line, problem.column)
            for path, problem in (*lowered.problems.items(), *lowered.partial)
            if path in named
        ]
        problems += [
            _problem(
                "JIT003", path, f"internal error while analysing this file, please report it ({why})", 1, 1
            )
            for path, name in self._workspace.names.items()
            if path in named and (why := analysis.failures.get(name)) is not None
        ]
        if (why := analysis.failures.get("")) is not None:
            message = f"internal error while analysing all files together, please report it ({why})"
            problems.append(_problem("JIT003", self._workspace.root, message, 1, 1))
        return sorted(problems, key=lambda problem: problem.sort_key)

    # ------------------------------------------------------------ paths

    def _kept_path(self, path: str) -> str:
        """As remembered: relative to the project's top, so that the tree may move."""
        return os.path.relpath(path, self._workspace.root)

    def absolute(self, kept: str) -> str:
        """A kept path as an absolute one."""
        return os.path.normpath(os.path.join(self._workspace.root, kept))

    def shown_path(self, kept: str) -> str:
        """A kept path for people: relative to the working directory."""
        return display_path(os.path.join(self._workspace.root, kept))

    def _kept(self, finding: Finding) -> Finding:
        return _with_paths(in_document(finding, self._workspace), self._kept_path)

    def shown(self, finding: Finding) -> Finding:
        """The finding with paths for people: relative to the working directory."""
        return _with_paths(finding, self.shown_path)

    def _unheard(self, comment: Comment) -> bool:
        """Whether a comment silences a rule that is left out."""
        codes = self._left_out if comment.codes else ()
        return any(comment.matches(code, rules()[code].name) for code in codes)


def _unasked(codes: frozenset[str]) -> frozenset[str]:
    """The rules that are off unless somebody asks for them, and nobody does."""
    return frozenset(code for code, rule in rules().items() if rule.severity is Severity.INFO) - codes


_MODES = (("S", "staged"), ("B", "batched"), ("L", "linear"))


def _problem(code: str, path: str, message: str, line: int, column: int) -> Finding:
    rule = rules()[code]
    span = Span(line, column, line, column + 1)
    return Finding(code, rule.name, rule.severity, Confidence.CERTAIN, message, path, span)


def _unused(path: str, comment: Comment) -> Finding:
    from jitlint.driver.suppress import VERBS

    rule = rules()["JIT004"]
    help = "remove the comment"
    if comment.verb not in (*VERBS, "noqa"):
        rule = rules()["JIT005"]
        message = f"this comment silences nothing: `{comment.verb}` is not known"
        help = f"use {', '.join(f'`{verb}`' for verb in VERBS[:-1])} or `{VERBS[-1]}`"
        if comment.verb.endswith(("[]", "()")):
            message = (
                f"this comment silences nothing: after `{comment.verb[:-2]}` come rules in square brackets"
            )
            help = f"write `{comment.verb[:-2]}[JIT101]`"
    else:
        names = (code.upper() if code.startswith("jit") else code for code in sorted(comment.codes))
        codes = ", ".join(names) or "anything"
        message = f"this comment silences nothing: there is no finding of {codes} here"
    return Finding(
        rule.code,
        rule.name,
        rule.severity,
        Confidence.CERTAIN,
        message,
        path,
        comment.span,
        help,
    )


def _with_paths(finding: Finding, convert: Callable[[str], str]) -> Finding:
    related = tuple(replace(step, path=convert(step.path)) for step in finding.related)
    return replace(finding, path=convert(finding.path), related=related)


@contextlib.contextmanager
def _quiet_collector() -> Iterator[None]:
    """Without the cyclic collector: nearly everything that a run allocates lives until its end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
