"""A small storm over two language servers: nothing hangs, nothing is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="needs pygls")

from benchmarks.storm import run

TOUR = Path(__file__).resolve().parents[2] / "fixtures" / "_projects" / "tour"


@pytest.mark.parametrize("seed", [0, 7])
def test_after_a_storm_a_fresh_check_agrees(seed: int) -> None:
    assert asyncio.run(run(TOUR, edits=160, nonsense=80, kills=2, seed=seed)) == []
