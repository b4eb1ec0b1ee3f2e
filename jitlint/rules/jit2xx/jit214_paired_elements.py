"""JIT214: an operation makes a table of all pairs where two arrays of as many elements meet (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import MakesPairs
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import PairedElements

RULE = Rule(
    code="JIT214",
    name="paired-elements",
    severity=Severity.WARNING,
    summary="`(n, 1)` against `(n,)` makes a table of all pairs",
    explanation="""\
A network that ends in a layer of one unit gives `(n, 1)`, the targets are `(n,)`. Their difference is no list of n errors: the
shapes are broadcast to `(n, n)`, and each prediction is compared with each target. The mean of that is a number like any
other, its gradient pulls all predictions to the same value, and nothing raises.

The rule speaks where both sizes are known and equal, in a function that adds everything up. An axis that is made on the spot,
`x[:, None] - x`, is meant.
""",
    instead="""\
```python
predictions = jnp.squeeze(model(x), axis=-1)
loss = jnp.mean((predictions - targets) ** 2)
```

`jax.numpy_rank_promotion("raise")` makes JAX refuse such operations everywhere.
""",
    bad="""\
def loss(w, x, y):
    predictions = x @ w
    return jnp.mean((predictions - y) ** 2)  # expect: JIT214


jax.grad(loss)(jnp.ones((3, 1)), jnp.ones((8, 3)), jnp.ones(8))
""",
    good="""\
def loss(w, x, y):
    predictions = jnp.squeeze(x @ w, axis=-1)
    return jnp.mean((predictions - y) ** 2)


jax.grad(loss)(jnp.ones((3, 1)), jnp.ones((8, 3)), jnp.ones(8))
""",
    outcome=MakesPairs(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/rank_promotion_warning.html",
)


@RULE.on(PairedElements)
def check(event: PairedElements) -> Report:
    """Report the operation that makes the table."""
    n = event.count
    column = f"`{event.column}`" if event.column else "one operand"
    row = f"`{event.row}`" if event.row else "the other"
    return Report(
        f"{column} has shape ({n}, 1) and {row} ({n},), so `{event.operation}` gives all {n} x {n} pairs",
        f"drop the last axis before: `jnp.squeeze({event.column or 'x'}, axis=-1)`",
    )
