"""JIT521: a metric goes on from one epoch to the next (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import UnresetMetric

RULE = Rule(
    code="JIT521",
    name="unreset-metric",
    severity=Severity.WARNING,
    summary="metric that is never reset between the turns of a loop",
    explanation="""\
A metric of `flax.nnx` holds what it was given so far: `compute()` gives the mean over all of it and resets nothing. A loop that
asks for the value after each epoch, and does not reset the metric, reports the mean since the beginning: the curve is smoother and
later than what happens, and a test that shares the metric with the training is mixed with it.

The rule is silent where the loop that updates the metric is the one that asks for its value: that is a running mean.
""",
    instead="""\
```python
for epoch in range(epochs):
    metrics.reset()
    for x, y in batches:
        train_step(model, optimizer, metrics, x, y)
    history.append(metrics.compute())
```
""",
    bad="""\
from flax import nnx

metric = nnx.metrics.Average()
for epoch in range(2):
    for batch in (jnp.ones(3), jnp.zeros(3)):
        metric.update(values=batch)
    print(metric.compute())  # expect: JIT521
""",
    good="""\
from flax import nnx

metric = nnx.metrics.Average()
for epoch in range(2):
    metric.reset()
    for batch in (jnp.ones(3), jnp.zeros(3)):
        metric.update(values=batch)
    print(metric.compute())
""",
    outcome=Advisory("nothing is refused, and over what a mean is meant to be taken cannot be observed"),
    since="0.1",
    reference="https://flax.readthedocs.io/en/stable/api_reference/flax.nnx/training/metrics.html",
)


@RULE.on(UnresetMetric)
def check(event: UnresetMetric) -> Report:
    """Report where the value is asked for."""
    return Report(
        f"`{event.name}` is never reset, so this gives the mean over all turns of the loop so far",
        f"call `{event.name}.reset()` at the beginning of each turn",
    )
