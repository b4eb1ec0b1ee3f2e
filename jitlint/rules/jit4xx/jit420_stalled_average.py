"""JIT420: a running average in 16 bits stands still (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import StalledAverage

RULE = Rule(
    code="JIT420",
    name="stalled-average",
    severity=Severity.WARNING,
    summary="running average that is kept in 16 bits, where its steps are rounded away",
    explanation="""\
`bfloat16` has eight bits for the digits of a number: from 1 the next one is 1.0078. A running average moves by a small share of the
way, `a + 0.01 * (n - a)`. A step that is less than half of the distance to the next number is rounded away: with 0.01, the average
stays where it is until it is off by 20 to 40 %, with 0.001 until the parameters are several times as large. Nothing says so; the
average just never arrives, and a model that is evaluated with it is worse than the one that was trained.

Reported are averages whose data type and share are known, if the share is at most 1.5 times the distance from 1 to the next number
(0.0117 for `bfloat16`, 0.0015 for `float16`), also where 32 bits are turned back into 16 at once.
""",
    instead="""\
Keep the average in 32 bits, and turn it into 16 where it is used:

```python
averaged = jax.tree.map(lambda p: p.astype(jnp.float32), params)
averaged = jax.tree.map(lambda a, p: decay * a + (1 - decay) * p.astype(a.dtype), averaged, params)
```
""",
    bad="""\
@jax.jit
def follow(ema, params):
    return 0.999 * ema + 0.001 * params  # expect: JIT420


follow(jnp.zeros(3, jnp.bfloat16), jnp.ones(3, jnp.bfloat16))
""",
    good="""\
@jax.jit
def follow(ema, params):
    return 0.999 * ema + 0.001 * params.astype(ema.dtype)


follow(jnp.zeros(3, jnp.float32), jnp.ones(3, jnp.bfloat16))
""",
    outcome=Advisory("nothing is refused, and how far the numbers lie apart, JAX cannot know"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/jax.numpy.html#jax.numpy.finfo",
)


@RULE.on(StalledAverage)
def check(event: StalledAverage) -> Report:
    """Report averages that stand still."""
    return Report(
        f"this average is kept in `{event.dtype}`, where a step of {event.share} of the way is rounded away unless the way is long: "
        "it stands still",
        "keep it in 32 bits, `x.astype(jnp.float32)`, and turn it into 16 where it is used",
    )
