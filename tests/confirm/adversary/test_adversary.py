"""No wrong finding is confirmed, however close the program comes to it; no true one is refuted because it is hard to show."""

from __future__ import annotations

import sys

import pytest

from jitlint.confirm.verdict import Confirmation, Verdict
from tests.confirm.adversary.programs import Program, read, verdicts

pytest.importorskip("jax", reason="proof needs JAX")

Told = list[tuple[Program, Confirmation]]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    programs = read()
    return list(zip(programs, verdicts(programs, tmp_path_factory.mktemp("adversary"))))


def _said(told: Told, kinds: set[str], verdict: Verdict) -> list[str]:
    chosen = [pair for pair in told if pair[0].kind in kinds]
    return [f"{p.name}: {c.evidence} [{c.inputs}]" for p, c in chosen if c.verdict == verdict]


def test_there_are_enough_of_them(told: Told) -> None:
    kinds = [program.kind for program, _ in told]
    assert kinds.count("wrong") >= 60
    assert kinds.count("true") + kinds.count("proved") >= 30
    assert len({program.file for program, _ in told}) == len(told)


def test_no_wrong_finding_is_confirmed(told: Told) -> None:
    assert _said(told, {"wrong"}, Verdict.CONFIRMED) == []


def test_no_true_finding_is_refuted(told: Told) -> None:
    assert _said(told, {"true", "proved"}, Verdict.REFUTED) == []


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Python 3.10 does not tell which expression of a line fails"
)
def test_what_the_program_shows_is_confirmed(told: Told) -> None:
    still_open = [
        f"{p.name}: {c.evidence}" for p, c in told if p.kind == "proved" and c.verdict != "confirmed"
    ]
    assert still_open == []
