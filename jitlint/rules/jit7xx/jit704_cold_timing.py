"""JIT704: a benchmark counts the first call of a jitted function, which compiles (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ColdClock

RULE = Rule(
    code="JIT704",
    name="cold-timing",
    severity=Severity.WARNING,
    summary="benchmark that counts the compilation of what it measures",
    explanation="""\
The first call of a jitted function traces and compiles it, which takes a thousand times as long as a small computation. A benchmark
whose clock starts before that call measures the compiler: the mean of a hundred runs is still mostly the first one, and NumPy wins
every comparison.

The rule speaks of the same call in each turn of a timed loop, and of single calls that are timed beside something else with the same
data, where nothing has called the function before. Work that goes on from turn to turn, as training does, is not meant, nor is a
time that is said to be the first, or to include compilation.
""",
    instead="""\
Call it once before the clock starts, with arguments of the same shapes:

```python
jax.block_until_ready(f(x))

start = time.perf_counter()
for _ in range(100):
    jax.block_until_ready(f(x))
mean = (time.perf_counter() - start) / 100
```
""",
    bad="""\
import time

double = jax.jit(lambda x: x * 2)
x = jnp.ones(3)

start = time.perf_counter()
for _ in range(100):
    double(x).block_until_ready()
mean = (time.perf_counter() - start) / 100  # expect: JIT704
""",
    good="""\
import time

double = jax.jit(lambda x: x * 2)
x = jnp.ones(3)

double(x).block_until_ready()
start = time.perf_counter()
for _ in range(100):
    double(x).block_until_ready()
mean = (time.perf_counter() - start) / 100
""",
    outcome=Advisory("what a time is meant to include, JAX cannot know"),
    since="0.1",
    heading="because",
    reference="https://docs.jax.dev/en/latest/benchmarking.html",
)


@RULE.on(ColdClock)
def check(event: ColdClock) -> Report:
    """Report times that include compilation."""
    callee = event.callee.rpartition(".")[2]
    return Report(
        f"nothing has called `{callee}` before the clock starts, so this time includes its compilation",
        f"call `{callee}` once before, and wait for it: `jax.block_until_ready({callee}(...))`",
    )
