"""JIT203: an array is updated through a traced boolean mask (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import BadIndex

RULE = Rule(
    code="JIT203",
    name="boolean-mask-update",
    severity=Severity.ERROR,
    summary="array updated through a traced boolean mask",
    explanation="""\
`x.at[mask].set(value)` first turns the mask into positions, and their number is unknown while tracing:

> NonConcreteBooleanIndexError: Array boolean indices must be concrete; got bool[4]

This holds for every method of `.at[mask]` (`set`, `add`, `multiply`, `get`, ...), even when the new value is a scalar.
""",
    instead="""\
Select element by element; the shape stays the same:

```python
x = jnp.where(mask, value, x)      # x.at[mask].set(value)
x = jnp.where(mask, x + value, x)  # x.at[mask].add(value)
```
""",
    bad="""\
@jax.jit
def clip_negative(x):
    return x.at[x < 0].set(0.0)  # expect: JIT203


clip_negative(jnp.arange(4.0))
""",
    good="""\
@jax.jit
def clip_negative(x):
    return jnp.where(x < 0, 0.0, x)


clip_negative(jnp.arange(4.0))
""",
    outcome=Raises(("jax.errors.NonConcreteBooleanIndexError",)),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Writes `jnp.where(mask, value, x)`; right if mask and array have one shape.",
    ),
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.NonConcreteBooleanIndexError",
)


@RULE.on(BadIndex)
def check(event: BadIndex) -> Report | None:
    """Report updates through a mask."""
    if event.problem != "mask-update":
        return None
    return Report(
        "updating through a boolean mask needs concrete positions, but the mask is traced",
        "use `jnp.where(mask, value, x)`",
    )
