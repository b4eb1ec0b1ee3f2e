"""JIT505: a static argument is another one at every call (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory, Retraces
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import VaryingArgument

RULE = Rule(
    code="JIT505",
    name="varying-static",
    severity=Severity.WARNING,
    summary="static argument that changes at every call",
    explanation="""\
A static argument is part of the compiled program: for each new value JAX traces and compiles again and keeps the old
programs too. Values are compared with `==` and `hash`, so a new lambda, a new `functools.partial` or a new instance of
a class without `__eq__` and `__hash__` is a new value each time, even when nothing about it has changed. So is an optimiser:
`optax.adam` makes new functions whenever it is called. In a `TrainState` it is a part of the type (`tx`), which counts just as much.

A loop counter, a learning rate, a label with a number in it are such values. A few variants are what static arguments are
for, but not where they are numbers with a point that the function does nothing but compute with: a temperature, a tolerance.
There each of them costs a compilation for nothing. `equinox.filter_jit` takes every argument
that is not an array as static, Python numbers included, and every leaf of one: those in the fields of a module too, so that a step that gives back a module with `self.count + 1` compiles at each
turn of its loop. So does
`flax.nnx.jit` with all that is no array in a module, and it hands the module back as it was left: a method that says `self.calls += 1`
makes the next call compile again.
""",
    instead="""\
Leave out of `static_argnums` what the function only computes with, and give `filter_jit` an array
(`jnp.asarray(rate)`). Make objects and functions once, before the loop, or give their class `__eq__` and `__hash__`
(a frozen dataclass has both).
""",
    bad="""\
from functools import partial


@partial(jax.jit, static_argnames="turn")
def step(x, turn):
    return x * turn


x = 1.0
for i in range(5):
    x = step(x, turn=i)  # expect: JIT505
""",
    good="""\
@jax.jit
def step(x, turn):
    return x * turn


x = 1.0
for i in range(5):
    x = step(x, turn=i)
""",
    outcome=Retraces("static"),
    cases={
        "metadata": Retraces("metadata"),
        "counter": Advisory("nothing is refused, each call only takes as long as the first"),
    },
    since="0.2",
    reference="https://docs.jax.dev/en/latest/jit-compilation.html#marking-arguments-as-static",
)


@RULE.on(VaryingArgument)
def check(event: VaryingArgument) -> Report | None:
    """Report static arguments that vary or are new objects; ``how`` says in which way."""
    if event.problem == "shape":
        return None
    named = f" `{event.parameter}`" if event.parameter else ""
    if event.problem == "fresh":
        return Report(
            f"the static argument{named} is {event.how} at every call, equal only to itself, so JAX compiles every time",
            "make it once and pass the same object, or give its class `__eq__` and `__hash__`",
        )
    if event.problem == "filter":
        return Report(
            f"`filter_jit` takes the Python number{named} as static, and it is {event.how}: JAX compiles for each value",
            "pass an array instead: `jnp.asarray({expr})`",
        )
    if event.problem == "filter-leaf":
        return Report(
            f"`filter_jit` takes as static the Python number that is put into{named}, and it is {event.how}: JAX compiles for"
            " each value",
            "put an array there, `jnp.asarray(0.5)`, and keep it from the optimiser with `jax.lax.stop_gradient`",
        )
    if event.problem == "held":
        return Report(
            f"{named.strip() or 'the state'} is made with {event.how} at every call, which is a part of its type, so JAX compiles every"
            " time",
            "make the optimiser once, and make all states with it",
            case="metadata",
        )
    if event.problem == "metadata":
        return Report(
            f"`{event.how}` keeps{named} beside its children, as a part of its type, and each turn changes it: JAX compiles for"
            " each value",
            "make it a child, as an array, `jnp.asarray(0)` to begin with: without `pytree_node=False` or `static=True`, or as "
            "`tree_flatten` gives it",
            case="metadata",
        )
    if event.problem == "counter":
        return Report(
            f"{named.strip()} of `{event.how}` is a Python number, for which `nnx.jit` compiles, and each call counts it up: the next one"
            " compiles again",
            f"make it a variable: `self.{event.parameter} = nnx.Variable(jnp.asarray(0))`, and `self.{event.parameter}[...] += 1`",
            case="counter",
        )
    if event.problem == "filter-counter":
        return Report(
            f"{named.strip()} is a Python number, for which `eqx.filter_jit` compiles, and each call gives another one back: the next call"
            " compiles again",
            "make it an array, such as `jnp.asarray(0)`",
            case="counter",
        )
    if event.problem == "number":
        return Report(
            f"the static argument{named} is {event.how}, and JAX compiles for each value, but the function only computes with it",
            "do not make it static: a tracer can stand wherever the function uses it",
        )
    return Report(
        f"the static argument{named} is {event.how}, and JAX compiles again for each value",
        "do not make it static if the function only computes with it; otherwise pass few different values",
    )
