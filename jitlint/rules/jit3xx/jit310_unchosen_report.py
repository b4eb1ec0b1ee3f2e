"""JIT310: what a branch reports is reported for all elements (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import Effect

RULE = Rule(
    code="JIT310",
    name="unchosen-report",
    severity=Severity.WARNING,
    summary="callback in a branch that `jax.vmap` runs for all elements",
    explanation="""\
Under `jax.vmap`, a `jax.lax.cond` or `jax.lax.switch` whose condition differs between the elements becomes a selection: all branches run
for all elements, and of their results one is picked for each. A `jax.debug.callback` or `jax.debug.print` in a branch is not picked: it
runs for every element, whichever branch that takes, so that a counter counts too much and a log tells what did not happen.

The rule is silent where the condition is the same for all elements, and in tests.
""",
    instead="""\
Report outside of the branch, and hand over whether it counts:

```python
jax.debug.callback(lambda done, t: record(t) if done else None, done, t)
```

Or return what should be reported, and look at it when the batch is there.
""",
    bad="""\
def note(t):
    print("finished after", t)


def finish(t):
    jax.debug.callback(note, t)  # expect: JIT310
    return 0


@jax.vmap
def step(t):
    return jax.lax.cond(t > 2, finish, lambda t: t + 1, t)


stepped = step(jnp.arange(4))
""",
    good="""\
def note(done, t):
    if done:
        print("finished after", t)


@jax.vmap
def step(t):
    jax.debug.callback(note, t > 2, t)
    return jax.lax.cond(t > 2, lambda t: 0, lambda t: t + 1, t)


stepped = step(jnp.arange(4))
""",
    outcome=Advisory("nothing is refused: the callback runs as often as there are elements"),
    since="0.2",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html",
)


@RULE.on(Effect)
def check(event: Effect) -> Report | None:
    """Report what stands in such a branch."""
    if event.effect != "chosen":
        return None
    return Report(
        f"`{event.what}` runs for every element that `jax.vmap` maps, whichever branch the element takes",
        "report outside of the branch, and hand over the condition: the callback can test it",
    )
