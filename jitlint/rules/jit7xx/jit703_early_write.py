"""JIT703: a NumPy array is written while JAX may still be reading it (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import EarlyWrite

RULE = Rule(
    code="JIT703",
    name="early-write",
    severity=Severity.WARNING,
    summary="NumPy array written while JAX may still be reading it",
    explanation="""\
A call of a compiled function comes back before its work is done, and a NumPy array that it is given is not always copied: on the
CPU the work reads it where it lies, on other devices the copy may still be under way. A loop that fills one array again and
again, and hands it to JAX in each turn, computes with the numbers of a later turn, or with some of each. Nothing raises, and with small
arrays, or a debugger, all looks right.

The same goes for `jax.device_put`, whose result may be the very array: it changes with every write.

Measured with JAX 0.10 on the CPU: of loops over `float32` arrays of 256 × 256 elements that were filled again, all gave wrong
results. Arrays with 64 bits are converted before the call comes back, which copies them; the rule is silent about these. It is silent, too,
wherever something in between may wait for a result, as `float`, `np.asarray`, `print` or `block_until_ready` do.
""",
    instead="""\
Make a new array in each turn, hand over a copy, or wait before the array is written again:

```python
out = step(params, batch.copy())
```
""",
    bad="""\
import numpy as np

double = jax.jit(lambda x: x * 2)


def fill(turns):
    batch, out = np.zeros((256, 256), np.float32), []
    for turn in range(turns):
        batch[:] = turn  # expect: JIT703
        out.append(double(batch))
    return out


fill(3)
""",
    good="""\
import numpy as np

double = jax.jit(lambda x: x * 2)


def fill(turns):
    out = []
    for turn in range(turns):
        batch = np.full((256, 256), turn, np.float32)
        out.append(double(batch))
    return out


fill(3)
""",
    outcome=Advisory("how far the work has come when the array is written is a matter of chance"),
    since="0.1",
    heading="because",
    reference="https://docs.jax.dev/en/latest/async_dispatch.html",
)


@RULE.on(EarlyWrite)
def check(event: EarlyWrite) -> Report:
    """Report where the array is written."""
    name = event.callee if event.callee.startswith("jax.") else event.callee.rpartition(".")[2]
    callee = "JAX" if not name or name == "<lambda>" else f"`{name}`"
    return Report(
        f"`{event.buffer}` is written while {callee} may still be reading it: JAX comes back before its work is done, and does not"
        " always copy a NumPy array",
        f"hand over a copy, `{event.buffer}.copy()`, make a new array in each turn, or wait for the result before",
    )
