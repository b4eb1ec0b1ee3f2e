"""JIT418: numbers with a fraction are put into arrays of integers (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Cuts
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import CutNumbers

RULE = Rule(
    code="JIT418",
    name="cut-numbers",
    severity=Severity.WARNING,
    summary="numbers with a fraction are set, added or filled into an array of integers",
    explanation="""\
An array keeps its data type, whatever is set in it. `x.at[i].add(0.5)` changes nothing where `x` holds integers: the fraction is
cut off first, with a warning that is easily overlooked:

> FutureWarning: scatter inputs have incompatible types: cannot safely cast value from dtype=float32 to dtype=int32 … In future JAX
> releases this will result in an error.

`jnp.full_like(x, 0.5)` takes the data type of `x` as well, and gives zeros without a word.

Reported is what is certain of the data type of the array and of the numbers; a number of Python's without a fraction is not.
""",
    instead="""\
Say which data type the new array has, or turn the old one into floats first:

```python
weights = jnp.full_like(senders, 0.5, dtype=jnp.float32)
counts = counts.astype(jnp.float32).at[cell].add(weight)
```
""",
    bad="""\
senders = jnp.array([0, 1, 2])

weights = jnp.full_like(senders, 0.5)  # expect: JIT418
""",
    good="""\
senders = jnp.array([0, 1, 2])

weights = jnp.full_like(senders, 0.5, dtype=jnp.float32)
""",
    outcome=Cuts(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.numpy.full_like.html",
)


@RULE.on(CutNumbers)
def check(event: CutNumbers) -> Report:
    """Report numbers that lose their fraction."""
    if event.api.startswith("x.at"):
        return Report(
            f"`{event.api}` gets numbers with a fraction, but the array has integers, so the fraction is cut off",
            "turn the array into floats first, with `x.astype(jnp.float32)`, or round the numbers on purpose",
        )
    return Report(
        f"`{event.api}` makes integers, as the array has them, so the fraction of the number is cut off",
        "name the data type: `jnp.full_like(x, 0.5, dtype=jnp.float32)`",
    )
