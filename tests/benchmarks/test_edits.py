"""Random edits: after each the answer from what is remembered is the answer from scratch."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.bench_incremental import body, comment, files
from benchmarks.edits import play
from jitlint.syntax.lowering import lower
from jitlint.syntax.source import SyntaxProblem

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["_projects/tour", "_projects/called_by_tests"])
def test_answers_after_edits_are_those_from_scratch(name: str, seed: int) -> None:
    told: list[str] = []
    assert play(FIXTURES / name, 12, seed, told.append) == 0, "\n".join(told)


def test_what_the_benchmark_edits_stays_a_program() -> None:
    for path in sorted(FIXTURES.joinpath("_projects").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        before = lower(text)
        assert lower(comment(text, 3)) == before
        if files(path.parent) and path in files(path.parent):
            changed = lower(body(text, 3))
            assert not isinstance(changed, SyntaxProblem)
            assert changed != before
