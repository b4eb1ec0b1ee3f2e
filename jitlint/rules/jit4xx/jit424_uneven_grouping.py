"""JIT424: the operator of an associative scan that is not associative (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import UnevenGrouping

RULE = Rule(
    code="JIT424",
    name="uneven-grouping",
    severity=Severity.WARNING,
    summary="operator of `jax.lax.associative_scan` that is not associative",
    explanation="""\
`jax.lax.associative_scan` works in a tree: it combines neighbours, then what these came to, and so on. That is the same as one after the
other only where the grouping does not matter, `f(f(a, b), c) == f(a, f(b, c))`. For an operator such as `0.9 * a + b` it does matter,
nothing is refused, and the numbers are others than those of a loop.

The rule computes the operator with numbers and reports it with three for which it fails; functions of the project to which the
operator hands its elements are computed as well. It is silent about operators with matrices, branches or functions that it cannot
compute.
""",
    instead="""\
Scan over pairs: what an element does to the one before it, and what it adds. Or use `jax.lax.scan`, which goes one by one:

```python
def combine(left, right):
    decay_left, sum_left = left
    decay_right, sum_right = right
    return decay_left * decay_right, decay_right * sum_left + sum_right


_, total = jax.lax.associative_scan(combine, (jnp.full_like(x, 0.9), x))
```
""",
    bad="""\
@jax.jit
def leaky(x):
    return jax.lax.associative_scan(lambda a, b: 0.9 * a + b, x)  # expect: JIT424


leaky(jnp.ones(8))
""",
    good="""\
def combine(left, right):
    (decay_left, sum_left), (decay_right, sum_right) = left, right
    return decay_left * decay_right, decay_right * sum_left + sum_right


@jax.jit
def leaky(x):
    return jax.lax.associative_scan(combine, (jnp.full_like(x, 0.9), x))[1]


leaky(jnp.ones(8))
""",
    outcome=Advisory("nothing is refused, and which of the two results is wanted cannot be observed"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.lax.associative_scan.html",
)


@RULE.on(UnevenGrouping)
def check(event: UnevenGrouping) -> Report:
    """Report the scan, with numbers for which its operator fails."""
    return Report(
        f"the operator of `{event.api}` is not associative: {event.counterexample}, depending on the grouping",
        "scan over pairs that compose, `(decay, sum)`, or use `jax.lax.scan`, which goes one by one",
    )
