"""JIT515: a state starts with other types than it has later (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Retypes
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import DriftingState

RULE = Rule(
    code="JIT515",
    name="drifting-state",
    severity=Severity.WARNING,
    summary="state whose first value has another dtype, or a weak one, than those that follow",
    explanation="""\
A compiled program is made for the dtypes of its arguments, and whether these are weak is part of them. A Python number
in a state is weakly typed: `0.0` is a `float32` that gives way to others.

Arrays of another type are taken for what they are as well: what begins in 16 bits and comes back in 32 is compiled for twice,
and twice as large from then on.

When the next state holds what was computed from an array, its type is no longer weak, and the step that takes the state
is traced and compiled a second time. A program that was compiled ahead of time refuses it.
""",
    instead="""\
Start with an array of the dtype that the field will have:

```python
State(total=jnp.zeros((), jnp.float32), steps=jnp.zeros((), jnp.int32))
```
""",
    bad="""\
from typing import NamedTuple

class State(NamedTuple):
    total: jax.Array

def reset():
    return State(total=0.0)  # expect: JIT515

@jax.jit
def step(state: State, reward):
    return State(total=state.total + jnp.mean(reward))

state = reset()
for _ in range(2):
    state = step(state, jnp.ones(3))
""",
    good="""\
from typing import NamedTuple

class State(NamedTuple):
    total: jax.Array

def reset():
    return State(total=jnp.zeros(()))

@jax.jit
def step(state: State, reward):
    return State(total=state.total + jnp.mean(reward))

state = reset()
for _ in range(2):
    state = step(state, jnp.ones(3))
""",
    outcome=Retypes(),
    cases={"renewed": Retypes(called=True)},
    since="0.2",
    reference="https://docs.jax.dev/en/latest/type_promotion.html#weak-types",
)


@RULE.on(DriftingState)
def check(event: DriftingState) -> Report | None:
    """Report the place where the first state is made, or where a variable is renewed."""
    if not event.owner:
        return Report(
            f"{event.fields} begins as {event.before} and comes back as {event.after}, so the next call compiles again",
            f"give back the type that it had, `x.astype(old.dtype)`, or start with {event.after}",
            case="renewed",
        )
    return Report(
        f"this `{event.owner}` has {event.fields} as {event.before}, later ones as {event.after}, so what takes both is "
        "compiled twice",
        f"start with the type that it will have, {_instead(event)}",
    )


def _instead(event: DriftingState) -> str:
    """What to write for the first state."""
    if event.before.startswith("`"):
        return event.after if event.after.startswith("`") else "that of the later ones"
    number, array = ("0", "jnp.int32") if event.before.endswith("int") else ("0.0", "jnp.float32")
    return f"with `jnp.zeros((), {array})` instead of `{number}`"
