"""What is known of a finding after everything has been run (layer: ``confirm``)."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jitlint.base.diagnostic import Finding
from jitlint.confirm.protocol import Call, Result, Seen

ENDED_BEFORE = "the run ended before"
"""How the evidence begins where something else than the finding, or an import, ended a run."""


class Verdict(str, enum.Enum):
    """confirmed: seen. refuted: ran under a trace with traced values, and nothing happened. not-reached: nothing
    that could be run got there, or it did not show. no-inputs: no arguments were found for the function."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_REACHED = "not-reached"
    NO_INPUTS = "no-inputs"
    COULD_NOT_IMPORT = "could-not-import"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A finding with its verdict. evidence: one sentence. inputs: what was run. jax: the version that ran, "" if none
    had to."""

    finding: Finding
    verdict: Verdict
    evidence: str
    inputs: str = ""
    jax: str = ""


@dataclass(frozen=True, slots=True)
class Missed:
    """A tracing error at a line without a finding. inputs: what was run."""

    path: str
    line: int
    error: str
    inputs: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a recorded run said. words: by the number of the finding, ``confirmed`` or ``refuted`` and a sentence;
    nothing for the others. run: the command. jax: its version. signatures: of traced functions, by absolute path and first line, what
    they were called with: ``x=f32[2,3], n=4``."""

    words: Mapping[int, tuple[str, str]]
    run: str = ""
    jax: str = ""
    signatures: Mapping[tuple[str, int], Sequence[str]] = field(default_factory=dict)


@dataclass(slots=True)
class Collected:
    """All that the calls said of one finding: (result, inputs), and (stage, problem, inputs) of failed calls."""

    results: list[tuple[Result, str]] = field(default_factory=list)
    problems: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def is_confirmed(self) -> bool:
        """Whether one call showed it."""
        return any(result.status == "confirmed" for result, _ in self.results)

    @property
    def is_unloaded(self) -> bool:
        """Whether a module that may reach it could not be loaded, or perhaps could not."""
        return any(stage in ("import", "end") for stage, _, _ in self.problems)


def collect_call(call: Call, seen: Seen, into: dict[int, Collected]) -> None:
    """Sort what a call said by finding."""
    inputs = seen.inputs or call.target
    for result in seen.results:
        into.setdefault(result.number, Collected()).results.append((result, inputs))
    if seen.problem:
        for flag in call.flags:
            into.setdefault(flag, Collected()).problems.append((seen.stage, seen.problem, inputs))


def verdict(finding: Finding, collected: Collected) -> Confirmation:
    """The verdict: what was seen counts more than what was not."""
    for status, word in _WORDS.items():
        for result, inputs in collected.results:
            if result.status == status:
                return Confirmation(finding, word, result.evidence, inputs)
    unloaded = _unloaded(collected)
    if unloaded:
        ran = unloaded.startswith(ENDED_BEFORE)  # it was there, and stopped at something else
        return Confirmation(finding, Verdict.NOT_REACHED if ran else Verdict.COULD_NOT_IMPORT, unloaded)
    for wanted in ("", "end", "budget", "inputs"):
        for stage, problem, inputs in collected.problems:
            if stage == wanted:
                word = Verdict.NO_INPUTS if stage == "inputs" else Verdict.NOT_REACHED
                return Confirmation(finding, word, problem, inputs)
    if collected.results:
        tried = ", ".join(dict.fromkeys(inputs for _, inputs in collected.results))
        return Confirmation(finding, Verdict.NOT_REACHED, "the line did not run", tried)
    return Confirmation(finding, Verdict.NO_INPUTS, "nothing in the project calls the function")


def _unloaded(collected: Collected) -> str:
    """The first import error, if nothing but that stood in the way; "" otherwise."""
    imports = [problem for stage, problem, _ in collected.problems if stage == "import"]
    # What runs without the module it needs misses the names that it would have got from there.
    ran = [problem for stage, problem, _ in collected.problems if stage == ""]
    needs = [problem for problem in imports if problem.startswith(("ModuleNotFoundError: ", "ImportError: "))]
    others = [problem for problem in ran if not (needs and "NameError: " in problem)]
    return "" if others or not imports else (needs or imports)[0]


# What a result that was judged means, what counts most first.
_WORDS = {"confirmed": Verdict.CONFIRMED, "passed": Verdict.REFUTED, "unshown": Verdict.NOT_REACHED}
