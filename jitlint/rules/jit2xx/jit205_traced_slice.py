"""JIT205: an array is sliced with traced bounds (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import BadIndex

RULE = Rule(
    code="JIT205",
    name="traced-slice",
    severity=Severity.ERROR,
    summary="array sliced with traced bounds",
    explanation="""\
`x[:n]` has `n` elements, so its shape would depend on a traced value:

> IndexError: Slice entries must be static integers. Got slice(None, JitTracer(int32[]), None) at position 0

Before JAX 0.8.2, and since JAX 0.11:

> IndexError: Array slice indices must have static start/stop/step to be used with NumPy indexing syntax.

Even `x[i : i + 4]`, whose length never changes, is refused: JAX sees two unrelated traced bounds. Single traced
positions (`x[i]`, `x[:, i]`) are fine.
""",
    instead="""\
If only the start moves, say so, with the length as a static number:

```python
window = jax.lax.dynamic_slice_in_dim(x, i, 4)
x = jax.lax.dynamic_update_slice_in_dim(x, window, i, axis=0)
```

If the length changes, keep the shape and mask: `jnp.where(jnp.arange(len(x)) < n, x, 0)`.
""",
    bad="""\
@jax.jit
def window(x, start):
    return x[start : start + 2]  # expect: JIT205


window(jnp.arange(8.0), 3)
""",
    good="""\
@jax.jit
def window(x, start):
    return jax.lax.dynamic_slice_in_dim(x, start, 2)


window(jnp.arange(8.0), 3)
""",
    outcome=Raises(("IndexError",), says=r"static (integers|start)"),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Writes `jax.lax.dynamic_slice_in_dim` where the ends of the slice say how long it is; at the "
        "array's end it moves the slice instead of cutting it. Elsewhere makes the bound static.",
    ),
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.lax.dynamic_slice_in_dim.html",
)


@RULE.on(BadIndex)
def check(event: BadIndex) -> Report | None:
    """Report traced slice bounds."""
    if event.problem != "slice":
        return None
    return Report(
        "slice bounds must be static integers, but a bound is traced",
        "use `jax.lax.dynamic_slice_in_dim(x, start, length)` when the length is fixed, "
        "else mask with `jnp.where(jnp.arange(len(x)) < n, x, 0)`",
    )
