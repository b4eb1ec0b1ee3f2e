"""JIT304: a traced value is stored where it outlives its trace (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import HANDED, OLDER, OUTER, REFUSED, Leak

RULE = Rule(
    code="JIT304",
    name="tracer-leak",
    severity=Severity.ERROR,
    summary="traced value stored outside the traced function",
    explanation="""\
While a function is being traced its values are tracers, which mean something only during that trace. Stored in a
global, an attribute, a list from outside or a cache, a tracer survives, and its first use afterwards fails:

> UnexpectedTracerError: Encountered an unexpected tracer. A function transformed by JAX had a side effect [...]

The store also happens only while tracing: later calls of the compiled function store nothing. A function under
`lru_cache` and a `cached_property` that make `jnp` arrays leak in the same way when their first call happens inside a
trace. So does an object that the traced function returns when a static field of it (a function that closes over arrays,
say an optimiser) was made inside: only the other fields are replaced by results.

A module of `flax.nnx` refuses to be changed in a trace that is younger than it: `TraceContextError`, at the statement itself.
Whoever draws a key from its `nnx.Rngs` changes it as well: the draws are counted. Nor may a transform of `flax.nnx` inside of a
trace be given a module from outside of it, which it would take apart: `nnx.grad(loss)(self.model, x)` in a function under `jax.jit`.
The variables of a Linen module (`self.variable`, `self.put_variable`) belong to whoever applies it, so one that is written in a branch of
`jax.lax.cond`, or in a loop, that began inside the module leaks; the transforms of `flax.linen` hand variables in and out. So do the
parameters of a layer that is first called there, as `init` makes them in the trace.

A callback of `jax.pure_callback`, `jax.debug.callback` or `io_callback` runs when the compiled function does. What it takes from the
function around it, and not as an argument, is still a tracer then.

It is an error where code outside of the trace reads the place, of the same object, and a warning where nobody does.
""",
    instead="""\
Return everything that the caller should keep, and store it outside:

```python
loss, count = step(params, batch, count)
```

In `jax.lax.scan` collect per-step values through the second result of the body; with `jax.grad` pass them out with
`has_aux=True`.
""",
    bad="""\
history = []


@jax.jit
def step(x):
    y = x * 2
    history.append(y)  # expect: JIT304
    return y


step(1.0)
history[0] + 1
""",
    good="""\
history = []


@jax.jit
def step(x):
    return x * 2


history.append(step(1.0))
history[0] + 1
""",
    outcome=Raises(("jax.errors.UnexpectedTracerError",), later=True),
    cases={
        "callback": Raises(("jax.errors.JaxRuntimeError", "jax.errors.UnexpectedTracerError"), later=True),
        "refused": Raises(("flax.errors.TraceContextError",)),
        "handed": Raises(("ValueError", "flax.errors.TraceContextError"), says=r"trace level"),
    },
    since="0.1",
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.UnexpectedTracerError",
)

# target: how the place is described, without and with its name
_PLACES = {
    "attribute": "an attribute",
    "element": "a container",
    "global": "a global variable",
    "nonlocal": "a variable of the enclosing function",
    "append": "a list",
}


@RULE.on(Leak)
def check(event: Leak) -> Report | None:
    """Report leaks; ``what`` names the place."""
    named = f" `{event.what}`" if event.what else ""
    if event.target == "lru_cache":
        return Report(
            f"the cached function{named} keeps a traced array beyond its trace",
            "fill the cache before tracing, or cache NumPy arrays instead of `jnp` arrays",
        )
    if event.target == "cached_property":
        return Report(
            f"the cached property{named} keeps a traced array beyond its trace",
            "compute it before tracing (in `__init__`), or with NumPy instead of `jnp`",
        )
    if event.target == "static":
        return Report(
            f"the static field{named} of this result holds a traced value, which outlives the trace with it",
            "make it outside and pass it in, or with NumPy instead of `jnp`",
        )
    if event.target == "parameters":
        return Report(
            f"the parameters of `{event.what}` are made in a trace that began inside the module, and outlive it",
            "use the transform that `flax.linen` has for this, `nn.scan`, `nn.cond`, `nn.remat`, `nn.jit`, which hands them out",
        )
    if event.target == "variable":
        return Report(
            "a variable of a Flax module gets a value of a trace that began inside the module, and outlives it",
            "return the value and assign it outside, or use the transform that `flax.linen` has for this: `nn.cond`, "
            "`nn.scan`, `nn.remat`",
        )
    if event.target == REFUSED:
        return Report(
            f"the attribute{named} of a module from outside of the trace is changed, which Flax refuses",
            "hand the module to the transformed function as an argument, with `nnx.jit` and its kin, or return the value",
            case="refused",
        )
    if event.target == OUTER:
        return Report(
            f"the variable{named} from outside of the trace is set, which Flax refuses",
            "hand it to the transformed function as an argument, with `nnx.jit` and its kin, or return the value",
            case="refused",
        )
    if event.target == OLDER:
        return Report(
            f"a module changes that was put together from `{event.what}` of outside the trace, which Flax refuses",
            "pass `copy=True` to `nnx.merge`, or hand the state to the function as an argument",
            case="refused",
        )
    if event.target == HANDED:
        return Report(
            f"`{event.what}` is given a module from outside of the trace, which Flax refuses to take apart there",
            "hand the module to the function that is traced as an argument, with `nnx.jit` and its kin",
            case="handed",
        )
    if event.target == "callback":
        return Report(
            f"the callback reads `{event.what}`, a traced value of the function around it: when it runs, the trace is over",
            f"hand it over, as in `jax.debug.callback(report, {event.what})`, and read the argument",
            severity=None if event.used else Severity.WARNING,
            case="callback",
        )
    place = _PLACES.get(event.target, "a place")
    return Report(
        f"a traced value is stored in {place}{named} that outlives the trace",
        "return the value from the traced function and store it outside",
        severity=None if event.used else Severity.WARNING,
    )
