"""JIT526: a name that no measured release of JAX has (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT526",
    name="unknown-name",
    severity=Severity.ERROR,
    summary="name that JAX does not have",
    explanation="""\
The modules of JAX are like those of NumPy and SciPy, and have not all of their names; other names are those of other libraries. Python
finds out when the line runs:

> AttributeError: module 'jax.random' has no attribute 'seed'

The rule knows all names of the public modules in the releases that were measured, and says nothing of a JAX that is newer. Code that asks
first (`hasattr`, `try`) is prepared, and so is what the program puts there itself.
""",
    instead="""\
A few that are often looked for:

```python
key = jax.random.key(0)            # jax.random.seed(0): there is no global state
y = flax.linen.Dropout(0.1)        # jax.nn has no layers
```
""",
    bad="""\
key = jax.random.seed(0)  # expect: JIT526
""",
    good="""\
key = jax.random.key(0)
""",
    outcome=Raises(("AttributeError", "ImportError"), says=r"has no attribute|cannot import name"),
    since="0.2",
    reference="https://docs.jax.dev/en/latest/jax.html",
)


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report names that are nowhere."""
    if event.problem != "unknown-name":
        return None
    module = event.api.rpartition(".")[0]
    return Report(
        f"`{module}` has no `{event.api.rpartition('.')[2]}`, in no release since JAX {event.since}",
        f"do you mean `{module}.{event.cure}`?" if event.cure else "look up what there is",
        subject=f"`{event.api}`",
    )
