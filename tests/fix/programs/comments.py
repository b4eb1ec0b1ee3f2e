"""A comment that silences nothing."""

import jax
import jax.numpy as jnp


@jax.jit
def f(x):
    return x + 1  # noqa: JIT101


def case_comment():
    return f(1.0)
