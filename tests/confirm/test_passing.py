"""What stands behind a place where tracing ends is reached by the way that the program takes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.confirm.project import confirmed, write

pytest.importorskip("jax", reason="proof needs JAX")
pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Python 3.10 does not tell which expression of a line fails"
)

SEVERAL = """\
import jax
import jax.numpy as jnp


@jax.jit
def f(x, n):
    if x > 0:
        y = x
    else:
        y = -x
    while n > 1:
        n = n // 2
    x = jnp.zeros(3)
    x[0] = 1.0
    k = min(n, 3)
    for i in range(n):
        y = y + i
    return float(y) + k


f(1.0, 5)
"""


def test_every_refusal_of_a_function_is_confirmed(tmp_path: Path) -> None:
    write(tmp_path, {"several.py": SEVERAL})
    rows = confirmed(tmp_path)
    assert [(row["line"], row["verdict"]) for row in rows] == [
        (line, "confirmed") for line in (7, 11, 14, 15, 16, 18)
    ]
    evidence = [row["evidence"] for row in rows]
    assert evidence[0].startswith("jax.errors.TracerBoolConversionError")
    assert evidence[1].startswith("past the refusal at line 7, jax.errors.")
    assert evidence[5].startswith("past the refusals at lines 7, 11, 14, 15 and 16, jax.errors.")


NOT_TAKEN = """\
import jax


@jax.jit
def f(x, n):
    if n > 2:
        return x
    for _ in range(n):
        x = x + 1
    return x


@jax.jit
def g(x, n):
    k = int(n)
    for _ in range(k):
        x = x + 1
    return x


f(1.0, 5)
"""


def test_a_way_that_the_program_does_not_take_shows_nothing(tmp_path: Path) -> None:
    """Line 8 runs for smaller numbers only; the loop in `g` is over a number, whatever its maker is."""
    write(tmp_path, {"taken.py": NOT_TAKEN})
    verdicts = {row["line"]: (row["verdict"], row["evidence"]) for row in confirmed(tmp_path)}
    assert verdicts[6][0] == "confirmed"
    assert "past" not in verdicts[8][1]
    assert 16 not in verdicts
