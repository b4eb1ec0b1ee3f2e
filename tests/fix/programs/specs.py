"""A static argument under a name that is nearly right: the file cannot even be imported."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("step",))
def solve(x, steps):
    for _ in range(steps):
        x = x / 2
    return x


def case_nearly_the_name():
    return solve(8.0, 3)
