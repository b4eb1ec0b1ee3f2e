"""JIT105: a `match` statement decides on a traced value (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import Truth

RULE = Rule(
    code="JIT105",
    name="traced-match",
    severity=Severity.ERROR,
    summary="`match` on a traced value",
    explanation="""\
`case 0:` compares the subject with `==` and asks the answer for True or False; a guard (`case _ if x > 0:`) asks as
well. Neither is known while the function is being traced:

> TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[].

Matching the *structure* of a value is fine, because the structure of a pytree is known: `case (a, b):` on a tuple,
`case {"w": w}:` on a dict, `case None:`. A sequence pattern never matches an array, traced or not.
""",
    instead="""\
Choose at run time with `jax.lax.switch`, or among values with `jnp.select`:

```python
y = jax.lax.switch(mode, [jnp.sin, jnp.cos, jnp.tan], x)
```

If the subject takes few values and Python may see it, list it in `static_argnames`.
""",
    bad="""\
@jax.jit
def activate(x, mode):
    match mode:
        case 0:  # expect: JIT105
            return jnp.sin(x)
        case _:
            return jnp.cos(x)


activate(1.0, 0)
""",
    good="""\
@jax.jit
def activate(x, mode):
    return jax.lax.switch(mode, [jnp.sin, jnp.cos], x)


activate(1.0, 0)
""",
    outcome=Raises(
        ("jax.errors.TracerBoolConversionError", "ValueError"), traced=True, says=r"truth value of an array"
    ),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.lax.switch.html",
)


@RULE.on(Truth)
def check(event: Truth) -> Report | None:
    """Report value patterns and guards."""
    if event.form == "match":
        return Report(
            "a `case` value is compared with `==` and needs a concrete True or False, but the subject is traced",
            "use `jax.lax.switch` or `jnp.select`",
            static="if the subject is a mode",
        )
    if event.form == "match-guard":
        return Report(
            "the guard of a `case` needs a concrete True or False, but `{expr}` is traced",
            "use `jnp.where(cond, a, b)` or `jax.lax.cond` inside the case",
        )
    return None
