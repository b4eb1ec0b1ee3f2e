"""JIT217: rounding or comparing stands on every way from a parameter to the loss (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory, StopsSlope
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

A straight-through estimator is reported where its parts are confused: `stop_gradient(x) + (q - stop_gradient(x))` is nothing but
`q`, and `x + (stop_gradient(q) - x)` has no slope at all.

An error that is cut at a number and its opposite before it is squared, `jnp.clip(error, -1, 1) ** 2`, has no slope where it is large: what
is furthest away is never corrected.

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
    cases={
        "cut": Advisory("nothing is refused, and which errors there will be, nobody knows"),
        "straight": Advisory("nothing is refused, and which slope was meant cannot be observed"),
    },
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

_STRAIGHT = {
    "rest": "{0} cancels in this sum and has no slope in it: `jax.lax.stop_gradient` changes nothing",
    "none": "this sum has no slope: {0} cancels, and `jax.lax.stop_gradient` holds the rest",
    "turned": "{0} cancels in this sum, and its slope is turned round",
}


@RULE.on(ZeroGradient)
def check(event: ZeroGradient) -> Report:
    """Report what has slope zero."""
    if event.cut:
        subject = f"`{event.parameter}`" if event.parameter else "the error"
        return Report(
            f"{subject} is cut before it is squared: where it is beyond the bounds, its gradient is zero, and nothing corrects it",
            "take `optax.huber_loss`, whose slope stays at the bound, or clip the gradients: `optax.clip_by_global_norm`",
            case="cut",
        )
    if event.straight:
        return Report(
            _STRAIGHT[event.straight].format(f"`{event.parameter}`" if event.parameter else "one term"),
            "the straight-through estimator has the value of `q` and the slope of `x`: `x + jax.lax.stop_gradient(q - x)`",
            case="straight",
        )
    return Report(
        f"the gradient by `{event.parameter}` is always zero: only `{event.operation}`, which has slope 0, leads from it"
        f" to the result of `{event.loss}`",
        _SMOOTH.get(event.operation, _PASSED),
    )
