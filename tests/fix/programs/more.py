"""Forms of the fixable mistakes that the fixtures of the rules do not have. Each case returns what is to be compared."""

import logging
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def choose(x, y):
    # Above all branches.
    if x > 0:
        y = y * 2
        z = x  # The first of two names.
    elif x < -1:
        y = y - 1
        z = x * 3
    else:
        z = -x
    return y + z


def case_several_names_depend():
    return [choose(value, 2.0) for value in (3.0, -3.0, -0.5)]


@jax.jit
def pair(x):
    if x.sum() > 0:
        return x, -x
    return x * 2, jnp.zeros_like(x)


def case_tuples():
    return [pair(jnp.arange(3.0)), pair(-jnp.arange(3.0))]


@jax.jit
def guarded(x):
    if jnp.abs(x) < 1e-3:
        return x
    scaled = x / 2
    shifted = scaled + 1
    return shifted * x


def case_guard():
    return [guarded(value) for value in (0.0, 4.0)]


@jax.jit
def nested(x):
    y = 0.0
    for i in range(3):
        if x > i:
            y += x * i  # counted
    return y


def case_augmented():
    return [nested(value) for value in (0.5, 2.5)]


@jax.jit
def grades(x):
    return 2.0 if x > 1 else 1.0 if x > 0 else 0.0


def case_nested_conditional():
    return [grades(value) for value in (2.0, 0.5, -1.0)]


@jax.jit
def between(x, low, high):
    if low <= x < high and not x > 3:
        return x
    return -x


def case_chain_and_not():
    return [between(value, 0.0, 5.0) for value in (1.0, 3.0, 7.0)]


@jax.jit
def checked(x):
    assert jnp.all(x > 0), "must be positive"
    return jnp.log(x)


def case_assert():
    return checked(jnp.array([1.0, 2.0]))


@jax.jit
def biggest(x):
    x[x < 0] = 0.0
    x[1:] -= 2
    x[0] //= 2.0
    return x


def case_stores():
    return biggest(jnp.array([3.0, -4.0, 5.0]))


def filled():
    out = jnp.zeros((2, 3))
    for i in range(2):
        out[i, 1:] = (
            # What goes in.
            i + 1.0
        )
    return out


def case_store_on_several_lines():
    return filled()


def sorted_copy(x):
    x.fill(3.0)
    return x


def case_fill():
    return sorted_copy(jnp.ones(2))


@jax.jit
def fibonacci(n):
    a, b = 0, 1
    i = 0
    while i < n:
        # Both at once.
        a, b = b, a + b
        i += 1
    return a


def case_while_with_three():
    return [fibonacci(n) for n in (0, 1, 9)]


@jax.jit
def power_sum(x, n):
    total = 0.0
    x = x + 0.0
    for i in range(1, n):
        term = x * i
        total = total + term
    return total, x


def case_for_with_a_local():
    return power_sum(2.0, 5)


@jax.jit
def of_table(i):
    table = np.array([1.0, 2.0, 4.0])
    weights = [0.5, 0.25, 0.125]
    return table[i] * weights[i]


def case_tables():
    return of_table(2)


@jax.jit
def norms(x):
    return np.linalg.norm(x)


def case_norm():
    return norms(jnp.array([3.0, 4.0]))


@partial(jax.jit, static_argnums=(1,))
def layered(x, widths):
    for width in widths:
        x = x * width
    return x


def case_list_in_a_name():
    layout = [1, 2, 3]
    return layered(2.0, layout)


@jax.jit
def scaled(x, mode):
    return x * 2 if mode == "twice" else x


def case_text_argument():
    return scaled(1.5, "twice")


class Scale:
    def __init__(self, factor):
        self.factor = factor

    @jax.jit
    def apply(self, x):
        return x * self.factor


def case_method():
    return Scale(3.0).apply(2.0)


@jax.jit
def windows(x, i):
    return x[i * 2 : (i + 1) * 2].sum() + x[i : i + 3].sum() + x[i - 1 : i].sum()


def case_windows():
    return windows(jnp.arange(8.0), 2)


@jax.jit
def masked(x):
    mask = x > 1
    return jnp.sum(x[mask]) + jnp.max(x[mask]) + x.at[mask].multiply(3.0).sum()


def case_masks():
    return masked(jnp.arange(4.0))


def error_if_used():
    return eqx.error_if(jnp.ones(1), jnp.array(False), "never")


def case_equinox():
    return error_if_used()


@jax.jit
def flattened(x):
    tail = jnp.array(x.shape[1:]).prod()
    return x.reshape(x.shape[0], tail) + jnp.zeros(int(jnp.prod(jnp.array(x.shape[1:]))))


def case_sizes_of_shapes():
    return flattened(jnp.ones((2, 3, 4)))


logger = logging.getLogger(__name__)


@jax.jit
def trained(x):
    logger.info("loss %.3f", float(x))
    print("loss", float(x))
    return x * 2


def case_casts_that_are_shown():
    return trained(1.5)


def unrolled(x):
    for _ in range(200):
        x = x * 0.99 + 0.01
    return x


def case_slope_of_a_long_loop():
    return jax.jit(jax.grad(unrolled))(0.5)
