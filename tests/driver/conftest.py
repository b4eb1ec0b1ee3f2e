"""Puts the stand-in for the interpreter in place."""

from __future__ import annotations

import pytest

import jitlint.link.program
from tests.driver import analysis


@pytest.fixture
def simple_analysis(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Runs use `tests.driver.analysis`; the returned list receives the inputs of each analysis."""
    analysis.seen.clear()
    monkeypatch.setattr(jitlint.link.program, "analyse", analysis.analyse)
    return analysis.seen  # type: ignore[return-value]
