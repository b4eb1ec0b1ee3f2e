"""JIT221: a result of one device is taken for that of all (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import UnsettledResult

RULE = Rule(
    code="JIT221",
    name="unsettled-result",
    severity=Severity.WARNING,
    summary="result of one device's share that `out_specs` calls the same on all",
    explanation="""\
`out_specs=P()` says that all devices have the same result. `jax.shard_map` checks that, and refuses what is computed of one device's
share; with `check_vma=False` (`check_rep=False` in older releases) it believes it, and takes the result of the first device. The loss
of a batch that is split over four devices is then that of a quarter of it, and nothing says so.

The rule speaks of functions that are mapped without the check, that have no collective, and call nothing that might have one.
""",
    instead="""\
Bring the shares together, or leave the check on, which would have found this:

```python
loss = jax.lax.pmean(jnp.mean((x * w - 1.0) ** 2), "data")
```
""",
    bad="""\
from functools import partial

from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(jax.devices()[:1], ("data",))


@partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)
def mean_loss(w, x):
    return jnp.mean((x * w - 1.0) ** 2)  # expect: JIT221


mean_loss(2.0, jnp.arange(8.0))
""",
    good="""\
from functools import partial

from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(jax.devices()[:1], ("data",))


@partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)
def mean_loss(w, x):
    return jax.lax.pmean(jnp.mean((x * w - 1.0) ** 2), "data")


mean_loss(2.0, jnp.arange(8.0))
""",
    outcome=Advisory("nothing is refused without the check, and on a single device the result is right"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/notebooks/shard_map.html",
)


@RULE.on(UnsettledResult)
def check(event: UnsettledResult) -> Report:
    """Report the result."""
    axes = ", ".join(f"`{axis}`" for axis in event.share)
    return Report(
        f"each device computes this from its own share of `{event.split}`, and `out_specs` takes that of the first for all",
        f'bring the shares together with `jax.lax.psum` or `pmean` over {axes}, or put them side by side: `out_specs=P("{event.share[0]}")`',
    )
