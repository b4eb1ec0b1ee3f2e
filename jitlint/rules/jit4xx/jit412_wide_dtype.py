"""JIT412: numbers of 64 bits where JAX gives 32 (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Narrows
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import WideDtype

RULE = Rule(
    code="JIT412",
    name="wide-dtype",
    severity=Severity.WARNING,
    summary="64-bit numbers asked for in a program that never turns them on",
    explanation="""\
JAX works with 32 bits unless it is told otherwise. Who asks for `float64` or `int64` all the same gets `float32` or `int32`, and a
warning at run time that is easily overlooked:

> UserWarning: Explicitly requested dtype float64 requested in astype is not available, and will be truncated to dtype float32.

Sums lose digits, and integers beyond 2³¹ become others.

Nothing is reported where any code of the program speaks of `x64`, in whatever way.
""",
    instead="""\
Turn 64 bits on before the first array is made, or ask for what there is:

```python
jax.config.update("jax_enable_x64", True)
```
""",
    bad="""\
@jax.jit
def total(x):
    return x.astype(jnp.float64).sum()  # expect: JIT412


total(jnp.ones(3))
""",
    good="""\
@jax.jit
def total(x):
    return x.astype(jnp.float32).sum()


total(jnp.ones(3))
""",
    outcome=Narrows(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/default_dtypes.html",
)


@RULE.on(WideDtype)
def check(event: WideDtype) -> Report | None:
    """Report data types that there are not."""
    return Report(
        f"`{event.asked}` is asked for, but nothing here turns 64-bit numbers on, so JAX gives `{event.given}`",
        f'call `jax.config.update("jax_enable_x64", True)` before the first array is made, or ask for `{event.given}`',
    )
