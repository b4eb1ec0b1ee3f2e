"""JIT103: an `assert` statement tests a traced value (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import Truth

RULE = Rule(
    code="JIT103",
    name="traced-assert",
    severity=Severity.ERROR,
    summary="`assert` on a traced value",
    explanation="""\
`assert` runs while the function is being traced, when the data does not exist yet. It cannot test contents:

> TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[].

Asserting facts about shapes, dtypes and Python values (`assert x.ndim == 2`) is fine and useful: it is checked once,
while tracing, and costs nothing at run time.
""",
    instead="""\
Check contents before the jitted call, or inside with `checkify`, which carries the error out of the program:

```python
from jax.experimental import checkify

def safe_log(x):
    checkify.check(jnp.all(x > 0), "x must be positive")
    return jnp.log(x)

error, y = jax.jit(checkify.checkify(safe_log))(x)
error.throw()
```
""",
    bad="""\
@jax.jit
def safe_log(x):
    assert jnp.all(x > 0), "x must be positive"  # expect: JIT103
    return jnp.log(x)


safe_log(jnp.ones(3))
""",
    good="""\
from jax.experimental import checkify


def safe_log(x):
    assert x.ndim == 1, "x must be a vector"
    checkify.check(jnp.all(x > 0), "x must be positive")
    return jnp.log(x)


error, result = jax.jit(checkify.checkify(safe_log))(jnp.ones(3))
error.throw()
""",
    outcome=Raises(
        ("jax.errors.TracerBoolConversionError", "ValueError"), traced=True, says=r"truth value of an array"
    ),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Writes `eqx.error_if`, `checkify.check` or an assertion of `chex`, if the file uses one.",
    ),
    reference="https://docs.jax.dev/en/latest/debugging/checkify_guide.html",
)


@RULE.on(Truth)
def check(event: Truth) -> Report | None:
    """Report `assert` conditions."""
    if event.form != "assert":
        return None
    return Report(
        "`assert` needs a concrete True or False, but `{expr}` is traced",
        "use `jax.experimental.checkify.check`, or test the data before the traced call",
    )
