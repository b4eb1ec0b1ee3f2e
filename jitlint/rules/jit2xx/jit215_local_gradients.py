"""JIT215: gradients of one device's share of the batch are taken for those of all (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import StaysLocal
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import LocalGradients

RULE = Rule(
    code="JIT215",
    name="local-gradients",
    severity=Severity.WARNING,
    summary="gradients that are not averaged over the devices",
    explanation="""\
Inside of `jax.pmap`, and of `jax.shard_map` with `check_vma=False`, each device differentiates the loss of its own share of the
batch. Where only the loss is averaged, each device updates its parameters with gradients of its own: the copies drift apart, and
nothing raises. What is printed looks like training, as the loss is the mean over all devices.

The rule speaks where the function averages what came with the gradients, so that they should be averaged too, and nothing that is
made of them goes through a collective.
""",
    instead="""\
```python
loss, grads = jax.value_and_grad(loss_fn)(params, batch)
loss, grads = jax.lax.pmean((loss, grads), axis_name="devices")
```

With `check_vma=True`, which is the default, `jax.shard_map` adds up the gradients of what is the same on all devices itself.
""",
    bad="""\
import functools

import optax

optimiser = optax.sgd(0.1)


def loss_fn(params, x):
    return jnp.mean((x @ params) ** 2)


@functools.partial(jax.pmap, axis_name="devices")
def step(params, state, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    loss = jax.lax.pmean(loss, axis_name="devices")
    updates, state = optimiser.update(grads, state)  # expect: JIT215
    return optax.apply_updates(params, updates), state, loss


params = jnp.ones((1, 3))
step(params, jax.vmap(optimiser.init)(params), jnp.ones((1, 4, 3)))
""",
    good="""\
import functools

import optax

optimiser = optax.sgd(0.1)


def loss_fn(params, x):
    return jnp.mean((x @ params) ** 2)


@functools.partial(jax.pmap, axis_name="devices")
def step(params, state, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    loss, grads = jax.lax.pmean((loss, grads), axis_name="devices")
    updates, state = optimiser.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


params = jnp.ones((1, 3))
step(params, jax.vmap(optimiser.init)(params), jnp.ones((1, 4, 3)))
""",
    outcome=StaysLocal(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.lax.pmean.html",
)


@RULE.on(LocalGradients)
def check(event: LocalGradients) -> Report:
    """Report the update, or what is returned."""
    where = "update the parameters" if event.how == "updates" else "are returned as the same everywhere"
    names = [f'"{axis}"' for axis in event.axes]
    axes = names[0] if len(names) == 1 else f"({', '.join(names)})"
    return Report(
        f"the gradients `{event.name}` {where} without an average over the devices, so each goes on with the gradients of its own share",
        f"average them as well: `{event.name} = jax.lax.pmean({event.name}, {axes})`",
    )
