"""JIT209: reverse-mode differentiation of a loop without a static length (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import TransformMisuse

RULE = Rule(
    code="JIT209",
    name="reverse-mode-dynamic-loop",
    severity=Severity.ERROR,
    summary="reverse-mode derivative of a loop with a traced length",
    explanation="""\
The derivative in reverse mode runs a loop backwards and needs the values of every turn. For a loop whose length is
not known when the program is compiled there is no array of the right size to keep them in:

> ValueError: Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic start/stop values.

`jax.grad`, `jax.vjp`, `jax.value_and_grad` and `jax.jacrev` work in reverse mode; `jax.jvp` and `jax.jacfwd` can
differentiate such loops.
""",
    instead="""\
Give the loop a static length, with `jax.lax.scan` or with static bounds of `fori_loop`, and mask the turns that
should not count:

```python
def body(y, i):
    return jnp.where(i < n, y * x, y), None

y, _ = jax.lax.scan(body, 1.0, jnp.arange(MAX_STEPS))
```
""",
    bad="""\
def grow(x):
    return jax.lax.while_loop(lambda y: y < 10.0, lambda y: y * x, x)


def slope(x):
    return jax.grad(grow)(x)  # expect: JIT209


slope(2.0)
""",
    good="""\
def grow(x):
    return jax.lax.fori_loop(0, 4, lambda _, y: jnp.where(y < 10.0, y * x, y), x)


def slope(x):
    return jax.grad(grow)(x)


slope(2.0)
""",
    outcome=Raises(("ValueError",), spread=True, says=r"[Rr]everse-mode differentiation"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html",
)


@RULE.on(TransformMisuse)
def check(event: TransformMisuse) -> Report | None:
    """Report reverse-mode transforms over loops of unknown length; ``detail`` names the loop."""
    if event.problem != "reverse-mode-loop":
        return None
    named = event.detail and " " not in event.detail
    loop = f"`{event.detail}`" if named else event.detail or "a loop"
    return Report(
        f"`{event.transform}` works in reverse mode, but the number of turns of {loop} is not static",
        "use `jax.lax.scan` or static bounds of `fori_loop`, or forward mode (`jax.jacfwd`)",
    )
