"""JIT520: an optimiser that does something else than what it looks like (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import OddOptimiser

RULE = Rule(
    code="JIT520",
    name="odd-optimiser",
    severity=Severity.WARNING,
    summary="optimiser put together or applied so that it does something else",
    explanation="""\
An optimiser of `optax` is a chain of steps from gradients to updates, and the updates are added to the parameters. Nothing is refused
here; the model learns worse than it could, or not at all:

- gradients that are clipped after `optax.adam` were already taken into its averages, and what is clipped is a step that is small anyway;
- `optax.adam(schedule(0))` has the first learning rate for ever: the schedule itself is what the optimiser takes;
- `optax.masked(optax.adam(1e-3), mask)` hands on the gradients of what the mask leaves out as they are, and `apply_updates` adds them;
- updates carry the minus already: who subtracts them climbs;
- `optax.add_decayed_weights` behind the learning rate adds a part of the weights to updates that carry the minus: they grow;
- `optax.incremental_update` takes the new values first, and second the average that follows them: swapped, the average is all but
  replaced;
- a schedule over `num_epochs` has gone through after as many batches, as each is a step;
- `decay_steps` of `optax.warmup_cosine_decay_schedule` counts the warm-up as well: less it, the rate is at its end too early;
- a state that is made inside of the step that was given one starts each step from zero;
- the gradient that JAX gives by complex numbers is the conjugate of the way up, so that `z - rate * grads` does not go down;
- `jax.value_and_grad` gives the value first, and the gradients second;
- a step from `fast` down a gradient that was taken by `params` is the same in each turn of a loop.
""",
    instead="""\
```python
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))
tx = optax.multi_transform({"train": optax.adam(1e-3), "freeze": optax.set_to_zero()}, labels)

loss, grads = jax.value_and_grad(loss_fn)(params)
updates, state = tx.update(grads, state, params)
params = optax.apply_updates(params, updates)
```
""",
    bad="""\
import optax

tx = optax.chain(optax.adam(1e-3), optax.clip_by_global_norm(1.0))  # expect: JIT520
""",
    good="""\
import optax

tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
""",
    outcome=Advisory("nothing is refused, and what was meant cannot be observed"),
    since="0.1",
    reference="https://optax.readthedocs.io/en/latest/getting_started.html",
)

_SAID = {
    "counted-twice": (
        "`decay_steps` of `{name}` counts the warm-up as well, so that the rate is at its end that much too early",
        "give the length of the whole schedule: `decay_steps=total`",
    ),
    "clipped-late": (
        "`{name}` stands behind an optimiser that has taken the gradients into its averages already",
        "clip first: `optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate))`",
    ),
    "once": (
        "the learning rate is what `{name}` gives for one step, and stays that",
        "give the optimiser the schedule itself: `optax.adam({name})`",
    ),
    "masked": (
        "`{name}` hands on the gradients that the mask leaves out as they are, and they are added to the parameters",
        'set them to zero: `optax.multi_transform({{"train": optimiser, "freeze": optax.set_to_zero()}}, labels)`',
    ),
    "subtracted": (
        "the updates `{name}` carry their sign already, but are subtracted",
        "add them: `params = optax.apply_updates(params, {name})`",
    ),
    "grows": (
        "`{name}` stands behind the learning rate, and adds {detail} of the weights to updates that have their sign already: they grow",
        "put it before the learning rate: `optax.chain(optax.scale_by_adam(), {name}({detail}), optax.scale(-1e-3))`",
    ),
    "replaced": (
        "`{name}` keeps {detail} of itself only: what `optax.incremental_update` gets first is the new, and second what follows it",
        "swap the first two arguments: `optax.incremental_update(new, {name}, {detail})`",
    ),
    "restarted": (
        "the state `{name}` is made anew in each step here, so that each begins from zero",
        "make it once, before the first step, and hand the new one of each step to the next",
    ),
    "each-epoch": (
        "each epoch makes the state of the optimiser anew, while `{name}` goes on: its moments are zero again, and its schedule begins"
        " with the first step",
        "make it once, before the first epoch, and hand the new one of each epoch to the next",
    ),
    "laid-out": (
        "the schedule takes `{name}` for a number of steps, but each batch is one: it has gone through after as many batches",
        "give it the number of all steps: `{name} * steps_per_epoch`",
    ),
    "elsewhere": (
        "`{name}` goes down a gradient that is taken by something else, and is the same however often this runs",
        "take it where the step begins: `jax.grad(loss)({name}, ...)`",
    ),
    "conjugate": (
        "`{name}` is complex, and goes along its gradient as it is: that of JAX is the conjugate of the way that goes up",
        "take the conjugate first: `jnp.conj(grads)`, or `jax.tree.map(jnp.conj, grads)`",
    ),
    "misnamed": (
        "the derivative gives {name}, but the names here say it the other way round",
        "swap the names",
    ),
    "swapped": (
        "`{name}` is the value of the function, the first of what `value_and_grad` gives, but the parameters move along it",
        "the gradients come second: `value, grads = jax.value_and_grad(f)(x)`",
    ),
}


@RULE.on(OddOptimiser)
def check(event: OddOptimiser) -> Report:
    """Report what an optimiser does instead."""
    message, help_ = _SAID[event.problem]
    said = {"name": event.name, "detail": event.detail}
    return Report(message.format_map(said), help_.format_map(said))
