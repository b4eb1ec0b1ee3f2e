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
from jitlint.base.diagnostic import Confidence, Finding
from jitlint.base.result import CheckResult
from jitlint.base.text import display_path
from jitlint.confirm.agenda import Agenda
from jitlint.confirm.memory import Memory, installed_jax
from jitlint.confirm.planning.ahead import Ahead
from jitlint.confirm.planning.cells import Cells
from jitlint.confirm.planning.plan import Planner, Repairs, flag_for
from jitlint.confirm.planning.reach import Sources
from jitlint.confirm.pool import Answer, News, run
from jitlint.confirm.protocol import Flag
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
    """check: with what to prove. confirmations: one per finding, in their order. missed: only if asked for. calls: how many were made. reachable:
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
    proof = _Proof(paths, settings, options, told, recorded)

    def found(news: News) -> None:
        # What somebody else has said, or is also to be looked for, concerns all findings together.
        alone = recorded is None and not options.missed
        ahead = Ahead(settings, lambda findings: news(lambda: proof.expect(findings))) if alone else None
        checked = check(paths, settings, jobs=options.jobs, use_cache=options.use_cache, listener=ahead)
        checked.findings = sorted([*checked.findings, *checked.elsewhere], key=lambda each: each.sort_key)
        news(lambda: proof.begin(checked))

    return proof.result(found)


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
    proof = _Proof(paths, settings, options, told, recorded, repairs)
    return proof.result(lambda news: news(lambda: proof.begin(checked)))


# The numbers of findings that were known before the others.
_EXPECTED = 1_000_000


class _Proof:
    """One run: the findings by number, and what is known of them. What is called here is called in one thread."""

    def __init__(
        self,
        paths: Sequence[str],
        settings: Settings,
        options: Options,
        told: Callable[[Confirmation, int, int], None] | None,
        recorded: Callable[[Sequence[Finding]], Recorded] | None,
        repairs: Repairs | None = None,
    ) -> None:
        self._paths, self._settings, self._options = paths, settings, options
        self._told, self._recorded, self._repairs = told, recorded, repairs
        self._root = os.path.realpath(project_root(paths))
        self._stop = Stop()
        self._memory = Memory(self._root, options.use_cache)
        self._earlier = Recorded({})
        self._agenda: Agenda | None = None
        self._findings: dict[int, Finding] = {}
        self._flags: dict[int, Flag] = {}
        self._verdicts: dict[int, Confirmation] = {}
        self._shown: set[int] = set()
        self._checked: CheckResult | None = None

    def result(self, source: Callable[[News], None]) -> ConfirmResult:
        """Prove what ``source`` finds, to the end. Raises KeyboardInterrupt if somebody asks for an end before the check's."""
        with self._stop.listening(), contextlib.ExitStack() as stack:
            stack.callback(self._memory.save)  # also where nobody reads any more
            run(self, self._options.jobs, self._options.platform, self._stop, source)
            if self._checked is None:
                raise KeyboardInterrupt
            self._settle_all(self._findings.keys() - self._verdicts.keys())  # the run was ended
        answers = self._agenda.answers if self._agenda is not None else []
        return ConfirmResult(
            self._checked,
            [self._verdicts[number] for number in self._order],
            _missed(answers, self._sources.cells) if self._options.missed else [],
            self._agenda.calls if self._agenda is not None else 0,
            list(dict.fromkeys(what for answer in answers for what in answer.reachable)),
            self._stop.why,
            self._stop.asked,
        )

    # ------------------------------------------------------------ what is found

    def expect(self, findings: Sequence[Finding]) -> None:
        """The check is not over, and will have these findings."""
        known = self._numbers()
        found = {known.setdefault(_place(f), _EXPECTED + len(known)): f for f in findings}
        for number in found.keys() & self._findings.keys():
            self._is_now(number, found[number])
        self._add({number: finding for number, finding in found.items() if number not in self._findings})

    def begin(self, checked: CheckResult) -> None:
        """All findings are known."""
        known = self._numbers()
        found = {known.get(_place(f), number): f for number, f in _about_code(checked.findings).items()}
        self._order = list(found)
        self._checked = checked
        # What something surer has taken the place of is told with that.
        self._shown |= self._findings.keys() - found.keys()
        for number in sorted(found.keys() & self._findings.keys()):
            self._is_now(number, found[number])
        if self._recorded is not None:
            self._earlier = self._recorded(checked.findings)
        self._add({number: finding for number, finding in found.items() if number not in self._findings})

    def _numbers(self) -> dict[object, int]:
        return {_place(finding): number for number, finding in self._findings.items()}

    def _is_now(self, number: int, finding: Finding) -> None:
        """Another way may lead to a finding by now, and it may be surer."""
        self._findings[number] = finding
        if number in self._verdicts:
            self._verdicts[number] = replace(self._verdicts[number], finding=finding)
            self._tell(number)

    def _add(self, findings: dict[int, Finding]) -> None:
        self._findings.update(findings)
        if not findings and not self._options.missed:
            return
        if self._agenda is None:
            self._agenda = self._new_agenda()
        sources = self._sources
        inside = {n: sources.cells.in_module(finding) for n, finding in findings.items()}
        flags = {n: flag_for(n, f, os.path.realpath(f.path), sources) for n, f in inside.items()}
        still_open = {n: (f, flags[n]) for n, f in inside.items() if self._is_open(n, f)}
        self._settle_all(findings.keys() - still_open.keys())
        self._agenda.add(still_open, flags if self._options.missed else None)

    def _new_agenda(self) -> Agenda:
        options = self._options
        if options.total:
            self._stop.until = time.monotonic() + options.total
        named = _files(self._paths, self._settings)
        everywhere = list(dict.fromkeys([*named, *_files([self._root], self._settings)]))
        self._sources = Sources(self._root, named, everywhere)
        signatures = self._earlier.signatures
        planner = Planner(
            self._sources, options.seconds, options.memory, signatures, options.stub, self._repairs
        )
        return Agenda(planner, self._memory, self._stop, self._settle, options.each)

    def _settle(self, number: int) -> None:
        collected = self._agenda.collected.get(number, Collected()) if self._agenda else Collected()
        finding = self._findings[number]
        said = self._said(number, finding, collected)
        cells = self._sources.cells
        self._verdicts[number] = replace(
            said,
            evidence=cells.told(said.evidence, finding.path),
            inputs=cells.told(said.inputs, finding.path),
        )
        self._tell(number)

    def _tell(self, number: int) -> None:
        """Tell a verdict, once, and only if nothing can take back the finding."""
        final = self._checked is not None or self._findings[number].confidence is Confidence.CERTAIN
        if not final or number in self._shown:
            return
        self._shown.add(number)
        if self._told is not None:
            self._told(self._verdicts[number], len(self._shown), len(self._findings))

    def _settle_all(self, numbers: Collection[int]) -> None:
        for number in sorted(numbers):
            self._settle(number)

    def _said(self, number: int, finding: Finding, collected: Collected) -> Confirmation:
        """The verdict on one finding, and which JAX gave it."""
        earlier, stopped = self._earlier, self._stop.why
        if number in earlier.words:
            word, said = earlier.words[number]
            return Confirmation(finding, Verdict(word), said, earlier.run, earlier.jax)
        if not self._is_open(number, finding):
            why = "fixes of notebooks, and of texts, are not run"
            return Confirmation(finding, Verdict.COULD_NOT_IMPORT, why)
        if stopped and not collected.results and not collected.problems:
            return Confirmation(finding, Verdict.NOT_REACHED, f"not run: {stopped}")
        found = verdict(finding, collected)
        ran = found.verdict in (Verdict.CONFIRMED, Verdict.REFUTED)
        return replace(found, jax=installed_jax()) if ran else found

    def _is_open(self, number: int, finding: Finding) -> bool:
        """Whether there is something to be run: no recorded run has settled it, and it is no fix of a cell, as one that
        fails does not end the run."""
        fixed = self._repairs is not None and is_document(finding.path)
        return number not in self._earlier.words and not fixed

    # ------------------------------------------------------------ `Work`, as the agenda has it

    def take(self) -> Answer | None:
        """See `Work`."""
        return self._agenda.take() if self._agenda is not None else None

    def heard(self, answer: Answer, call: int) -> None:
        """See `Work`."""
        assert self._agenda is not None
        self._agenda.heard(answer, call)

    def finished(self, answer: Answer) -> None:
        """See `Work`."""
        assert self._agenda is not None
        self._agenda.finished(answer)


def _place(finding: Finding) -> object:
    return finding.path, finding.span, finding.code


def _about_code(findings: Sequence[Finding]) -> dict[int, Finding]:
    """The findings that can be shown by running something, by their number."""
    return {number: f for number, f in enumerate(findings) if not f.code.startswith("JIT0")}


def _files(paths: Sequence[str], settings: Settings) -> list[str]:
    return [os.path.realpath(path) for path in files_of(paths, settings).files]


def _missed(answers: Sequence[Answer], cells: Cells) -> list[Missed]:
    found: dict[tuple[str, int], Missed] = {}
    for answer in answers:
        for seen in answer.calls.values():
            for path, line, error in seen.strays:
                file, inner = cells.place(path, line)
                words = cells.told(error, path), cells.told(seen.inputs, path)
                found.setdefault((path, line), Missed(display_path(file), inner, *words))
    return sorted(found.values(), key=lambda missed: (missed.path, missed.line))
