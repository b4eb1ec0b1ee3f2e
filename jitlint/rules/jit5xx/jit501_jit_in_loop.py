"""JIT501: a compiled function is made at every turn of a loop (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import JitsAgain, Retraces
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import JitCreation

RULE = Rule(
    code="JIT501",
    name="jit-in-loop",
    severity=Severity.WARNING,
    summary="`jax.jit` inside a loop",
    explanation="""\
JAX finds a compiled program by the function object it belongs to. A lambda, an inner function, a partial, a bound
method or `jax.jit(jax.grad(f))` is a new object at each turn of a loop, so JAX traces and compiles the same code at
every turn: thousands of times slower than the call itself.

Given the same function object each time, `jax.jit(f)(x)` finds the program again and compiles nothing. It still takes
the slow way through Python's caches, about ten times the cost of calling a jitted function that was made once.

Outside of `jax.jit`, `jax.lax.scan`, `map`, `cond`, `switch`, `while_loop` and `fori_loop` are compiled on their own, and
found again by the functions they are given: a lambda or an inner function makes them compile at every turn, too.

Benchmarks are left alone (`benchmarks/`, `*_benchmark.py`): what compiles again there is what is measured.
""",
    instead="""\
Make the compiled function once, before the loop, and pass what varies as an argument:

```python
step = jax.jit(lambda x, rate: x * rate)
for rate in rates:
    x = step(x, rate)
```
""",
    bad="""\
x = 1.0
for i in range(5):
    x = jax.jit(lambda v: v * 2)(x)  # expect: JIT501
""",
    good="""\
double = jax.jit(lambda v: v * 2)
x = 1.0
for i in range(5):
    x = double(x)
""",
    outcome=Retraces(),
    cases={"slow": JitsAgain()},
    since="0.2",
    remedy=Remedy(
        Safety.SAFE,
        "Makes the compiled function once, before the loop, if nothing that it needs changes there.",
    ),
    reference="https://docs.jax.dev/en/latest/jit-compilation.html#jit-and-caching",
)


@RULE.on(JitCreation)
def check(event: JitCreation) -> Report | None:
    """Report compiled functions made in a loop, with other words when they are compiled once."""
    if event.repeated != "loop":
        return None
    if not event.retraces:
        return Report(
            f"`{event.short}` is applied again at every turn of this loop: it dispatches slowly, though it does not retrace",
            f"call `{event.short}` once, before the loop",
            case="slow",
        )
    if event.api:
        return Report(
            f"`{event.api}` gets {event.made_of} at every turn of this loop, so outside of `jax.jit` it is compiled every"
            " time",
            "jit the function around it, or define the function that it gets once, before the loop",
        )
    return Report(
        f"`{event.short}` gets {event.made_of} at every turn of this loop, so JAX traces and compiles it every time",
        "make the compiled function once, before the loop, and pass what varies as an argument",
    )
