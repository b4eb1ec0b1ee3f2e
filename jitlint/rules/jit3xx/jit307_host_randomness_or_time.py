"""JIT307: the host's random numbers and clocks in traced code (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import BakesConstant
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import Effect

RULE = Rule(
    code="JIT307",
    name="host-randomness-or-time",
    severity=Severity.WARNING,
    summary="random number or time of the host is fixed when JAX traces",
    explanation="""\
`random`, `numpy.random`, `time`, `datetime`, `uuid` and `secrets` are Python: in a traced function they run once, while
JAX traces, and what they gave is a constant of the compiled function. Every later call uses the same "random" number
and the same time.

A generator that the traced function seeds itself is not reported: it gives the same numbers at every call anyway.
""",
    instead="""\
Take random numbers from `jax.random` with a key that is passed in, and measure time around the call:

```python
key, sub = jax.random.split(key)
x = augment(sub, x)
```
""",
    bad="""\
import random

random.seed(0)


@jax.jit
def jitter(x):
    return x + random.random()  # expect: JIT307


jittered = [jitter(1.0) for _ in range(3)]
""",
    good="""\
@jax.jit
def jitter(key, x):
    return x + jax.random.uniform(key)


for key in jax.random.split(jax.random.key(0), 3):
    jitter(key, 1.0)
""",
    outcome=BakesConstant(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/random-numbers.html",
)

_KEY = "use `jax.random` with a key that is an argument of the traced function"
_REPORTS = {
    "random": ("this random number is drawn while JAX traces, and every call uses the same", _KEY),
    "entropy": ("this generator is seeded while JAX traces, and every call uses the same numbers", _KEY),
    "clock": (
        "the time is asked for while JAX traces, and every call uses the same",
        "measure outside the traced function, around a call that ends with `jax.block_until_ready`",
    ),
    "unique": ("this identifier is made while JAX traces, and every call uses the same", "make it outside"),
    "sleep": ("this waits while JAX traces, not at each call", "wait outside the traced function"),
}


@RULE.on(Effect)
def check(event: Effect) -> Report | None:
    """Report draws, clocks and identifiers."""
    found = _REPORTS.get(event.effect)
    return Report(*found) if found is not None else None
