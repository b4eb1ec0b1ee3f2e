"""JIT220: a gradient belongs to something else than what is changed by it (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import OUTPUT, CrossedGradient

RULE = Rule(
    code="JIT220",
    name="crossed-gradient",
    severity=Severity.WARNING,
    summary="gradient of something else than what is changed by it",
    explanation="""\
`jax.grad` differentiates by the first argument, unless `argnums` says another one. With `loss_fn(x, w)`, the result of
`jax.grad(loss_fn)(x, w)` is the slope by the data. Where shapes fit, or broadcast, nothing refuses to subtract that from `w`: the weights
are moved by numbers that have nothing to do with them.

A loss that is written inside of a training step sees the parameters of that step as well as its own. What it hands to the model counts:

```python
def train_step(params, x, y):
    def loss_fn(p):
        err = predict(params, x) - y          # the parameters of `train_step`: no gradient comes from here
        return jnp.mean(err**2) + 1e-4 * sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(p))

    return jax.grad(loss_fn)(params)          # the gradient of the penalty alone
```

A loss of predictions alone, `jax.grad(mse)(preds, y)`, has the shape of these, and knows nothing of the model that gave them.

The rule looks at `w - rate * g` and the like, leaf by leaf or by an optimiser of `optax`, where `w` is another argument of the call that
gave `g`. It is silent where the gradient changes its own argument too, where it is multiplied with anything but a rate, where
nothing says that something is trained (the slope of an energy by a position does change the momentum), about losses that compute
with both parameters, and in tests.
""",
    instead="""\
Differentiate by what is to be changed, and let the loss compute with what it is given:

```python
grads = jax.grad(loss_fn, argnums=1)(x, w)
w = w - rate * grads

def loss_fn(p):
    return jnp.mean((predict(p, x) - y) ** 2)
```
""",
    bad="""\
def loss_fn(x, w):
    return jnp.mean((jnp.dot(x, w) - 1.0) ** 2)


@jax.jit
def train_step(w, x):
    grads = jax.grad(loss_fn)(x, w)  # expect: JIT220
    return w - 0.1 * grads


train_step(jnp.ones(3), jnp.ones(3))
""",
    good="""\
def loss_fn(x, w):
    return jnp.mean((jnp.dot(x, w) - 1.0) ** 2)


@jax.jit
def train_step(w, x):
    grads = jax.grad(loss_fn, argnums=1)(x, w)
    return w - 0.1 * grads


train_step(jnp.ones(3), jnp.ones(3))
""",
    outcome=Advisory("nothing is refused, and what was to be changed cannot be observed"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.grad.html",
)


@RULE.on(CrossedGradient)
def check(event: CrossedGradient) -> Report:
    """Report the derivative, or what the loss computes with."""
    if event.around:
        return Report(
            f"the loss is differentiated by `{event.by}`, but computes with `{event.changed}` of the code around it, so that no gradient"
            f" comes from here: all that is left of it is a penalty on `{event.by}`",
            f"compute with what is differentiated: hand `{event.by}` on in the place of `{event.changed}`",
        )
    if event.number == OUTPUT:
        return Report(
            f"this derivative is taken by `{event.by}`, which was computed before, but changes `{event.changed}`: nothing of how one comes"
            " from the other is in it",
            f"compute `{event.by}` inside of the function that is differentiated, and differentiate that by `{event.changed}`",
        )
    wanted = (
        f"`argnums={event.number}`"
        if event.number >= 0
        else f"pass `{event.changed}` by position, with `argnums`"
    )
    return Report(
        f"this derivative is taken by `{event.by}`, but its gradient changes `{event.changed}`, which is another argument of `{event.loss}`",
        f"differentiate by what is to be changed: {wanted}",
    )
