"""JIT602: a key made from a constant inside a traced function (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import RepeatsDraw
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ConstantKey

RULE = Rule(
    code="JIT602",
    name="constant-key-in-jit",
    severity=Severity.INFO,
    summary="PRNG key made from a constant inside a traced function",
    explanation="""\
A key made from a constant seed is the same key at every call, so the function draws the same numbers each time it is
called; under `jax.jit` they are part of the compiled program.

That is right for a fixed projection or a test, and a mistake where fresh noise is meant.
""",
    instead="""\
Take the key as an argument, and let the caller split it:

```python
@jax.jit
def noisy(key, x):
    return x + jax.random.normal(key, x.shape)
```
""",
    bad="""\
@jax.jit
def noisy(x):
    return x + jax.random.normal(jax.random.key(0), x.shape)  # expect: JIT602


noisy(1.0)
noisy(1.0)
""",
    good="""\
@jax.jit
def noisy(key, x):
    return x + jax.random.normal(key, x.shape)


one, two = jax.random.split(jax.random.key(0))
noisy(one, 1.0)
noisy(two, 1.0)
""",
    outcome=RepeatsDraw(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/random-numbers.html",
)


@RULE.on(ConstantKey)
def check(event: ConstantKey) -> Report | None:
    """Report keys from constants in traced code."""
    return Report(
        f"`{event.api}` gets a constant inside a traced function, so every call draws the same random numbers",
        "take the key as an argument and let the caller split it",
    )
