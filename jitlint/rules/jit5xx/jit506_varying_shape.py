"""JIT506: a traced argument has another shape at every call (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Retraces
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import VaryingArgument

RULE = Rule(
    code="JIT506",
    name="varying-shape",
    severity=Severity.WARNING,
    summary="argument of a jitted function whose shape changes at every call",
    explanation="""\
A compiled program is made for the shapes and dtypes of its arguments. An array that grows in a loop, a slice `x[:i]`, a
list with one more element, a dict with another key: each is a new shape or structure, so JAX traces and compiles again
at every turn.

A slice of constant length such as `x[i:i + 4]` keeps its shape and is fine.
""",
    instead="""\
Keep the shape: make the array as large as it will get, fill it with `.at[i].set(...)`, and pass a mask or the number of
valid elements along:

```python
history = jnp.zeros(n)
for i in range(n):
    history = history.at[i].set(summarise(history, i))
```

Pad batches to one size, or to a few sizes; the longest of its sequences is another one in each batch. So with texts: what a tokenizer makes
of each is as long as its text.
""",
    bad="""\
total = jax.jit(lambda x: jnp.sum(x))
x = jnp.arange(8.0)
for i in range(1, 7):
    total(x[:i])  # expect: JIT506
""",
    good="""\
total = jax.jit(lambda x, n: jnp.sum(jnp.where(jnp.arange(x.size) < n, x, 0.0)))
x = jnp.arange(8.0)
for i in range(1, 7):
    total(x, i)
""",
    outcome=Retraces("shapes"),
    since="0.2",
    reference="https://docs.jax.dev/en/latest/jit-compilation.html#jit-and-caching",
)


@RULE.on(VaryingArgument)
def check(event: VaryingArgument) -> Report | None:
    """Report traced arguments whose shape varies; ``how`` says in which way."""
    if event.problem != "shape":
        return None
    named = f" `{event.parameter}`" if event.parameter else ""
    return Report(
        f"the argument{named} is {event.how}, and JAX compiles again for each shape",
        "keep the shape constant: fill a preallocated array, pad, and pass a mask or the number of valid elements",
    )
