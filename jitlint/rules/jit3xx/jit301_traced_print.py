"""JIT301: printing in traced code (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import RunsOnce
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import Effect

RULE = Rule(
    code="JIT301",
    name="traced-print",
    severity=Severity.WARNING,
    summary="printing in traced code happens while tracing only",
    explanation="""\
`print` is Python, and the Python code of a traced function runs while JAX traces it: once, not at every call of the
compiled function. What it shows of a traced value is a placeholder, not the number:

> JitTracer(float32[])

The same holds for the body of `jax.lax.scan` and its kin, also outside `jax.jit`. Functions under `jax.grad` or
`jax.vmap` alone run at every call, so printing works there.
""",
    instead="""\
Let the compiled program print, or print results after the call:

```python
jax.debug.print("loss = {loss}", loss=loss)
```
""",
    bad="""\
@jax.jit
def rms(x):
    power = jnp.mean(x**2)
    print("power", power)  # expect: JIT301
    return jnp.sqrt(power)


for scale in (1.0, 2.0, 3.0):
    rms(jnp.full(4, scale))
""",
    good="""\
@jax.jit
def rms(x):
    return jnp.sqrt(jnp.mean(x**2))


for scale in (1.0, 2.0, 3.0):
    print("rms", rms(jnp.full(4, scale)))
""",
    outcome=RunsOnce(),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Writes `jax.debug.print` with the format that the arguments ask for. Unsafe in notebooks, and where "
        "no traced value is seen to be shown: then it prints more often than it did.",
    ),
    reference="https://docs.jax.dev/en/latest/debugging.html",
)


@RULE.on(Effect)
def check(event: Effect) -> Report | None:
    """Report text for a person."""
    if event.effect == "template":
        return Report(
            "this text is made while JAX traces, so every call prints a placeholder and not the value",
            'leave the braces to JAX: `jax.debug.print("{x}", x=x)`, without the `f` before the text',
        )
    if event.effect != "print":
        return None
    if event.why:
        return Report(
            "this prints a placeholder while JAX traces, not the value at each call: {why} is traced",
            'use `jax.debug.print("{x}", x=x)`, or print what the function returns',
        )
    if event.meant:
        return Report(
            "this prints while JAX traces, as its message says, and not at each call",
            "remove it when you no longer count traces",
            Severity.INFO,
        )
    return Report(
        "this prints while JAX traces, not at each call",
        "use `jax.debug.print`, or print outside the traced function",
    )
