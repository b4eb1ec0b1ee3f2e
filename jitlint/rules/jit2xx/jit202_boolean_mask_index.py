"""JIT202: an array is read with a traced boolean mask (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import BadIndex

RULE = Rule(
    code="JIT202",
    name="boolean-mask-index",
    severity=Severity.ERROR,
    summary="array read with a traced boolean mask",
    explanation="""\
`x[mask]` has as many elements as the mask has True entries. Shapes must be known while tracing, and the mask is not:

> NonConcreteBooleanIndexError: Array boolean indices must be concrete; got bool[4]

A mask made with `jnp` inside the jitted function is traced even when it holds constants. A NumPy mask that does not
depend on traced values is fine.
""",
    instead="""\
Keep the shape and neutralise what the mask leaves out:

```python
total = jnp.sum(jnp.where(mask, x, 0.0))
mean = jnp.mean(x, where=mask)
```

If a compact result is needed, fix its size: `x[jnp.nonzero(mask, size=k, fill_value=0)[0]]`.
""",
    bad="""\
@jax.jit
def positive_sum(x):
    return jnp.sum(x[x > 0])  # expect: JIT202


positive_sum(jnp.arange(4.0))
""",
    good="""\
@jax.jit
def positive_sum(x):
    return jnp.sum(jnp.where(x > 0, x, 0.0))


positive_sum(jnp.arange(4.0))
""",
    outcome=Raises(("jax.errors.NonConcreteBooleanIndexError",)),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Writes a reduction of the masked array with `where=`; right if mask and array have one shape.",
    ),
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.NonConcreteBooleanIndexError",
)


@RULE.on(BadIndex)
def check(event: BadIndex) -> Report | None:
    """Report reads with a mask."""
    if event.problem != "mask":
        return None
    return Report(
        "indexing with a boolean mask gives an array of unknown size, because the mask is traced",
        "use `jnp.where(mask, x, fill)` or a reduction with `where=mask`; "
        "to compact, `jnp.nonzero(mask, size=k)`",
    )
