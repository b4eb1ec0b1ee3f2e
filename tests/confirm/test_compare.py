"""Results are equal up to rounding, and different otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jitlint.confirm.compare import difference, equations, jaxprs
from tests.confirm import programs

assert programs


@dataclass
class Point:
    x: Any


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, jnp.float32(1.0)),
        (1.0, 1.0 + 1e-6),
        (np.nan, jnp.float32(np.nan)),
        ([1, (2.0, "a")], [1, (2.0, "a")]),
        ({"a": jnp.ones(3)}, {"a": np.ones(3)}),
        (Point(1.0), Point(1.0)),
        (jax.random.key(0), jax.random.key(0)),
        (print, len),
        (None, None),
    ],
)
def test_equal(one: Any, other: Any) -> None:
    assert difference(one, other) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, 1.01),
        (1, 2),
        (jnp.ones(3), jnp.ones(4)),
        ([1, 2], [1, 2, 3]),
        ({"a": 1}, {"b": 1}),
        (Point(1.0), Point(2.0)),
        (jax.random.key(0), jax.random.key(1)),
        ("a", "b"),
        (None, 1.0),
        (True, False),
    ],
)
def test_different(one: Any, other: Any) -> None:
    found = difference(one, other)
    assert found is not None
    assert "with jit" in found


def test_equations_inside_other_equations_count() -> None:
    program = jax.make_jaxpr(lambda x: jax.jit(lambda y: jnp.sin(y) + 1)(x) * 2)(1.0)
    assert [equations(found) for found in jaxprs([{"p": program}])] == [4]
