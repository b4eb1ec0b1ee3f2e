"""JIT219: a logarithm of what runs out of numbers before (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import MakesNan
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import UnstableLog

RULE = Rule(
    code="JIT219",
    name="unstable-log",
    severity=Severity.WARNING,
    summary="logarithm of a softmax, of a sum of exponentials and the like",
    explanation="""\
In 32 bits `exp(x)` is infinite from 89 on, a probability below 1e-45 is 0, and `tanh(x)` is 1 from 10 on. Their logarithms are
plain numbers, but JAX computes them one after the other: `jnp.log(jax.nn.softmax(x))` is `-inf` where a class is ruled out, and
the gradient is NaN, as 0 · ∞ is. One such element turns all parameters into NaN at the next step of the optimiser; it comes late,
when a model has become sure of itself.

For each of these there is a function that takes the logarithm without the detour. A small number that is added,
`jnp.log(p + 1e-8)`, keeps the gradient finite and wrong, and is not reported.

Reported are logarithms of `softmax`, of `sigmoid` and what it leaves of 1, of `1 - tanh(x) ** 2`, of `1 + exp(x)` and of sums of
`exp(x)`, unless `x` is kept small or below zero by what is seen of it.
""",
    instead="""\
```python
jax.nn.log_softmax(x)                                # log(softmax(x))
jax.nn.log_sigmoid(x)                                # log(sigmoid(x))
jax.nn.log_sigmoid(-x)                               # log(1 - sigmoid(x))
jax.nn.softplus(x)                                   # log(1 + exp(x))
jax.nn.logsumexp(x)                                  # log(sum(exp(x)))
2 * (jnp.log(2.0) - x - jax.nn.softplus(-2 * x))     # log(1 - tanh(x) ** 2)
```
""",
    bad="""\
@jax.grad
def loss(logits):
    return -jnp.log(jax.nn.softmax(logits))[0]  # expect: JIT219


loss(jnp.array([0.0, 200.0]))
""",
    good="""\
@jax.grad
def loss(logits):
    return -jax.nn.log_softmax(logits)[0]


loss(jnp.array([0.0, 200.0]))
""",
    outcome=MakesNan(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.nn.log_softmax.html",
)

_INSTEAD = {
    "softmax": ("a softmax, which is 0 where a class is ruled out", "jax.nn.log_softmax(x)"),
    "sigmoid": ("a sigmoid, which is 0 for large negative numbers", "jax.nn.log_sigmoid(x)"),
    "1-sigmoid": ("what a sigmoid leaves of 1, which is 0 for large numbers", "jax.nn.log_sigmoid(-x)"),
    "1-tanh": (
        "what the square of `tanh(x)` leaves of 1, which is 0 from about 9 on",
        "2 * (jnp.log(2.0) - x - jax.nn.softplus(-2 * x))",
    ),
    "1+exp": ("an exponential, which is infinite from 89 on", "jax.nn.softplus(x)"),
    "sum": ("a sum of exponentials, which are infinite from 89 on", "jax.nn.logsumexp(x)"),
}


@RULE.on(UnstableLog)
def check(event: UnstableLog) -> Report:
    """Report such logarithms."""
    what, instead = _INSTEAD[event.what]
    return Report(
        f"this is the logarithm of {what}: the result is infinite and its gradient NaN, though the number itself is not",
        f"take it without the detour: `{instead}`",
    )
