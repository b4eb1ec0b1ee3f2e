"""JIT416: elements are set from their old values at indices that come twice (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import LostUpdate

RULE = Rule(
    code="JIT416",
    name="lost-updates",
    severity=Severity.WARNING,
    summary="`x.at[i].set(x[i] + v)`, where an index may come more than once",
    explanation="""\
`x.at[i].set(x[i] + v)` reads all elements `x[i]` before it sets one. Where an index comes twice, both results start from the same
old value, and one of them is lost: three points in a cell are counted as one. Which of them stays, JAX does not say.

The rule speaks where the code shows that indices repeat: they are drawn, rounded, divided or searched for, or are the ends of
edges and the like, by their names; they are written out with one that comes twice; or what is called counts goes up by one at them. It is silent about what gives each index once, such as `jnp.arange`, `jnp.argsort` or a
permutation, and about indices whose origin is not seen.
""",
    instead="""\
`add` counts each update, and needs no reading:

```python
counts = counts.at[cell].add(1.0)
```
""",
    bad="""\
counts = jnp.zeros(3)
cell = jnp.floor(jnp.array([0.1, 0.7, 2.5])).astype(jnp.int32)

counts = counts.at[cell].set(counts[cell] + 1.0)  # expect: JIT416
""",
    good="""\
counts = jnp.zeros(3)
cell = jnp.floor(jnp.array([0.1, 0.7, 2.5])).astype(jnp.int32)

counts = counts.at[cell].add(1.0)
""",
    outcome=Advisory("nothing is refused, and whether an index comes twice hangs on the numbers"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html",
)


@RULE.on(LostUpdate)
def check(event: LostUpdate) -> Report:
    """Report the update."""
    return Report(
        "each element is set from what it was before all updates, so that of two for one index only one stays",
        f"write `x.at[i].{event.method}(v)`, which counts each of them",
    )
