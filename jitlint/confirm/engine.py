"""From the findings of a check to verdicts (layer: ``confirm``).

First the calls that the project has itself (tests, cases, scripts), then searched inputs for the functions that no such call
confirmed. Answers are remembered by the content of the files that took part.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Finding
from jitlint.base.outcome import BakesConstant
from jitlint.base.result import CheckResult
from jitlint.base.text import display_path
from jitlint.confirm.memory import Memory, installed_jax
from jitlint.confirm.plan import Findings, Planner, flag_for
from jitlint.confirm.pool import Answer, run_tasks
from jitlint.confirm.protocol import Task
from jitlint.confirm.reach import Sources
from jitlint.confirm.stopping import Stop
from jitlint.confirm.verdict import (
    Collected,
    Confirmation,
    Missed,
    Recorded,
    Verdict,
    collect,
    verdict,
)
from jitlint.driver.files import find_files
from jitlint.driver.project import project_root
from jitlint.driver.registry import rules
from jitlint.driver.run import check
from jitlint.syntax.documents import is_document


@dataclass(frozen=True, slots=True)
class Options:
    """seconds: wall time of one call. total: of all calls together, 0 for no limit. memory: bytes of data. missed: look for what the analysis missed, too."""

    jobs: int = 2
    seconds: float = 20.0
    memory: int = 4 << 30
    platform: str = "cpu"
    use_cache: bool = True
    missed: bool = False
    total: float = 0.0


@dataclass(slots=True)
class ConfirmResult:
    """confirmations: one per finding, in their order. missed: only if asked for. calls: how many were made. reachable:
    what outside of it the code could have reached, in words, because the system does not let it be shut in.
    stopped: why the run ended before all was run, "" if it did not; asked: somebody wanted it to."""

    check: CheckResult
    confirmations: list[Confirmation] = field(default_factory=list)
    missed: list[Missed] = field(default_factory=list)
    calls: int = 0
    reachable: list[str] = field(default_factory=list)
    stopped: str = ""
    asked: bool = False


def confirm(
    paths: Sequence[str],
    settings: Settings,
    options: Options,
    progress: Callable[[int, int], None] | None = None,
    recorded: Callable[[Sequence[Finding]], Recorded] | None = None,
) -> ConfirmResult:
    """Check the paths and prove every finding by running it. Executes the code at the paths.

    ``progress`` is told how many tasks are done and how many there are. ``recorded`` says what an earlier run of the
    user's showed; what that has settled is not run again. Raises what `check` raises, and ConfigError if JAX cannot be
    imported.
    """
    checked = check(paths, settings, jobs=options.jobs, use_cache=options.use_cache)
    return prove(checked, paths, settings, options, progress, recorded)


def prove(
    checked: CheckResult,
    paths: Sequence[str],
    settings: Settings,
    options: Options,
    progress: Callable[[int, int], None] | None = None,
    recorded: Callable[[Sequence[Finding]], Recorded] | None = None,
) -> ConfirmResult:
    """As `confirm`, for findings that somebody has already made."""
    result = ConfirmResult(checked)
    root = os.path.realpath(project_root(paths))
    named = _files(paths, settings)
    sources = Sources(root, named, list(dict.fromkeys([*named, *_files([root], settings)])))
    findings = _about_code(result.check.findings)
    flags = {
        number: flag_for(number, finding, os.path.realpath(finding.path), sources)
        for number, finding in findings.items()
    }
    earlier = recorded(result.check.findings) if recorded is not None else Recorded({})
    planner = Planner(sources, options.seconds, options.memory, earlier.signatures)
    memory = Memory(root, options.use_cache)
    collected: dict[int, Collected] = {number: Collected() for number in findings}
    stop = Stop(time.monotonic() + options.total if options.total else None)
    run = _Runner(memory, options, progress, stop)

    still_open = {n: (f, flags[n]) for n, f in findings.items() if _is_open(n, f, earlier)}
    with stop.listening():
        answers = run(planner.drive(still_open, flags if options.missed else None))
        result.missed = _missed(answers) if options.missed else []
        collect(answers, collected)
        for more in (planner.parts, planner.search):
            left = _left(still_open, collected, more == planner.search)
            unloaded = {number for number in left if collected[number].is_unloaded}
            collect(run(more(left, unloaded)), collected)
    memory.save()
    result.calls, result.reachable = run.calls, run.reachable
    result.stopped, result.asked = stop.why, stop.asked
    result.confirmations = [
        _said(n, finding, earlier, collected[n], stop.why) for n, finding in findings.items()
    ]
    return result


def _about_code(findings: Sequence[Finding]) -> dict[int, Finding]:
    """The findings that can be shown by running something, by their number."""
    return {number: f for number, f in enumerate(findings) if not f.code.startswith("JIT0")}


def _said(
    number: int, finding: Finding, earlier: Recorded, collected: Collected, stopped: str
) -> Confirmation:
    """The verdict on one finding, and which JAX gave it."""
    if number in earlier.words:
        word, said = earlier.words[number]
        return Confirmation(finding, Verdict(word), said, earlier.run, earlier.jax)
    if is_document(finding.path):
        return Confirmation(finding, Verdict.COULD_NOT_IMPORT, "a notebook, or a text, is not run")
    if stopped and not collected.results and not collected.problems:
        return Confirmation(finding, Verdict.NOT_REACHED, f"not run: {stopped}")
    found = verdict(finding, collected)
    ran = found.verdict in (Verdict.CONFIRMED, Verdict.REFUTED)
    return replace(found, jax=installed_jax()) if ran else found


def _is_open(number: int, finding: Finding, earlier: Recorded) -> bool:
    """Whether there is something to be run: no recorded run has settled it, and it stands in code."""
    return number not in earlier.words and not is_document(finding.path)


def _left(still_open: Findings, collected: Mapping[int, Collected], search: bool) -> Findings:
    """What nothing has confirmed so far; with ``search``, of that what made-up calls may tell something about."""
    left = {number: pair for number, pair in still_open.items() if not collected[number].is_confirmed}
    return {n: pair for n, pair in left.items() if not (search and _is_answered(pair[0], collected[n]))}


def _is_answered(finding: Finding, collected: Collected) -> bool:
    """Whether the project's own calls came to the line of a value that may go stale: how often it is called, and what
    changes in between, is the program's matter, and nothing that made-up calls can tell."""
    outcome = rules()[finding.code].outcome_of(finding.case)
    return isinstance(outcome, BakesConstant) and any(r.status == "unshown" for r, _ in collected.results)


def _files(paths: Sequence[str], settings: Settings) -> list[str]:
    """The Python files: notebooks and texts are checked, and not run."""
    found = find_files(paths, settings.excluded, settings.directory).files
    return [os.path.realpath(path) for path in found if not is_document(path)]


class _Runner:
    """Runs tasks that are not remembered. calls: how many were made, or remembered. reachable: see `ConfirmResult`."""

    def __init__(
        self, memory: Memory, options: Options, progress: Callable[[int, int], None] | None, stop: Stop
    ) -> None:
        self._stop = stop
        self._memory = memory
        self._options = options
        self._progress = progress
        self.calls = 0
        self.reachable: list[str] = []

    def __call__(self, tasks: Sequence[Task]) -> list[Answer]:
        known = {index: answer for index, task in enumerate(tasks) if (answer := self._memory.find(task))}
        new = [task for index, task in enumerate(tasks) if index not in known]
        finished = 0

        def done(answer: Answer) -> None:
            nonlocal finished
            finished += 1
            if self._progress is not None:
                self._progress(finished, len(new))

        fresh = iter(
            run_tasks(new, self._options.jobs, self._options.platform, done, self._stop) if new else []
        )
        answers = [known[index] if index in known else next(fresh) for index in range(len(tasks))]
        for answer in answers:
            self._memory.keep(answer)
            self.calls += len(answer.calls)
            self.reachable = list(dict.fromkeys([*self.reachable, *answer.reachable]))
        return answers


def _missed(answers: Sequence[Answer]) -> list[Missed]:
    found: dict[tuple[str, int], Missed] = {}
    for answer in answers:
        for seen in answer.calls.values():
            for path, line, error in seen.strays:
                found.setdefault((path, line), Missed(display_path(path), line, error, seen.inputs))
    return sorted(found.values(), key=lambda missed: (missed.path, missed.line))
