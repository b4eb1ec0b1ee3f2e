"""Gradients inside of functions that are mapped over devices."""

from __future__ import annotations

import pytest

from jitlint.infer.events import LocalGradients
from tests.link.domains.telling import steps, told

HEAD = """
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

tx = optax.sgd(0.1)

def loss_fn(w, x):
    return jnp.mean((x @ w) ** 2)

def other(tree):
    return tree

w, x = jnp.ones((1, 3)), jnp.ones((1, 4, 3))
mesh = jax.make_mesh((1,), ("i",))
"""
TAKEN = "def step(w, s, x):\n    loss, grads = jax.value_and_grad(loss_fn)(w, x)\n"
UPDATE = "    updates, s = tx.update(grads, s)\n    return optax.apply_updates(w, updates), s, loss\n"
MAP = "jax.pmap(step, axis_name='i')(w, jax.vmap(tx.init)(w), x)\n"
SAID = ["LocalGradients name=grads axes=('i',) in step: likely"]
GRADS = "def grads_of(w, x):\n    loss, grads = jax.value_and_grad(loss_fn)(w, x)\n    return lax.pmean(loss, 'i'), grads\n"
RETURNED = ["LocalGradients name=grads axes=('i',) how=returns in grads_of: likely"]

CASES: dict[str, tuple[str, list[str]]] = {
    "only the loss": (f"{TAKEN}    loss = lax.pmean(loss, 'i')\n{UPDATE}{MAP}", SAID),
    "the axis by its name": (f"{TAKEN}    loss = lax.psum(loss, axis_name=('i',))\n{UPDATE}{MAP}", SAID),
    "what is made of the loss": (
        f"{TAKEN}    metrics = {{'loss': loss}}\n    loss = lax.pmean(metrics, 'i')\n{UPDATE}{MAP}",
        SAID,
    ),
    "both": (f"{TAKEN}    loss, grads = lax.pmean((loss, grads), 'i')\n{UPDATE}{MAP}", []),
    "nothing": (f"{TAKEN}{UPDATE}{MAP}", []),
    "by another function": (
        f"{TAKEN}    loss, grads = lax.pmean(loss, 'i'), other(grads)\n{UPDATE}{MAP}",
        [],
    ),
    "before the derivative only": (
        "def step(w, s, x):\n    loss = lax.pmean(x, 'i')\n    loss, grads = jax.value_and_grad(loss_fn)(w, x)\n"
        f"{UPDATE}{MAP}",
        [],
    ),
    "handed to something unknown": (
        f"{TAKEN}    loss = lax.pmean(loss, 'i')\n    log(grads)\n{UPDATE}{MAP}",
        [],
    ),
    "in a function of its own": (
        f"{TAKEN}    loss = lax.pmean(loss, 'i')\n    mean = lambda t: lax.pmean(t, 'i')\n{UPDATE}{MAP}",
        [],
    ),
    "lanes that are no devices": (
        f"{TAKEN}    loss = lax.pmean(loss, 'i')\n{UPDATE}jax.vmap(step, axis_name='i')(w, jax.vmap(tx.init)(w), x)\n",
        [],
    ),
    "both kinds of lanes": (
        f"{TAKEN}    loss = lax.pmean(loss, 'i')\n{UPDATE}{MAP}jax.vmap(step, axis_name='i')(w, jax.vmap(tx.init)(w), x)\n",
        [],
    ),
    "averaged in the loss": (
        f"def mean(w, x):\n    return lax.pmean(loss_fn(w, x), 'i')\n\n{TAKEN.replace('loss_fn', 'mean')}{UPDATE}{MAP}",
        SAID,
    ),
    "an axis that nobody knows": (f"{TAKEN}    loss = lax.pmean(loss, axis())\n{UPDATE}{MAP}", []),
    "returned without checks": (
        f"{GRADS}jax.shard_map(grads_of, mesh=mesh, in_specs=(P(), P('i')), out_specs=(P(), P()), check_vma=False)(w[0], x[0])\n",
        RETURNED,
    ),
    "returned with checks": (
        f"{GRADS}jax.shard_map(grads_of, mesh=mesh, in_specs=(P(), P('i')), out_specs=(P(), P()))(w[0], x[0])\n",
        [],
    ),
    "returned as parts": (
        f"{GRADS}jax.shard_map(grads_of, mesh=mesh, in_specs=(P(), P('i')), out_specs=(P(), P('i')), check_vma=False)(w[0], x[0])\n",
        [],
    ),
}


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES)
def test_local_gradients(body: str, expected: list[str]) -> None:
    assert told(HEAD + body, LocalGradients) == expected


def test_the_average_is_a_step() -> None:
    found = steps(f"{HEAD}{TAKEN}    loss = lax.pmean(loss, 'i')\n{UPDATE}{MAP}", LocalGradients)

    assert found[-1] == "what came with them is averaged here"
