"""From the findings of a check to verdicts (layer: ``confirm``).

What has to be run, and in which order, the agenda knows; the pool runs it. Answers are remembered by the content of the files
that took part.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Finding
from jitlint.base.result import CheckResult
from jitlint.base.text import display_path
from jitlint.confirm.agenda import Agenda
from jitlint.confirm.memory import Memory, installed_jax
from jitlint.confirm.plan import Planner, Repairs, flag_for
from jitlint.confirm.pool import Answer, run
from jitlint.confirm.reach import Sources
from jitlint.confirm.stopping import Stop
from jitlint.confirm.verdict import (
    Collected,
    Confirmation,
    Missed,
    Recorded,
    Verdict,
    verdict,
)
from jitlint.driver.files import files_of
from jitlint.driver.project import project_root
from jitlint.driver.run import check
from jitlint.syntax.documents import is_document


@dataclass(frozen=True, slots=True)
class Options:
    """seconds: wall time of one call. each: of the calls for one finding together, and total: of all calls, 0 for no limit. stub: give stand-ins for modules that are not there. memory: bytes of data. missed: look for what the analysis missed, too."""

    jobs: int = 2
    seconds: float = 20.0
    memory: int = 4 << 30
    platform: str = "cpu"
    use_cache: bool = True
    missed: bool = False
    total: float = 0.0
    each: float = 0.0
    stub: bool = False


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
    told: Callable[[Confirmation, int, int], None] | None = None,
    recorded: Callable[[Sequence[Finding]], Recorded] | None = None,
) -> ConfirmResult:
    """Check the paths and prove every finding by running it. Executes the code at the paths.

    ``told`` gets each verdict as soon as it is known, how many are known by now, and of how many findings. ``recorded`` says
    what an earlier run of the user's showed; what that has settled is not run again. Raises what `check` raises, and
    ConfigError if JAX cannot be imported.
    """
    checked = check(paths, settings, jobs=options.jobs, use_cache=options.use_cache)
    checked.findings = sorted([*checked.findings, *checked.elsewhere], key=lambda each: each.sort_key)
    return prove(checked, paths, settings, options, told, recorded)


def prove(
    checked: CheckResult,
    paths: Sequence[str],
    settings: Settings,
    options: Options,
    told: Callable[[Confirmation, int, int], None] | None = None,
    recorded: Callable[[Sequence[Finding]], Recorded] | None = None,
    repairs: Repairs | None = None,
) -> ConfirmResult:
    """As `confirm`, for findings that somebody has already made; with ``repairs``, whose numbers are theirs, of their fixes:
    confirmed then means that a fix cures and changes nothing else, refuted that it does harm."""
    result = ConfirmResult(checked)
    root = os.path.realpath(project_root(paths))
    named = _files(paths, settings)
    sources = Sources(root, named, list(dict.fromkeys([*named, *_files([root], settings)])))
    findings = _about_code(result.check.findings)
    flags = {n: flag_for(n, f, os.path.realpath(f.path), sources) for n, f in findings.items()}
    earlier = recorded(result.check.findings) if recorded is not None else Recorded({})
    planner = Planner(sources, options.seconds, options.memory, earlier.signatures, options.stub, repairs)
    memory = Memory(root, options.use_cache)
    stop = Stop(time.monotonic() + options.total if options.total else None)
    still_open = {n: (f, flags[n]) for n, f in findings.items() if _is_open(n, f, earlier)}
    verdicts: dict[int, Confirmation] = {}

    def settle(number: int) -> None:
        collected = agenda.collected.get(number, Collected())
        verdicts[number] = _said(number, findings[number], earlier, collected, stop.why)
        if told is not None:
            told(verdicts[number], len(verdicts), len(findings))

    with stop.listening(), contextlib.ExitStack() as stack:
        stack.callback(memory.save)  # also where nobody reads any more
        agenda = Agenda(still_open, planner, memory, stop, options.each, flags if options.missed else None)
        _settle_all(findings.keys() - still_open.keys(), settle)
        agenda.begin(settle)
        run(agenda, options.jobs, options.platform, stop)
        _settle_all(still_open.keys() - verdicts.keys(), settle)  # the run was ended
    result.missed = _missed(agenda.answers) if options.missed else []
    result.calls = agenda.calls
    result.reachable = list(dict.fromkeys(what for answer in agenda.answers for what in answer.reachable))
    result.stopped, result.asked = stop.why, stop.asked
    result.confirmations = [verdicts[number] for number in findings]
    return result


def _settle_all(numbers: Collection[int], settle: Callable[[int], None]) -> None:
    for number in sorted(numbers):
        settle(number)


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


def _files(paths: Sequence[str], settings: Settings) -> list[str]:
    """The Python files: notebooks and texts are checked, and not run."""
    found = files_of(paths, settings).files
    return [os.path.realpath(path) for path in found if not is_document(path)]


def _missed(answers: Sequence[Answer]) -> list[Missed]:
    found: dict[tuple[str, int], Missed] = {}
    for answer in answers:
        for seen in answer.calls.values():
            for path, line, error in seen.strays:
                found.setdefault((path, line), Missed(display_path(path), line, error, seen.inputs))
    return sorted(found.values(), key=lambda missed: (missed.path, missed.line))
