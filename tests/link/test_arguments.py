"""Which arguments a transform traces: numbers from either end."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "grad of the first argument by default": (
        """
        def loss(a, b):
            return float(a) * b
        jax.grad(loss)(1., 2.)
        """,
        ["Convert to=float in loss: certain"],
    ),
    "grad leaves the second argument as it is by default": (
        """
        def loss(a, b):
            return a * float(b)
        jax.grad(loss)(1., 2.)
        """,
        [],
    ),
    "grad of the last argument": (
        """
        def loss(a, b):
            return a * float(b)
        jax.grad(loss, argnums=-1)(1., 2.)
        """,
        ["Convert to=float in loss: certain"],
    ),
    "grad of the last argument leaves the first as it is": (
        """
        def loss(a, b):
            return float(a) * b
        jax.grad(loss, argnums=-1)(1., 2.)
        """,
        [],
    ),
    "grad of the first and the last": (
        """
        def loss(a, b, c):
            return float(a) * float(b) * float(c)
        jax.grad(loss, argnums=(0, -1))(1., 2., 3.)
        """,
        ["Convert to=float in loss: certain", "Convert to=float in loss: certain"],
    ),
    "the last argument is static": (
        """
        @partial(jit, static_argnums=-1)
        def f(x, n):
            for _ in range(n):
                x = x * 2
            return x
        f(2., 3)
        """,
        [],
    ),
    "the last but one is static": (
        """
        @partial(jit, static_argnums=-2)
        def f(x, n):
            for _ in range(n):
                x = x * 2
            return x
        f(2., 3)
        """,
        ["Convert to=range in f: certain"],
    ),
    "axes of the last argument": (
        """
        def f(a, b):
            return float(a) * float(b)
        jax.vmap(f, in_axes=(None, 0))(1., jnp.ones(3))
        """,
        ["Convert to=float in f: certain"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
