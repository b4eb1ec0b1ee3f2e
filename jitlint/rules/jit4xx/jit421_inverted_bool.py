"""JIT421: `~` of a Python bool (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import InvertedBool

RULE = Rule(
    code="JIT421",
    name="inverted-bool",
    severity=Severity.WARNING,
    summary="`~` of a Python bool, which is an integer that counts as true",
    explanation="""\
For arrays of booleans, `~` is *not*. For a Python bool, it turns round the bits of an integer: `~True` is -2, and `~False` is -1. Both
count as true, for `jnp.where`, `jax.lax.cond` and `if`, and `~True | failed` is an array of integers none of which is 0. The same line
is right in a test with an array, and wrong with the setting, or the static argument, that it was written for. Python 3.12 warns of it.

Reported are values that are certainly True or False. Beside `&`, as in `valid & ~padded`, the integers lead to the right truth, and
nothing is said.
""",
    instead="""\
Write `not` for what is a Python bool, and `jnp.logical_not` for what may be either:

```python
keep = jnp.logical_not(stop_on_failure) | failed
```
""",
    bad="""\
def weights(failed, strict):
    return jnp.where(~strict | failed, 1.0, 0.0)  # expect: JIT421


jax.jit(weights, static_argnames="strict")(jnp.array([True, False]), strict=True)
""",
    good="""\
def weights(failed, strict):
    return jnp.where((not strict) | failed, 1.0, 0.0)


jax.jit(weights, static_argnames="strict")(jnp.array([True, False]), strict=True)
""",
    outcome=Advisory("Python turns the bits round before JAX sees anything"),
    since="0.1",
    reference="https://docs.python.org/3/library/stdtypes.html#boolean-type-bool",
)


@RULE.on(InvertedBool)
def check(event: InvertedBool) -> Report:
    """Report bits of truth values that are turned round."""
    text = event.operand or "a value"
    subject = f"`{event.operand}`" if event.operand else "this value"
    return Report(
        f"`~` of {subject}, which is the Python bool `{event.truth}`, is the integer {event.result}, and that counts as true",
        f"write `not {text}`, or `jnp.logical_not({text})` if it may be an array"
        if event.operand
        else "write `not`",
    )
