"""JIT206: a Python loop with many turns is unrolled into the program (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Unrolls
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import UnrolledLoop

RULE = Rule(
    code="JIT206",
    name="unrolled-loop",
    severity=Severity.WARNING,
    summary="Python loop with many turns in traced code",
    explanation="""\
JAX runs a Python loop while it traces, so the program gets a copy of the loop's body for each turn: a thousand turns are
a thousand copies. Tracing takes as long as the loop, and compiling takes much longer, since XLA sees no loop at all.

The rule speaks when the number of turns is large, or is a dimension of an array and each turn needs the value of the
turn before. A loop over a few layers is fine: unrolling is what one wants there. So are the large programs of
benchmarks (`benchmarks/`, `*_benchmark.py`).
""",
    instead="""\
Let JAX know the loop, with `jax.lax.fori_loop` or `jax.lax.scan`:

```python
return jax.lax.fori_loop(0, 1000, lambda i, x: jnp.sin(x) + 0.1, x)
```

Turns that do not need each other are an axis: use `jax.vmap` or array operations.
""",
    bad="""\
@jax.jit
def walk(x):
    for _ in range(200):  # expect: JIT206
        x = jnp.sin(x) + 0.1
    return x


result = jax.make_jaxpr(walk)(1.0)
""",
    good="""\
@jax.jit
def walk(x):
    return jax.lax.fori_loop(0, 200, lambda i, x: jnp.sin(x) + 0.1, x)


result = jax.make_jaxpr(walk)(1.0)
""",
    outcome=Unrolls(),
    since="0.2",
    remedy=Remedy(
        Safety.UNSAFE,
        "Makes the body a function of `fori_loop`; of `scan` or `map` for rows, and lists that are stacked.",
    ),
    reference="https://docs.jax.dev/en/latest/control-flow.html",
)


@RULE.on(UnrolledLoop)
def check(event: UnrolledLoop) -> Report | None:
    """Report loops that are unrolled; ``count`` says how often they turn."""
    if event.problem != "unrolled":
        return None
    if event.count == "array":
        return Report(
            "this loop over a traced array is unrolled: the program gets a copy of its body for each row",
            "use `jax.lax.scan` over the rows",
        )
    if event.count == "shape":
        return Report(
            "this loop is unrolled: the program gets a copy of its body for each index of an array's axis",
            "use `jax.lax.scan` or `jax.lax.fori_loop`",
        )
    usual = ", where nobody asks for another number" if event.by_default else ""
    return Report(
        f"this loop is unrolled: the program gets {event.count} copies of its body{usual}",
        "use `jax.lax.fori_loop` or `jax.lax.scan`; turns that do not need each other are an axis for `jax.vmap`",
    )
