"""Static numbers that a compiled function only computes with, and those that it needs."""

from __future__ import annotations

import pytest

from jitlint.infer.events import VaryingArgument
from tests.link.domains.telling import told

HEAD = """
import functools
import math

def halved(v, part):
    return v / part

def asks(v, part):
    return v if part else -v

@functools.partial(jax.jit, static_argnames=("t", "n"))
def step(x, t, n=2):
"""
LOOP = "\nfor value in (0.5, 1.0):\n    step(jnp.ones(3), t=value)\n"
SAID = [
    "VaryingArgument problem=number parameter=t how=`value`, which changes at every turn in <module>: certain eager"
]

COMPUTES: dict[str, str] = {
    "arithmetic": "    return x * t + 1 / t",
    "a comparison of arrays": "    return jnp.where(x > t, x, 0)",
    "a variable": "    scale = -2 * t\n    return x * scale",
    "a function of the project": "    return halved(x, t) + halved(t, x)",
    "a mapped function": "    return jax.vmap(halved, in_axes=(0, None))(x, t)",
    "an inner function": "    def body(c, v):\n        return c + t, v\n    return jax.lax.scan(body, 0.0, x)",
    "what JAX makes of it goes anywhere": "    y = jnp.minimum(x, t)\n    return {'y': y, 'n': [len(y)]}",
    "an array that is asked for its axes": "    y = jnp.exp(x * t)\n    if y.ndim:\n        return y\n    return x",
}
NEEDS: dict[str, str] = {
    "a branch": "    if t:\n        return x\n    return -x",
    "a branch on what is made of it": "    scale = t * 2\n    return x if scale > 1 else -x",
    "a branch in a function of the project": "    return asks(x, t)",
    "a shape": "    return x + jnp.ones(int(t * 3) + 1).sum()",
    "a range": "    return x + jnp.arange(0, 1, t).sum()",
    "a function of Python": "    return x * math.sin(t)",
    "a function that nobody knows": "    return x * mystery(t)",
    "an index": "    return {0.5: x, 1.0: -x}[t]",
    "a text": "    print(f'{t}')\n    return x",
    "both ways": "    assert t > 0\n    return x * t",
    "a default of an inner function": "    def inner(v, by=t):\n        return v * by\n    return inner(x)",
    "a name that means something else inside": "    def inner(t):\n        return t\n    return inner(x) * t",
}


@pytest.mark.parametrize("body", COMPUTES.values(), ids=COMPUTES)
def test_a_number_that_is_only_computed_with(body: str) -> None:
    assert told(f"{HEAD}{body}\n{LOOP}", VaryingArgument) == SAID


@pytest.mark.parametrize("body", NEEDS.values(), ids=NEEDS)
def test_a_number_that_is_needed(body: str) -> None:
    assert told(f"{HEAD}{body}\n{LOOP}", VaryingArgument) == []


@pytest.mark.parametrize("values", ["(2, 3)", "(0.5, 0.5)", "[given(), 1.0]"])
def test_other_values_are_no_numbers_that_change(values: str) -> None:
    loop = f"\nfor value in {values}:\n    step(jnp.ones(3), t=value)\n"

    assert told(f"{HEAD}    return x * t\n{loop}", VaryingArgument) == []
