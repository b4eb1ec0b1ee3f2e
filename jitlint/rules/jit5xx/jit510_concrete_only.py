"""JIT510: an attribute or method that only concrete arrays have is used on a tracer (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT510",
    name="concrete-only",
    severity=Severity.ERROR,
    summary="attribute that a traced value does not have",
    explanation="""\
`.block_until_ready()`, `.devices()`, `.sharding`, `.addressable_shards`, `.delete()` and the like speak about an array
in the memory of a device. A traced value is nowhere yet:

> AttributeError: The 'block_until_ready' method is not available on traced array with shape float32[].

Before JAX 0.9.2:

> AttributeError: DynamicJaxprTracer has no attribute block_until_ready

The function `jax.block_until_ready(x)` accepts traced values and does nothing with them.
""",
    instead="""\
Wait for results, and ask about devices, outside the traced function:

```python
y = step(x).block_until_ready()
```

Inside, `jax.typeof(x)` tells what is known while tracing, and `jax.lax.with_sharding_constraint` sets a sharding.
""",
    bad="""\
@jax.jit
def double(x):
    y = 2 * x
    return y.block_until_ready()  # expect: JIT510


double(jnp.ones(3))
""",
    good="""\
@jax.jit
def double(x):
    return 2 * x


double(jnp.ones(3)).block_until_ready()
""",
    outcome=Raises(
        ("AttributeError", "jax.errors.ConcretizationTypeError", "TypeError", "NotImplementedError"),
        says=r"[Tt]race[dr]",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Drops `.block_until_ready()` in traced code.",
    ),
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.ConcretizationTypeError",
)


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report attributes and methods that tracers lack; ``api`` names them, ``cure`` what to use instead."""
    if event.problem != "concrete-only":
        return None
    name = event.api.rpartition(".")[2] or event.api
    cure = f"use `{event.cure}`, or " if event.cure else ""
    return Report(
        f"`.{name}` exists on concrete arrays only, but this one is traced",
        f"{cure}use it on the result, outside the traced function",
    )
