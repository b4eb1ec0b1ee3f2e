"""JIT414: 16-bit floats that a number of NumPy makes wider (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Widens
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import WidenedArray

RULE = Rule(
    code="JIT414",
    name="widened-array",
    severity=Severity.WARNING,
    summary="A NumPy number that turns a 16-bit array into a 32-bit one",
    explanation="""\
A number of Python's own gives way to the type of an array: `x * 0.125` is `bfloat16` if `x` is. A number that NumPy made, such as
`np.sqrt(64)` or `np.float32(0.5)`, has a type that counts like an array's, and JAX promotes the two to `float32`. All that is
computed from there on takes twice the memory and runs at the speed of 32-bit numbers, without a word.

Nothing is reported where the same function turns what it computed into another type afterwards.
""",
    instead="""\
Make a number of Python's own of it:

```python
scores = q @ k.T / math.sqrt(64)
```
""",
    bad="""\
@jax.jit
def scores(q, k):
    q, k = q.astype(jnp.bfloat16), k.astype(jnp.bfloat16)
    return q @ k.T / np.sqrt(64)  # expect: JIT414


scores(jnp.ones((3, 64)), jnp.ones((3, 64)))
""",
    good="""\
@jax.jit
def scores(q, k):
    q, k = q.astype(jnp.bfloat16), k.astype(jnp.bfloat16)
    return q @ k.T / float(np.sqrt(64))


scores(jnp.ones((3, 64)), jnp.ones((3, 64)))
""",
    outcome=Widens(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/type_promotion.html",
)


@RULE.on(WidenedArray)
def check(event: WidenedArray) -> Report | None:
    """Report arrays that become wider than they were."""
    number = f"`{event.number}`" if event.number else "the other operand"
    return Report(
        f"{number} is a NumPy number, which unlike Python's own does not take the type of the array: `{event.narrow}` becomes"
        f" `{event.wide}`",
        "make a number of Python's own of it, `float(...)`, or one of the array's type, `jnp.asarray(..., x.dtype)`",
    )
