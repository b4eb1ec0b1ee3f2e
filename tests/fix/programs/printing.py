"""Messages from traced code: what `print` would have said is what `jax.debug.print` says."""

import logging

import jax
import jax.numpy as jnp

log = logging.getLogger("fixes")


@jax.jit
def shows(x, y):
    print("x", x)
    print(x, y, sep=", ")
    print("{braces}", x, end=".\n")
    print(f"{x} and {y:.3f}", x)
    print("%s of %.2f is 100%%" % (x, y), x)  # noqa: UP031
    print("{} then {:.1f}".format(x, y))  # noqa: UP032
    print(x + y, flush=True)
    print('quoted "twice"', x)
    print("a" + str(x), x)
    return x * y


def case_print():
    return shows(1.5, 2.0)


@jax.jit
def logs(x):
    loss = jnp.sum(x)
    log.info("loss %s", loss)
    return loss


def case_log():
    return logs(jnp.ones(3))
