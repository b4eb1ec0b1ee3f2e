"""Statements that show by themselves that something is not meant."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "updates that stand alone": (
        """
        def f(x):
            x.at[0].set(1)
            x.at[0].add(1)
            x.at[0].get()
            y = x.at[0].set(1)
            return x
        f(jnp.ones(3))
        """,
        ["DroppedUpdate in f: certain eager", "DroppedUpdate method=add in f: certain eager"],
    ),
    "an update of something unknown": (
        """
        def f(x):
            x.at[0].set(1)
            return x
        """,
        ["DroppedUpdate in f: likely eager"],
    ),
    "a module with mutable references": (
        """
        from jax.experimental import pallas
        def f(x):
            x.at[0].set(1)
            return x
        """,
        ["DroppedUpdate in f: likely eager"],
    ),
    "names of NumPy for JAX": (
        """
        import jax.numpy as np
        import numpy as jnp2
        from jax import numpy as onp
        from jax import numpy as jnp
        import jax.numpy as anp
        """,
        ["ImportIdiom name=np what=jax.numpy in <module>: certain eager"],
    ),
    "an update of an array made here": (
        """
        def f(x):
            y = jnp.zeros(3)
            y.at[0].set(1)
            return y
        f(2)
        """,
        ["DroppedUpdate in f: certain eager"],
    ),
    "methods that are no updates": (
        """
        def f(x):
            x.at(0).set(1)
            x.loc[0].set(1)
            x.at[0].put(1)
            return x
        """,
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
