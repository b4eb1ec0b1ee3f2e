"""JIT502: a compiled function is made at every call of the function around it (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import JitsAgain, Retraces
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import JitCreation

RULE = Rule(
    code="JIT502",
    name="jit-per-call",
    severity=Severity.WARNING,
    summary="`jax.jit` inside a function that is called many times",
    explanation="""\
A function that jits a lambda, an inner function, a partial or a bound method and calls the result makes a new function
object at each of its own calls. JAX finds compiled programs by the function object, so every call traces and compiles
again, and the compiled program is thrown away after one use. So it is with `self.update = jax.jit(self._train)` in the
constructor of an object that a loop makes in each turn: each object has a program of its own.

The rule speaks only when the function around is called in a loop or from several places, and keeps nothing of what it
compiles. Compiled functions made in `__init__`, at module level, kept in an attribute or a dict, made under
`functools.lru_cache` or returned by a factory that is called once are fine.

Outside of `jax.jit`, `jax.lax.scan` and its kin are compiled on their own for the functions they are given. The rule
speaks of those only where the function around is called in a loop of a program that is not traced itself.

Benchmarks are left alone (`benchmarks/`, `*_benchmark.py`): what compiles again there is what is measured.
""",
    instead="""\
Jit at module level, or in `__init__`, and pass what the inner function takes from around it as arguments:

```python
@jax.jit
def blend(a, b, t):
    return (1 - t) * a + t * b
```
""",
    bad="""\
def blend(a, b, t):
    return jax.jit(lambda u, v: (1 - t) * u + t * v)(a, b)  # expect: JIT502


for i in range(5):
    blend(0.0, 1.0, 0.5)
""",
    good="""\
@jax.jit
def blend(a, b, t):
    return (1 - t) * a + t * b


for i in range(5):
    blend(0.0, 1.0, 0.5)
""",
    outcome=Retraces(),
    cases={"slow": JitsAgain()},
    since="0.2",
    remedy=Remedy(
        Safety.SAFE,
        "Makes the compiled function once, in the module; unsafe for methods, made once for each object.",
    ),
    reference="https://docs.jax.dev/en/latest/jit-compilation.html#jit-and-caching",
)


@RULE.on(JitCreation)
def check(event: JitCreation) -> Report | None:
    """Report compiled functions made per call, with other words when they are compiled once."""
    if event.repeated == "object":
        return Report(
            f"each object has a program of its own, as `{event.short}` is applied where it is made, and a loop makes one in each turn: JAX"
            " traces and compiles each",
            "make the compiled function once, at module level, and pass it what the object has; or make the object once, before the loop",
        )
    if event.repeated != "call":
        return None
    if not event.retraces:
        return Report(
            f"`{event.short}` is applied again at every call of the function around: it dispatches slowly, though it does not"
            " retrace",
            f"call `{event.short}` once, at module level or in `__init__`",
            case="slow",
        )
    if event.api:
        return Report(
            f"`{event.api}` gets {event.made_of} at every call of the function around, so outside of `jax.jit` it is"
            " compiled every time",
            "jit the function around, or define the function that it gets at module level",
        )
    return Report(
        f"`{event.short}` gets {event.made_of} at every call of the function around, so JAX traces and compiles it every"
        " time",
        "make the compiled function once, at module level or in `__init__`, and pass what varies as an argument",
    )
