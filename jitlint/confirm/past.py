"""Runs that go on past the places where tracing ends (layer: ``confirm``). Runs in a sandboxed process only.

Behind such a place nothing runs. So the run is made once more, with the answers that the code without ``jit`` gives there, and
again until nothing new ends it. Only lines that run without ``jit`` count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from jitlint.base.outcome import Raises
from jitlint.confirm.protocol import Flag, Result
from jitlint.confirm.watch.observe import Raised
from jitlint.confirm.watch.passing import Passing
from jitlint.confirm.watch.runs import Runs
from jitlint.driver.registry import rules

# So many places where tracing ends are passed.
_MOST_REFUSALS = 8
_REFUSED = re.compile(
    "arrays are immutable|does not support item assignment|Shapes must be 1D sequences of concrete values|carry input"
)
_STILL_OPEN = ("missed", "unshown")


def past_refusals(
    passing: Passing,
    runs: Runs,
    flags: Sequence[Flag],
    results: list[Result],
    again: Callable[[list[Flag], Passing], Runs],
    judge: Callable[[Flag, Runs], Result],
) -> list[Result]:
    """The results, with what shows behind the places that ended ``runs``. again: the same run past them, for these findings."""
    past: list[str] = []
    while len(past) < _MOST_REFUSALS:
        seen = runs.jitted
        ended = [seen.raised] if seen.raised is not None else seen.stopped
        still_open = {result.number for result in results if result.status in _STILL_OPEN}
        behind = [flag for flag in flags if flag.number in still_open and _raises(flag)]
        beyond = [error for error in ended if goes_past(passing, error)] if behind else []
        if not beyond:
            break
        past += [str(error.places[0][1]) for error in beyond]
        runs = again(behind, passing)
        eager = runs.eager  # first: it says what is answered
        shown = {flag.number: judge(flag, runs) for flag in behind if eager.lines[flag.path, flag.line]}
        results = better(results, shown, f"past {_refusals(list(dict.fromkeys(past)))}")
    return results


def better(results: list[Result], shown: Mapping[int, Result], words: str) -> list[Result]:
    """The results with those that another run confirmed in their place, and how that was another one."""
    return [
        msgspec.structs.replace(found, evidence=f"{words}, {found.evidence}")
        if (found := shown.get(result.number)) is not None and found.status == "confirmed"
        else result
        for result in results
    ]


def _raises(flag: Flag) -> bool:
    return isinstance(rules()[flag.code].outcome_of(flag.case), Raises)


def _refusals(lines: list[str]) -> str:
    if len(lines) == 1:
        return f"the refusal at line {lines[0]}"
    return f"the refusals at lines {', '.join(lines[:-1])} and {lines[-1]}"


def goes_past(passing: Passing, ended: Raised) -> bool:
    """Whether the next run gets further than to what ended the last one: it goes past that from now on."""
    if ended.place is None or ended.columns is None:
        return False
    if not (ended.kind.startswith("jax.errors.") or _REFUSED.search(ended.message)):
        return False
    at = (ended.place[0], ended.columns)
    known = at in passing.places
    passing.places.add(at)
    return not known
