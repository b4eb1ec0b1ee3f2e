"""Every mark in the fixtures is proved by real JAX, and nothing that must be silent raises."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Sequence

import jax
import pytest

import jitlint.rules
from jitlint.base.outcome import Raises
from tests.fixtures.marks import Mark, Program, cases, marks, must_raise, programs
from tests.real_jax.run import Outcome, run

if jax.__version_info__ < (0, 10):
    pytest.skip(f"the fixtures are measured on JAX 0.10, not {jax.__version__}", allow_module_level=True)


def _outcomes_by_code() -> dict[str, Raises]:
    found = {}
    for info in pkgutil.iter_modules(jitlint.rules.__path__):
        rule = getattr(importlib.import_module(f"jitlint.rules.{info.name}"), "RULE", None)
        if rule is not None and isinstance(rule.outcome, Raises):
            found[rule.code] = rule.outcome
    return found


OUTCOMES = _outcomes_by_code()


def _is_late(mark: Mark) -> bool:
    """JAX raises later than at the mark: when the leaked value is used, when the function is called."""
    outcome = OUTCOMES.get(mark.code)
    return outcome is not None and outcome.later


def _proved(program: Program) -> list[Mark]:
    return [m for path in program.files for m in marks(path) if m.proved_by_jax]


def _outcomes(program: Program) -> tuple[Outcome, ...]:
    if program.framework:
        pytest.importorskip(program.framework, reason=f"needs {program.framework}")
    return run(program, watch=any(_is_late(m) for m in _proved(program)))


def _shows(outcome: Outcome, mark: Mark) -> bool:
    if not outcome.raised:
        return False
    if outcome.hits(mark):
        return True
    return _is_late(mark) and outcome.raised in OUTCOMES[mark.code].classes and outcome.follows_from(mark)


def _parameters() -> Sequence[object]:
    found = []
    for program in programs():
        group = [pytest.mark.frameworks] if program.framework else []
        for case in cases(program.entry):
            found.append(pytest.param(program, case, id=f"{program.name}::{case}", marks=group))
    return found


@pytest.mark.parametrize(("program", "case"), _parameters())
def test_case(program: Program, case: str) -> None:
    """A bad case raises what the rule predicts, at a marked line; a good case runs clean."""
    outcome = next(o for o in _outcomes(program) if o.case == case)
    if not must_raise(program.entry, case):
        assert outcome.raised == "", f"{outcome.raised} at {outcome.place}: {outcome.message}"
        return
    assert outcome.raised, "ran clean"
    hit = [m for m in _proved(program) if _shows(outcome, m)]
    assert hit, f"{outcome.raised} at {outcome.place}, which carries no mark: {outcome.message}"
    wanted = {c for m in hit for c in ([m.raises] if m.raises else _predicted(m))}
    assert outcome.raised in wanted, f"{outcome.raised} at {outcome.place}, predicted {sorted(wanted)}"
    for mark in hit:
        if mark.raises and mark.code in OUTCOMES:
            assert mark.raises in _predicted(mark), f"rule {mark.code} does not predict {mark.raises}"


def _predicted(mark: Mark) -> tuple[str, ...]:
    assert mark.code in OUTCOMES, f"there is no rule {mark.code}"
    return OUTCOMES[mark.code].classes


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(p, id=p.name, marks=[pytest.mark.frameworks] if p.framework else [])
        for p in programs()
        if _proved(p)
    ],
)
def test_every_mark_is_shown_by_a_case(program: Program) -> None:
    """A mark without a case that raises there would be a claim without proof."""
    outcomes = _outcomes(program)
    unproved = [str(m) for m in _proved(program) if not any(_shows(o, m) for o in outcomes)]
    assert not unproved


def test_every_file_is_run() -> None:
    """A fixture without cases would prove nothing."""
    assert not [p.name for p in programs() if not cases(p.entry)]
