"""JIT422: probabilities are taken for scores, and made probabilities once more (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import TwiceNormalised

RULE = Rule(
    code="JIT422",
    name="probabilities-as-scores",
    severity=Severity.WARNING,
    summary="softmax or sigmoid of what went through one already",
    explanation="""\
`jax.random.categorical`, `optax.softmax_cross_entropy` and the like take *scores* (logits), any numbers, and make probabilities of them
by themselves. If they get what a softmax has made, they see scores between 0 and 1: a choice that was certain is taken 2.7 times
as often as one that is impossible, and a loss cannot come near 0, whatever the model says. It goes down a little, and stops.
Mostly the last layer of a model is a softmax, and the loss another.

The rule follows the array through functions, modules and transforms, where it is indexed, reshaped or put together with others.
Anything that computes with it makes something else of it. What comes of `log_softmax` is no such case: those are scores.
""",
    instead="""\
Let the model give scores, and make probabilities of them where somebody reads them:

```python
loss = optax.softmax_cross_entropy(scores, labels).mean()
shown = jax.nn.softmax(scores)
```
""",
    bad="""\
def draw(key, scores):
    p = jax.nn.softmax(scores)
    return jax.random.categorical(key, p)  # expect: JIT422


draw(jax.random.key(0), jnp.arange(3.0))
""",
    good="""\
def draw(key, scores):
    return jax.random.categorical(key, scores)


draw(jax.random.key(0), jnp.arange(3.0))
""",
    outcome=Advisory("nothing is refused, and which numbers were meant cannot be observed"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.random.categorical.html",
)


@RULE.on(TwiceNormalised)
def check(event: TwiceNormalised) -> Report:
    """Report where probabilities are taken for scores."""
    takes = "numbers of any size" if event.api.startswith("jax.nn.") else "scores"
    return Report(
        f"`{event.api}` takes {takes} and makes probabilities of them, but `{event.made}` has made these already",
        f"give it what `{event.made}` got",
    )
