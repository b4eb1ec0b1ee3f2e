"""JIT419: an array is changed at indices that are padded with -1 (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import PaddingIndex

RULE = Rule(
    code="JIT419",
    name="padding-index",
    severity=Severity.WARNING,
    summary="`x.at[i].add(1)` with indices that are padded with -1: the last element gets it",
    explanation="""\
Rows of unlike lengths are padded with an index that means *nothing*, most often -1. But JAX counts negative indices from the end,
as NumPy does, in every mode: `mode="drop"` drops only what lies beyond the end. So each padded place changes the last element.

So it is with cells of a grid: `jnp.floor((x - origin) / size)` is negative for what lies before the first of them, and comes in at the
other side, though `mode="drop"` was to leave it out.

The rule speaks of indices that the code fills, or fills up, with -1, where the update is a mere number, or JAX is asked to leave
out what is out of bounds (`mode="drop"`, `mode="fill"`); whoever sets values of another array may have masked them.
""",
    instead="""\
Let the padding lie beyond the end, and drop it, or add the mask in place of the number:

```python
counts = counts.at[jnp.where(ids < 0, n, ids)].add(1.0, mode="drop")
counts = counts.at[ids].add(ids >= 0)
```
""",
    bad="""\
ids = jnp.full(3, -1)

counts = jnp.zeros(4).at[ids].add(1.0)  # expect: JIT419
""",
    good="""\
ids = jnp.full(3, -1)

counts = jnp.zeros(4).at[ids].add(ids >= 0)
""",
    outcome=Advisory("nothing is refused, and what an index means, JAX cannot know"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html",
)


@RULE.on(PaddingIndex)
def check(event: PaddingIndex) -> Report:
    """Report the update."""
    if not event.padding:
        return Report(
            "what lies before the first cell has a negative index, which JAX counts from the end in every mode: it comes in at the other side",
            f'send it beyond the end: `x.at[jnp.where(i < 0, n, i)].{event.update}(…, mode="drop")`',
        )
    return Report(
        f"the indices are padded with {event.padding}, which JAX counts from the end: the last element gets what belongs to none",
        f'let the padding lie beyond the end: `x.at[jnp.where(i < 0, n, i)].{event.update}(…, mode="drop")`, or mask the values',
    )
