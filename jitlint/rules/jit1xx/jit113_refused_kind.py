"""JIT113: a check of the kind of an argument refuses every traced value (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import REFUSALS, KindCheck

RULE = Rule(
    code="JIT113",
    name="refused-kind",
    severity=Severity.ERROR,
    summary="check for a Python number or NumPy array that no traced value passes",
    explanation="""\
While JAX traces a function, its arguments are traced values, whatever the caller passes: a Python number is none any more, and an
array of NumPy neither. A check such as `isinstance(rate, float)` is false then, and code that raises if it is refuses
to be compiled:

> TypeError: rate must be a float, got <class 'jax._src.interpreters.partial_eval.DynamicJaxprTracer'>

Only the check is in the way. The same code runs without the transform, and so do its tests.
""",
    instead="""\
Let arrays pass as well; a traced value is an instance of `jax.Array`:

```python
if not isinstance(rate, (int, float, jax.Array)):
    raise TypeError("rate must be a number")
```

If Python needs the number itself, make it a static argument (`static_argnames`). What is wrong with the number can be asked
before the compiled function is called, or with `jax.experimental.checkify`.
""",
    bad="""\
def step(x, rate):
    if not isinstance(rate, float):
        raise TypeError(f"rate must be a float, got {type(rate)}")  # expect: JIT113
    return x - rate * x


jax.jit(step)(jnp.ones(3), 0.1)
""",
    good="""\
def step(x, rate):
    if not isinstance(rate, (float, jax.Array)):
        raise TypeError(f"rate must be a number, got {type(rate)}")
    return x - rate * x


jax.jit(step)(jnp.ones(3), 0.1)
""",
    outcome=Raises(REFUSALS),
    since="0.2",
    reference="https://docs.jax.dev/en/latest/key-concepts.html#tracing",
)


@RULE.on(KindCheck)
def check(event: KindCheck) -> Report | None:
    """Report what raises because a value is traced."""
    return Report(
        f"{{why}} is traced, and what is traced is no instance of {event.classes}: this raises whenever JAX traces the code",
        "let arrays pass as well, `isinstance(x, (int, float, jax.Array))`, or make it a static argument",
    )
