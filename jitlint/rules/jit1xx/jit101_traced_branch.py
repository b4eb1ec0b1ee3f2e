"""JIT101: a Python `if`, `elif` or conditional expression decides on a traced value (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import Truth

RULE = Rule(
    code="JIT101",
    name="traced-branch",
    severity=Severity.ERROR,
    summary="Python `if` on a traced value",
    explanation="""\
Tracing runs the function once without data: a traced value has a shape and a dtype, but no contents. A Python
`if` has to choose one side while the function is being traced, so JAX stops with

> TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[].

The result of every `jnp` operation inside a jitted function is traced, even when all its inputs are constants:
`if jnp.sum(TABLE) > 0` fails as well. Fine are questions that the shape, the dtype or Python itself answers:
`x.ndim == 2`, `x.shape[0] > 3`, `x.dtype == jnp.float32`, `x is None`, `isinstance(x, tuple)`.
""",
    instead="""\
Compute both sides and select, or let JAX choose at run time:

```python
y = jnp.where(x > 0, x, -x)
y = jax.lax.cond(x > 0, jnp.sqrt, jnp.zeros_like, x)
```

If the value is a flag that takes few values, make it static, so that Python sees it:
`@partial(jax.jit, static_argnames="training")`.
""",
    bad="""\
@jax.jit
def magnitude(x):
    if x > 0:  # expect: JIT101
        return x
    return -x


magnitude(3.0)
""",
    good="""\
@jax.jit
def magnitude(x):
    return jnp.where(x > 0, x, -x)


magnitude(3.0)
""",
    outcome=Raises(
        ("jax.errors.TracerBoolConversionError", "ValueError"), traced=True, says=r"truth value of an array"
    ),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Writes an `if` whose branches only return or only assign names, or a conditional expression, "
        "with `jnp.where`, which computes both branches; longer ones, and calls of the file, with "
        "`jax.lax.cond`; a parameter that is tested by itself, as a flag is, becomes static.",
    ),
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerBoolConversionError",
)

_SUBJECTS = {"if": "`if`", "elif": "`elif`", "ternary": "a conditional expression"}


@RULE.on(Truth)
def check(event: Truth) -> Report | None:
    """Report the three forms of `if`."""
    subject = _SUBJECTS.get(event.form)
    if subject is None:
        return None
    return Report(
        f"{subject} needs a concrete True or False, but `{{expr}}` is traced",
        "use `jnp.where(cond, a, b)` or `jax.lax.cond`",
        static="if the value is a flag",
    )
