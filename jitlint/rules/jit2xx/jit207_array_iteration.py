"""JIT207: traced code goes through the rows of an array one by one (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Unrolls
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import UnrolledLoop

RULE = Rule(
    code="JIT207",
    name="array-iteration",
    severity=Severity.INFO,
    summary="Python loop over the rows of a traced array",
    explanation="""\
Iterating over a traced array works: JAX takes it apart row by row and puts a copy of the loop's body into the program for
each of them.

For three rows that is fine. For a batch it makes a long program that is slow to compile and runs row after row instead of
all at once.
""",
    instead="""\
Work on the whole array, or map the body over its first axis:

```python
return jax.vmap(lambda row: jnp.sin(row).sum())(x)
```
""",
    bad="""\
@jax.jit
def sums(x):
    return jnp.stack([jnp.sin(row).sum() for row in x])  # expect: JIT207


result = jax.make_jaxpr(sums)(jnp.ones((12, 3)))
""",
    good="""\
@jax.jit
def sums(x):
    return jax.vmap(lambda row: jnp.sin(row).sum())(x)


result = jax.make_jaxpr(sums)(jnp.ones((12, 3)))
""",
    outcome=Unrolls(),
    since="0.2",
    reference="https://docs.jax.dev/en/latest/automatic-vectorization.html",
)


@RULE.on(UnrolledLoop)
def check(event: UnrolledLoop) -> Report | None:
    """Report loops over the rows of traced arrays whose turns do not need each other."""
    if event.problem != "iteration":
        return None
    return Report(
        "this goes through a traced array row by row: the program gets a copy of the body for each row",
        "use `jax.vmap` or operations on the whole array",
    )
