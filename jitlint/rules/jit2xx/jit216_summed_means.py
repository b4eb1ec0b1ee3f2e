"""JIT216: what is a mean on each device is added up over them (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import SummedMeans

RULE = Rule(
    code="JIT216",
    name="summed-means",
    severity=Severity.WARNING,
    summary="sum over devices of means, or mean of those of unequal parts",
    explanation="""\
`jax.lax.psum` of the mean of each device's share is as many times the mean of the batch as there are devices, and so are the
gradients of such a loss. On one device nothing shows; on eight the loss that is printed is eight times too large, and steps by
plain gradient descent are eight times too long.

`jax.lax.pmean` of what each device has divided by the sum of its own mask is no mean of all elements either: a device whose part of
the batch is mostly padding counts as much as the others.

Inside of `jax.shard_map`, unless with `check_vma=False`, the gradients by what is the same on all devices are added up over them when
they are taken: `jax.lax.pmean` of them changes nothing, and they stay as many times too large. What was right under `jax.pmap` is so
no longer. The mean over the devices belongs into the loss.

The rule is silent where the sum is divided afterwards, or the function asks how many devices there are.
""",
    instead="""\
```python
loss = jax.lax.pmean(jnp.mean(errors), axis_name="devices")
```
""",
    bad="""\
import functools


@functools.partial(jax.pmap, axis_name="devices")
def loss(x, y):
    return jax.lax.psum(jnp.mean((x - y) ** 2), axis_name="devices")  # expect: JIT216


loss(jnp.ones((1, 4)), jnp.zeros((1, 4)))
""",
    good="""\
import functools


@functools.partial(jax.pmap, axis_name="devices")
def loss(x, y):
    return jax.lax.pmean(jnp.mean((x - y) ** 2), axis_name="devices")


loss(jnp.ones((1, 4)), jnp.zeros((1, 4)))
""",
    outcome=Advisory("nothing is refused, and what the sum is for cannot be observed"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.lax.pmean.html",
)


@RULE.on(SummedMeans)
def check(event: SummedMeans) -> Report:
    """Report the sum."""
    if event.what == "masked":
        return Report(
            "this averages what each device has divided by the sum of its own mask, so that elements of a device with few of them"
            " count more",
            "add up both before they are divided: `jax.lax.psum(total, axis) / jax.lax.psum(count, axis)`",
        )
    if event.what == "again":
        return Report(
            "this averages gradients that `jax.shard_map` has added up over the devices already, and so leaves the sum as it is",
            "take the mean over the devices inside of the function that is differentiated, or divide by the number of devices",
        )
    what = "the mean" if event.what == "mean" else "the gradients of a mean"
    return Report(
        f"this adds up {what} of each device's share, which gives as many times the mean of all as there are devices",
        "take the mean over the devices: `jax.lax.pmean(...)`",
    )
