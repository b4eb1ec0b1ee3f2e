"""JIT303: traced code changes something that is older than the trace (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import RunsOnce
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import Mutation

RULE = Rule(
    code="JIT303",
    name="outer-mutation",
    severity=Severity.WARNING,
    summary="change of an outer object happens while tracing only",
    explanation="""\
A traced function may change what it made itself. A change of anything older (a global, an attribute of `self`, a list
from outside, a default argument) happens once, while JAX traces, and not again when the compiled function is called: a
counter stays at one, a log keeps one entry.

A list or dict that is passed in as an argument is taken apart at the boundary and rebuilt inside: changing it changes
the copy, and the caller never sees it. So are the modules, optimisers and metrics of `flax.nnx` under `jax.jit`: only `nnx.jit`
hands their changes back. A module changes when it is called, too: `nnx.BatchNorm` keeps its averages, `nnx.Dropout` counts what it draws, and
under `jax.jit` the averages stay as they began and each call drops the same numbers.
""",
    instead="""\
Return what should be kept and let the caller store it:

```python
loss, calls = step(params, batch, calls)
```
""",
    bad="""\
class Meter:
    calls = 0


@jax.jit
def energy(p):
    Meter.calls += 1  # expect: JIT303
    return jnp.vdot(p, p)


for _ in range(3):
    energy(jnp.ones(3))
""",
    good="""\
class Meter:
    calls = 0


@jax.jit
def energy(p):
    return jnp.vdot(p, p)


for _ in range(3):
    energy(jnp.ones(3))
    Meter.calls += 1
""",
    outcome=RunsOnce(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#pure-functions",
)

_HELP = "return the new value and keep it outside the traced function"


@RULE.on(Mutation)
def check(event: Mutation) -> Report | None:
    """Report a change; name what is changed."""
    if event.lost and event.what:
        return Report(
            f"`{event.what}` changes a copy of the argument `{event.name}`: the caller's object stays as it was",
            "compile the function with `nnx.jit`, which hands changes back, or return the changed object",
        )
    if event.lost:
        return Report(
            "this changes a copy of the argument: the caller's object stays as it was",
            "return the changed object, or make a new one",
        )
    named = f" `{event.name}`" if event.name else ""
    if event.target in ("global", "nonlocal"):
        return Report(f"{event.target} variable{named} is set while JAX traces, not at each call", _HELP)
    if event.target == "attribute":
        return Report(f"attribute{named} is set while JAX traces, not at each call", _HELP)
    return Report("an object from outside the trace is changed while JAX traces, not at each call", _HELP)
