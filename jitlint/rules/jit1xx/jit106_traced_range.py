"""JIT106: `range` gets a traced value (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import Convert

RULE = Rule(
    code="JIT106",
    name="traced-range",
    severity=Severity.ERROR,
    summary="`range` of a traced value",
    explanation="""\
A Python `for` loop is unrolled while tracing: every turn becomes a piece of the program. `range` therefore has to
know its bounds as Python integers, and a traced bound has no value yet:

> TracerIntegerConversionError: The __index__() method was called on traced array with shape int32[]

`range(x.shape[0])` and `range(len(x))` are fine, because shapes are known while tracing.
""",
    instead="""\
Let the program loop:

```python
total = jax.lax.fori_loop(0, n, lambda i, total: total + i, 0)
```

If the bound is a setting with few values, make it static: `@partial(jax.jit, static_argnames="n")`. JAX then compiles once
for each value.
""",
    bad="""\
@jax.jit
def power(x, n):
    result = 1.0
    for _ in range(n):  # expect: JIT106
        result = result * x
    return result


power(2.0, 3)
""",
    good="""\
@jax.jit
def power(x, n):
    return jax.lax.fori_loop(0, n, lambda i, result: result * x, 1.0)


power(2.0, 3)
""",
    outcome=Raises(
        ("jax.errors.TracerIntegerConversionError", "TypeError"),
        traced=True,
        says=r"[Tt]race[dr]|[Ii]nteger scalar arrays",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Makes the body a function of `jax.lax.fori_loop`, if it only assigns names; under a derivative, of "
        "`jax.lax.scan` over the array that the loop reads; elsewhere makes the number static.",
    ),
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerIntegerConversionError",
)


@RULE.on(Convert)
def check(event: Convert) -> Report | None:
    """Report traced arguments of `range`."""
    if event.to != "range":
        return None
    return Report(
        "`range` needs concrete integers, but its argument is traced",
        "under a derivative, use `jax.lax.scan` over as many turns as there may be, and mask with `jnp.where` those"
        " that do not count"
        if event.place.differentiated
        else "use `jax.lax.fori_loop(0, n, body, init)`",
        static="if the number of turns is a setting",
    )
