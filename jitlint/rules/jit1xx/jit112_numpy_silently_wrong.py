"""JIT112: a NumPy function answers wrongly about a traced value (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import BakesConstant
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import SilentAnswer

RULE = Rule(
    code="JIT112",
    name="numpy-silently-wrong",
    severity=Severity.WARNING,
    summary="NumPy function that answers False about any traced value",
    explanation="""\
`np.array_equal` and `np.array_equiv` ask for the numbers of their arguments and catch whatever goes wrong. A traced
value has no numbers, so they answer `False` under a transform, even for `np.array_equal(x, x)`. The error that NumPy
functions normally raise there (JIT109) is swallowed.

The answer is a Python bool: an `if` on it is decided while JAX traces, and only that branch is compiled.
""",
    instead="""\
Compare with `jax.numpy`; the answer is an array, to be used with `jnp.where` or `jax.lax.cond`:

```python
y = jnp.where(jnp.array_equal(x, old), y, 0.0)
```
""",
    bad="""\
@jax.jit
def changed(x, old):
    return 0.0 if np.array_equal(x, old) else 1.0  # expect: JIT112


answer = changed(jnp.ones(3), jnp.ones(3))
""",
    good="""\
@jax.jit
def changed(x, old):
    return jnp.where(jnp.array_equal(x, old), 0.0, 1.0)


answer = changed(jnp.ones(3), jnp.ones(3))
""",
    outcome=BakesConstant(),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Writes the function of the same name in `jax.numpy`: the answer changes.",
    ),
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerArrayConversionError",
)


@RULE.on(SilentAnswer)
def check(event: SilentAnswer) -> Report | None:
    """Report comparisons that cannot see the values."""
    name = event.what.replace("numpy.", "np.", 1)
    return Report(
        f"`{name}` cannot look into {{why}}, which is traced, and answers False whatever the numbers are",
        f"use `jnp.{event.what.rpartition('.')[2]}` with `jnp.where` or `jax.lax.cond`",
    )
