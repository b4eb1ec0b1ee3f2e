"""Random edits: after each the answer from what is remembered is the answer from scratch."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.edits import play

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["_projects/tour", "_projects/called_by_tests"])
def test_answers_after_edits_are_those_from_scratch(name: str, seed: int) -> None:
    told: list[str] = []
    assert play(FIXTURES / name, 12, seed, told.append) == 0, "\n".join(told)
