"""JIT701: a clock is read before the work it should measure is done (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Unsynced
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import UnsyncedClock

RULE = Rule(
    code="JIT701",
    name="unsynced-timing",
    severity=Severity.WARNING,
    summary="clock read while JAX may still be computing",
    explanation="""\
JAX calls return before the result is there: they only hand the work to the device. A clock that is read right after
such a call measures how long the handing over took (the first time: tracing and compiling), not the work.

The difference of two readings is trustworthy if something between the last call and the second reading waits for
the result: `block_until_ready`, `jax.device_get`, or a conversion to Python or NumPy (`float`, `np.asarray`, `print`).
So is a profile (`jax.profiler.trace`, `stop_trace`): it holds the work that was done when it ended.
A stopwatch of the project (methods that read the clock, a context manager around a block) is reported where it is used.
""",
    instead="""\
```python
start = time.perf_counter()
y = jax.block_until_ready(f(x))
elapsed = time.perf_counter() - start
```
""",
    bad="""\
import time

double = jax.jit(lambda x: x * 2)


def measure(x):
    start = time.perf_counter()
    double(x)
    return time.perf_counter() - start  # expect: JIT701


measure(jnp.ones(3))
""",
    good="""\
import time

double = jax.jit(lambda x: x * 2)


def measure(x):
    start = time.perf_counter()
    double(x).block_until_ready()
    return time.perf_counter() - start


measure(jnp.ones(3))
""",
    outcome=Unsynced(),
    since="0.1",
    heading="because",
    remedy=Remedy(
        Safety.UNSAFE,
        "Waits for the result with `jax.block_until_ready`, which takes its time on every run.",
    ),
    reference="https://docs.jax.dev/en/latest/async_dispatch.html",
)


@RULE.on(UnsyncedClock)
def check(event: UnsyncedClock) -> Report | None:
    """Report readings that come too early."""
    named = event.callee if event.callee.startswith("jax.") else event.callee.rpartition(".")[2]
    callee = "a JAX call" if not named or named == "<lambda>" else f"`{named}`"
    if event.profile:
        return Report(
            f"nothing waits for the result of {callee}, so the profile may end before the work does",
            "call `jax.block_until_ready(result)` before the profile ends",
        )
    return Report(
        f"nothing waits for the result of {callee}, so this measures only how long it took to start the work",
        "call `jax.block_until_ready(result)` before the clock is read again",
    )
