"""JIT405: an index that is out of bounds whatever the numbers are (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import IgnoresBounds
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import OutOfBounds

RULE = Rule(
    code="JIT405",
    name="static-out-of-bounds",
    severity=Severity.WARNING,
    summary="index that is certainly out of bounds",
    explanation="""\
NumPy raises IndexError for an index beyond the end. JAX cannot raise from compiled code, so it does something quiet:
`x[10]` gives the last element, `x.at[10].set(v)` and its kin do nothing. The program goes on with a wrong number.
That holds without `jit` too.

Reported are constant indices of arrays with a constant size, and indices written with the size of the very array.
""",
    instead="""\
Use an index that exists: `x[-1]`, `x[x.shape[0] - 1]`. Where an index beyond the end is meant, say so with `mode`:

```python
y = x.at[i].set(v, mode="drop")
z = x.at[i].get(mode="fill", fill_value=0.0)
```
""",
    bad="""\
@jax.jit
def last(x):
    return x[x.shape[0]]  # expect: JIT405


last(jnp.arange(3.0))
""",
    good="""\
@jax.jit
def last(x):
    return x[x.shape[0] - 1]


last(jnp.arange(3.0))
""",
    outcome=IgnoresBounds(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#out-of-bounds-indexing",
)


@RULE.on(OutOfBounds)
def check(event: OutOfBounds) -> Report | None:
    """Report indices beyond the end."""
    index = f"index {event.index}" if event.index else "the index"
    effect = "the update is dropped" if event.update else "JAX takes the nearest element instead"
    if event.update == "get":
        effect = "JAX fills in a value instead"
    size = event.size if event.size.isdigit() else f"`{event.size}`"
    return Report(
        f"{index} is out of bounds for an axis of size {size}: {effect}, without an error",
        "the last element is `x[-1]`; if this is meant, say so with `.at[...]` and `mode=`",
    )
