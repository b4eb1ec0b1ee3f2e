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
    "plain objects beside static fields": (
        """
        from dataclasses import dataclass
        import draccus, flax.struct, equinox as eqx
        from elsewhere import Base, register
        @dataclass(frozen=True)
        class Choice(draccus.ChoiceRegistry):
            theta: float = 1.0
        @dataclass(frozen=True)
        class Chosen(Choice):
            pass
        @dataclass
        class Unknown(Base):
            x: float = 1.0
        @register
        @dataclass
        class Registered:
            x: float = 1.0
        class Module(eqx.Module):
            size: int = eqx.field(static=True)
            first: Choice
            second: Chosen
            third: Unknown
            fourth: Registered
        @flax.struct.dataclass
        class State:
            size: int = flax.struct.field(pytree_node=False)
            chosen: Chosen | None = None
            registered: Registered | None = None
        @flax.struct.dataclass
        class Whole:
            size: int
            chosen: Chosen | None = None
        """,
        [
            "TransformMisuse problem=non-array-field parameter=first detail=Module Choice size in Module: likely eager",
            "TransformMisuse problem=non-array-field parameter=second detail=Module Chosen size in Module: likely eager",
            "TransformMisuse problem=non-array-field parameter=chosen detail=State Chosen size in State: likely eager",
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
