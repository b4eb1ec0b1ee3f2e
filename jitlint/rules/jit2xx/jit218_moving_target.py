"""JIT218: gradients flow into a target that is made with the model's own values (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import MovingTarget

RULE = Rule(
    code="JIT218",
    name="moving-target",
    severity=Severity.WARNING,
    summary="gradient that flows into the target of temporal differences",
    explanation="""\
Temporal-difference learning moves a prediction towards `reward + gamma * value(next)`. Where that value comes from the parameters
that the loss is differentiated by, `jax.grad` changes both sides: the target is moved towards the prediction as well. Nothing fails,
and the loss goes down, but what is learnt is another thing (the *residual gradient*), mostly more slowly and worse.

```python
def loss(params, batch, gamma):
    target = batch.reward + gamma * jnp.max(q_net(params, batch.after), axis=-1)
    return jnp.mean((target - q_net(params, batch.state)[:, 0]) ** 2)   # both sides move
```

The rule reads names: something called a reward (`r` alone only beside `1 - done` or a `max`) and something multiplied with what is called `gamma` or a
discount, or with a number from 0.9 to 1 that is written out, or something called an advantage that a logarithm of probabilities, or a ratio of them, is multiplied with: in a policy
gradient it is a weight, and the critic has a loss of its own. It is silent where the value comes from parameters that the loss is not differentiated by, as those of a target network, and in tests.
""",
    instead="""\
Say that the target stands still:

```python
target = jax.lax.stop_gradient(batch.reward + gamma * jnp.max(q_net(params, batch.after), axis=-1))
```
""",
    bad="""\
def loss(w, state, after, reward, gamma):
    target = reward + gamma * (after @ w)
    return jnp.mean((target - state @ w) ** 2)  # expect: JIT218


jax.grad(loss)(jnp.ones(3), jnp.ones((2, 3)), jnp.ones((2, 3)), jnp.ones(2), 0.9)
""",
    good="""\
def loss(w, state, after, reward, gamma):
    target = jax.lax.stop_gradient(reward + gamma * (after @ w))
    return jnp.mean((target - state @ w) ** 2)


jax.grad(loss)(jnp.ones(3), jnp.ones((2, 3)), jnp.ones((2, 3)), jnp.ones(2), 0.9)
""",
    outcome=Advisory("nothing is refused, and whether the target is meant to move cannot be observed"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/advanced-autodiff.html#stopping-gradients",
)


@RULE.on(MovingTarget)
def check(event: MovingTarget) -> Report:
    """Report the difference, or the product."""
    if event.weight:
        return Report(
            f"`{event.weight}` holds what the same parameters give, so the gradient goes through it as well as through `{event.target}`:"
            " values are made wrong where that makes the loss of the policy small",
            f"hold it still: `jax.lax.stop_gradient({event.weight})`",
        )
    target = f"`{event.target}`" if event.target else "the target"
    return Report(
        f"{target} holds `{event.discount}` times what the same parameters give, so the gradient of `{event.loss}` moves the target"
        " as well as the prediction",
        f"hold it still: `jax.lax.stop_gradient({event.target or 'target'})`",
    )
