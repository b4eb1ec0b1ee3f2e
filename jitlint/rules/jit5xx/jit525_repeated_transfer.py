"""JIT525: a large NumPy array is copied to the device at every call (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import RepeatedTransfer

RULE = Rule(
    code="JIT525",
    name="repeated-transfer",
    severity=Severity.WARNING,
    summary="large NumPy array that a loop hands to a compiled function again and again",
    explanation="""\
A compiled function works on the device. What it is given as a NumPy array lies in the memory of the host, so every call copies it, and
converts 64-bit numbers to 32 bits on the way. For a batch that is what has to be; a data set, a graph or a table that stays the same is
sent again in each turn of the loop, which may take longer than the work itself.

The rule speaks of arrays with a million elements or more, where the program says so, which nothing in the loop replaces.
""",
    instead="""\
Put it on the device once:

```python
data = jax.device_put(data)
for step in range(steps):
    state = update(state, data)
```
""",
    bad="""\
@jax.jit
def update(state, data):
    return state + data.mean()


data = np.zeros((1_000_000, 4), np.float32)
state = 0.0
for _ in range(3):
    state = update(state, data)  # expect: JIT525
""",
    good="""\
@jax.jit
def update(state, data):
    return state + data.mean()


data = jax.device_put(np.zeros((1_000_000, 4), np.float32))
state = 0.0
for _ in range(3):
    state = update(state, data)
""",
    outcome=Advisory("nothing is refused, and the results are the same: it only takes longer"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/faq.html#controlling-data-and-computation-placement-on-devices",
)


@RULE.on(RepeatedTransfer)
def check(event: RepeatedTransfer) -> Report:
    """Report the argument."""
    return Report(
        f"every call copies `{event.name}` to the device, {event.count:,} numbers in NumPy arrays that stay the same",
        f"put it there once, before the loop: `jax.device_put({event.name})`",
    )
