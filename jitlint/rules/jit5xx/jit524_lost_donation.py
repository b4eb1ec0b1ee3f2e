"""JIT524: a donation inside of compiled code has no effect (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import LostDonation

RULE = Rule(
    code="JIT524",
    name="lost-donation",
    severity=Severity.WARNING,
    summary="donation by a function that only runs inside of another, which donates nothing",
    explanation="""\
`donate_argnums` says that the buffers of an argument may be taken over when the host calls the function. Where compiled code calls
it, it becomes a part of that program, and the donation is dropped without a word: only the outermost `jax.jit` has buffers to give
away. A state that goes into an epoch and comes out of it is then there twice.

The rule speaks where the function is called nowhere else, and where the one around has an argument of the same name.
""",
    instead="""\
Donate where the host calls:

```python
@partial(jax.jit, donate_argnums=0)
def run(state, batches):
    return jax.lax.scan(step, state, batches)
```
""",
    bad="""\
from functools import partial


@partial(jax.jit, donate_argnums=0)
def step(state, batch):
    return state + batch, None


@jax.jit  # expect: JIT524
def run(state, batches):
    return jax.lax.scan(step, state, batches)


state, _ = run(jnp.zeros(3), jnp.ones((4, 3)))
""",
    good="""\
from functools import partial


@partial(jax.jit, donate_argnums=0)
def run(state, batches):
    return jax.lax.scan(lambda state, batch: (state + batch, None), state, batches)


state, _ = run(jnp.zeros(3), jnp.ones((4, 3)))
""",
    outcome=Advisory("nothing is refused, and the results are the same: there is only less memory left"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/buffer_donation.html",
)


@RULE.on(LostDonation)
def check(event: LostDonation) -> Report:
    """Report the function that the host calls."""
    return Report(
        f"`{event.callee}` is told to take over the buffers of `{event.name}`, but only runs inside of `{event.outer}`, where that has no"
        " effect",
        f'donate `{event.name}` here, where the host calls: `donate_argnames="{event.name}"`',
    )
