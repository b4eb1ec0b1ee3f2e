"""Every mark in the fixtures is proved by real JAX, and nothing that must be silent shows anything.

A mark of a rule that predicts an exception is proved by that exception, at the mark; a mark of a rule that predicts a
silent effect is proved by seeing it (`jitlint.confirm.witness`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from jitlint.base.outcome import Raises
from jitlint.confirm.witness import evidence, incident
from jitlint.driver.registry import rules
from tests.fixtures.marks import FIXTURES, Mark, Program, cases, marks, must_raise, needs, programs
from tests.real_jax.run import Outcome, flagged, observed, predicted, run

# An effect may need several calls of the case.
CALLS = 3


def _classes(mark: Mark) -> tuple[str, ...]:
    outcome = predicted(mark)
    return outcome.classes if isinstance(outcome, Raises) else ()


def _is_late(mark: Mark) -> bool:
    """JAX raises later than at the mark: when the leaked value is used, when the function is called."""
    outcome = predicted(mark)
    return isinstance(outcome, Raises) and outcome.later


def _proved(program: Program) -> list[Mark]:
    return [m for path in program.files for m in marks(path) if m.proved_by_jax]


def _raising(program: Program) -> list[Mark]:
    return [m for m in _proved(program) if isinstance(predicted(m), Raises)]


def _silent(program: Program) -> list[Mark]:
    return [m for m in _proved(program) if not isinstance(predicted(m), Raises)]


def _elsewhere(program: Program) -> list[Mark]:
    """Marks that other versions prove."""
    return [m for path in program.files for m in marks(path) if m.disproved_by_jax]


def _outcomes(program: Program) -> tuple[Outcome, ...]:
    _need(program)
    return run(program, watch=bool(_elsewhere(program)) or any(_is_late(m) for m in _proved(program)))


def _need(program: Program, case: str = "") -> None:
    if program.framework:
        pytest.importorskip(program.framework, reason=f"needs {program.framework}")
    why = next(filter(None, map(needs, program.files)), "") or (case and needs(program.entry, case))
    if why:
        pytest.skip(why)


def _raises_at(outcome: Outcome, mark: Mark) -> bool:
    if not outcome.raised or not isinstance(predicted(mark), Raises):
        return False
    if outcome.hits(mark):
        return True
    return _is_late(mark) and outcome.raised in _classes(mark) and outcome.follows_from(mark)


def _is_seen(program: Program, cases: Sequence[str], marks: Sequence[Mark]) -> bool:
    """Whether an effect of a silent mark is seen in a case: called once, or several times, which takes longer."""
    return any(
        evidence(predicted(mark), flagged(mark), observed(program, case, calls))
        for calls in (1, CALLS)
        for case in cases
        for mark in marks
    )


def _parameters() -> Sequence[object]:
    found = []
    for program in programs():
        group = [pytest.mark.frameworks] if program.framework else []
        for case in cases(program.entry):
            found.append(pytest.param(program, case, id=f"{program.name}::{case}", marks=group))
    return found


@pytest.mark.parametrize(("program", "case"), _parameters())
def test_case(program: Program, case: str) -> None:
    """A bad case raises what a rule predicts, at a marked line, or shows the effect of a mark; a good one is clean."""
    _need(program, case)
    if not must_raise(program.entry, case):
        _assert_clean(program, case)
        return
    if _is_shown_elsewhere(program, case):
        return
    if not _raising(program):
        assert _is_seen(program, [case], _silent(program)), _seen(program, case)
        return
    outcome = next(o for o in _outcomes(program) if o.case == case)
    if not outcome.raised:
        assert _silent(program), "ran clean"
        assert _is_seen(program, [case], _silent(program)), _seen(program, case)
        return
    hit = [m for m in _raising(program) if _raises_at(outcome, m)]
    assert hit, f"{outcome.raised} at {outcome.place}, which carries no mark: {outcome.message}"
    wanted = {c for m in hit for c in ([m.raises] if m.raises else _classes(m))}
    assert outcome.raised in wanted, f"{outcome.raised} at {outcome.place}, predicted {sorted(wanted)}"
    for mark in hit:
        if mark.raises:
            assert mark.raises in _classes(mark), f"rule {mark.code} does not predict {mark.raises}"


def _is_shown_elsewhere(program: Program, case: str) -> bool:
    """Whether the case runs clean through a mark that other versions prove, and shows no effect of it."""
    elsewhere = _elsewhere(program)
    if not elsewhere:
        return False
    outcome = next(o for o in _outcomes(program) if o.case == case)
    reached = [m for m in elsewhere if outcome.follows_from(m)]
    silent = [m for m in reached if not isinstance(predicted(m), Raises)]
    return bool(reached) and not outcome.raised and not _is_seen(program, [case], silent)


def _seen(program: Program, case: str) -> str:
    raised = observed(program, case, 1).jitted.raised
    return f"raised {raised} at {raised.place}" if raised else "ran clean and showed no effect of any mark"


def _assert_clean(program: Program, case: str) -> None:
    """A good case raises nothing; in the folder of a rule with a silent effect it shows no such effect either."""
    folder = re.match(r"JIT\d{3}", program.entry.relative_to(FIXTURES).parts[0])
    rule = rules().get(folder[0]) if folder else None
    if rule is not None and not isinstance(rule.outcome, Raises):
        found = incident(rule.outcome, observed(program, case, 1))
        assert found is None, found
        return
    outcome = next(o for o in _outcomes(program) if o.case == case)
    assert outcome.raised == "", f"{outcome.raised} at {outcome.place}: {outcome.message}"


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(p, id=p.name, marks=[pytest.mark.frameworks] if p.framework else [])
        for p in programs()
        if _proved(p)
    ],
)
def test_every_mark_is_shown_by_a_case(program: Program) -> None:
    """A mark without a case that shows it would be a claim without proof."""
    _need(program)
    runnable = [case for case in cases(program.entry) if not needs(program.entry, case)]
    outcomes = _outcomes(program) if _raising(program) else ()
    unproved = [m for m in _raising(program) if not any(_raises_at(o, m) for o in outcomes)]
    unproved += [mark for mark in _silent(program) if not _is_seen(program, runnable, [mark])]
    assert not [str(mark) for mark in unproved]


def test_every_file_is_run() -> None:
    """A fixture without cases would prove nothing."""
    assert not [p.name for p in programs() if not cases(p.entry)]
