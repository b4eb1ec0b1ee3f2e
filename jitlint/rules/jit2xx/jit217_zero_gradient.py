"""JIT217: rounding or comparing stands on every way from a parameter to the loss (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import StopsSlope
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ZeroGradient

RULE = Rule(
    code="JIT217",
    name="zero-gradient",
    severity=Severity.WARNING,
    summary="parameter whose gradient is zero, as it is only rounded or compared",
    explanation="""\
`jnp.round`, `jnp.floor`, `jnp.sign`, `jnp.argmax`, comparing and turning into integers have slope zero wherever they have one. A
parameter that reaches the loss through nothing else gets a gradient of exactly zero, at every step: it keeps its first value,
while the parameters beside it are trained and the loss goes down.

```python
def loss(params, x, y):
    weights = jnp.round(params["w"] / scale) * scale   # params["w"] never moves
    return jnp.mean((x @ weights + params["b"] - y) ** 2)
```

The rule is silent where another way leads on from the parameter, where the function has a derivative rule of its own
(`jax.custom_vjp`), where `jax.lax.stop_gradient` says that no gradient is wanted, and in tests.
""",
    instead="""\
Let the gradient pass as if nothing were rounded (the *straight-through estimator*), or use something smooth:
`jax.nn.sigmoid` for a threshold, `jax.nn.softmax` for a choice.

```python
rounded = jnp.round(params["w"] / scale) * scale
weights = params["w"] + jax.lax.stop_gradient(rounded - params["w"])
```
""",
    bad="""\
def loss(params, x):
    weights = jnp.round(params["w"] * 8.0) / 8.0  # expect: JIT217
    return jnp.mean((x @ weights + params["b"]) ** 2)


jax.grad(loss)({"w": jnp.ones(3), "b": jnp.ones(())}, jnp.ones((2, 3)))
""",
    good="""\
def loss(params, x):
    rounded = jnp.round(params["w"] * 8.0) / 8.0
    weights = params["w"] + jax.lax.stop_gradient(rounded - params["w"])
    return jnp.mean((x @ weights + params["b"]) ** 2)


jax.grad(loss)({"w": jnp.ones(3), "b": jnp.ones(())}, jnp.ones((2, 3)))
""",
    outcome=StopsSlope(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/notebooks/autodiff_cookbook.html",
)

_THRESHOLD = "take something smooth for the threshold: `jax.nn.sigmoid((x - threshold) / width)`"
_SMOOTH = {
    "argmax": "weigh by `jax.nn.softmax` instead of picking the largest",
    "argmin": "weigh by `jax.nn.softmax` instead of picking the smallest",
    "astype": _THRESHOLD,
    "heaviside": _THRESHOLD,
    "select": _THRESHOLD,
    "where": _THRESHOLD,
}
_PASSED = "let the gradient pass, `x + jax.lax.stop_gradient(rounded - x)`, or say that none is wanted: `jax.lax.stop_gradient(x)`"


@RULE.on(ZeroGradient)
def check(event: ZeroGradient) -> Report:
    """Report what has slope zero."""
    return Report(
        f"the gradient by `{event.parameter}` is always zero: only `{event.operation}`, which has slope 0, leads from it"
        f" to the result of `{event.loss}`",
        _SMOOTH.get(event.operation, _PASSED),
    )
