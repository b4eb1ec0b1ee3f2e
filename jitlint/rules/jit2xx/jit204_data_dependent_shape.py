"""JIT204: the shape of a function's result depends on traced data (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT204",
    name="data-dependent-shape",
    severity=Severity.ERROR,
    summary="function whose result size depends on traced data",
    explanation="""\
`jnp.nonzero`, `jnp.unique`, `jnp.where` with one argument, `jnp.repeat` with traced repeats, set operations and the like
return as many elements as the data demands. A compiled program needs every shape in advance:

> ConcretizationTypeError: Abstract tracer value encountered where concrete value is expected: traced array with shape int32[]

Most of these functions accept an argument that fixes the size; the result is then cut or padded to it.
""",
    instead="""\
Fix the size, and say how to pad:

```python
(index,) = jnp.nonzero(x, size=4, fill_value=-1)
values = jnp.unique(x, size=4, fill_value=0)
```

Often the positions are not needed at all: `jnp.where(x > 0, x, 0)` keeps the shape.
""",
    bad="""\
@jax.jit
def labels(x):
    return jnp.unique(x)  # expect: JIT204


labels(jnp.array([3, 1, 3, 2]))
""",
    good="""\
@jax.jit
def labels(x):
    return jnp.unique(x, size=4, fill_value=-1)


labels(jnp.array([3, 1, 3, 2]))
""",
    outcome=Raises(
        ("jax.errors.TracerBoolConversionError", "jax.errors.ConcretizationTypeError", "TypeError"),
        says=r"[Tt]race[dr]|concrete",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Adds `size=...`, a stub to be filled in: `--show-fixes` shows it and editors offer it, `--fix` never writes it.",
        stub=True,
    ),
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.ConcretizationTypeError",
)


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report data-dependent shapes; ``cure`` names the argument that fixes the size."""
    if event.problem != "data-dependent-shape":
        return None
    if event.cure:
        help_text = (
            f"pass a static `{event.cure}`, or keep the shape and select with `jnp.where(mask, x, fill)`"
        )
    else:
        help_text = "keep the shape and select with `jnp.where(mask, x, fill)`, or call it outside the traced function"
    return Report(f"the size of the result of `{event.api}` depends on the data, which is traced", help_text)
