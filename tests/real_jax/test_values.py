"""What `jitlint why` says of the names in the fixtures is what JAX makes of them: tracers or not.

Every name that a function of a fixture reads is looked at while real JAX runs all cases. A name that is said to be
traced was a tracer at least once, one that is said to be static never was.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.values import is_wrong, observed, programs, said, told
from tests.fixtures.marks import FIXTURES

SAMPLED = random.Random(7).sample(programs([FIXTURES]), 24)


@pytest.mark.parametrize("path", SAMPLED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_names_are_what_they_are_said_to_be(path: Path) -> None:
    statuses, seen = said(told(path)), observed(path)
    both = statuses.keys() & seen.keys()
    wrong = [
        (place, statuses[place], seen[place])
        for place in sorted(both)
        if is_wrong(statuses[place], seen[place])
    ]
    assert wrong == []
    assert both or not statuses
