"""JIT705: a function of Python's adds up an array of JAX's (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import UnrolledLoop

RULE = Rule(
    code="JIT705",
    name="builtin-reduction",
    severity=Severity.WARNING,
    summary="Python's `sum`, `max`, `min` or `sorted` over a long array",
    explanation="""\
Python's own functions take what they are given element by element. Each element of an array is an array of its own, and each addition
an operation that JAX starts: adding up 3,000 numbers takes a hundred times as long as `jnp.sum` does. In compiled code it makes a
program with as many additions.

The rule speaks of arrays with 64 rows or more, whose size is known.
""",
    instead="""\
```python
total = jnp.sum(errors)
```
""",
    bad="""\
errors = jnp.ones(3000)

total = sum(errors)  # expect: JIT705
""",
    good="""\
errors = jnp.ones(3000)

total = jnp.sum(errors)
""",
    outcome=Advisory("the result is right, it only takes longer"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/notebooks/thinking_in_jax.html",
)

_OF_PYTHON = "builtins."


@RULE.on(UnrolledLoop)
def check(event: UnrolledLoop) -> Report | None:
    """Report what goes through an array by itself."""
    if not event.problem.startswith(_OF_PYTHON):
        return None
    name = event.problem.removeprefix(_OF_PYTHON)
    method = "sort" if name == "sorted" else name
    return Report(
        f"Python's `{name}` takes the {event.count} rows of this array one by one, and JAX starts an operation for each",
        f"`jnp.{method}(x)`, or `jnp.{method}(x, axis=0)`, does it at once",
    )
