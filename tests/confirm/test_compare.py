"""Results are equal up to rounding, and different otherwise."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jitlint.confirm.watch.compare import difference, equations, fingerprint, jaxprs
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


@pytest.mark.parametrize("value", [1, "a", None, [1.0, "b"], {"a": np.ones(3)}, (1, jnp.zeros(2)), len])
def test_equal_values_have_equal_fingerprints(value: object) -> None:
    assert fingerprint(value) is not None and fingerprint(value) == fingerprint(copy.deepcopy(value))


@pytest.mark.parametrize("value", [lambda: 0, object(), [1, object()], np.zeros(1 << 20), [[[[[1]]]]]])
def test_what_cannot_be_looked_into_has_no_fingerprint(value: object) -> None:
    assert fingerprint(value) is None
