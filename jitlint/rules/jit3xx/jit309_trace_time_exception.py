"""JIT309: an exception handler in traced code that hides tracing errors or never runs (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory, BakesConstant, NeverHandles
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import Handler

RULE = Rule(
    code="JIT309",
    name="trace-time-exception",
    severity=Severity.WARNING,
    summary="exception handler in traced code does not see run-time values",
    explanation="""\
Exceptions in a traced function are raised while JAX traces. The compiled program raises none: a division by zero gives
`inf`, an index out of bounds is clamped. A handler for `ZeroDivisionError` or `IndexError` on traced values never runs.

An index out of bounds is clamped outside of traces, too: `x[7]` of four elements is the last one.

`jnp.linalg` and `jax.scipy.linalg` do not raise `LinAlgError` anywhere: where NumPy raises, `jnp.linalg.cholesky` gives NaN.

A broad handler has the opposite problem: JAX refuses `float(x)` or `if x > 0` on a traced value with a `TypeError`, the
handler catches it, and the compiled function always takes the fallback, whatever the values are.
""",
    instead="""\
Compute both answers and choose, or check values outside:

```python
return jnp.where(y == 0, 0.0, x / jnp.where(y == 0, 1.0, y))
```

`jax.experimental.checkify` turns run-time conditions into errors. Name the class (`jax.errors.ConcretizationTypeError`)
when a handler is meant for tracing.
""",
    bad="""\
@jax.jit
def scaled(x):
    try:
        scale = float(x)
    except Exception:  # expect: JIT309
        scale = 100.0
    return x * scale


tripled = scaled(3.0)
""",
    good="""\
@jax.jit
def scaled(x):
    return x * jnp.where(jnp.isfinite(x), x, 100.0)


tripled = scaled(3.0)
""",
    outcome=BakesConstant(),
    cases={
        "never": NeverHandles(),
        "quiet": Advisory(
            "the solvers of JAX give NaN where those of NumPy raise `LinAlgError`, inside and outside of traces"
        ),
        "clamped": Advisory(
            "nothing is refused: the index is moved to the edge, inside and outside of traces"
        ),
    },
    since="0.1",
    reference="https://docs.jax.dev/en/latest/debugging/checkify_guide.html",
)


@RULE.on(Handler)
def check(event: Handler) -> Report | None:
    """Report handlers by what is wrong with them."""
    name = f"`except {event.exception}`" if event.exception else "`except:`"
    if event.problem == "never":
        return Report(
            f"{name} never runs for traced values: compiled code raises nothing",
            "use `jnp.where` to choose, or check the values outside the traced function",
            case="never",
        )
    if event.problem == "quiet":
        return Report(
            f"`{event.callee}` gives NaN where NumPy raises: {name} below never runs",
            "look at the result: `if not jnp.isfinite(result).all()`, outside of traces",
            case="quiet",
        )
    if event.problem == "clamped":
        return Report(
            f"an index out of bounds gives an element at the edge of an array of JAX, so {name} below never runs",
            "compare the index with `x.shape` first, or look it up in a NumPy array",
            case="clamped",
        )
    return Report(
        f"{name} hides that JAX cannot trace this: the compiled function always takes the fallback",
        "remove what cannot be traced; name `jax.errors.ConcretizationTypeError` if the handler is meant for it",
    )
