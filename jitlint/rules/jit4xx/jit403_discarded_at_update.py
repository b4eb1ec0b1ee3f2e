"""JIT403: `x.at[i].set(v)`, and its like, whose result nobody keeps (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Advisory, DropsResult, LeavesOut
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import DroppedUpdate

RULE = Rule(
    code="JIT403",
    name="discarded-at-update",
    severity=Severity.WARNING,
    summary="result of an update thrown away",
    explanation="""\
JAX arrays never change: `x.at[i].set(v)` makes a new array, and `x` stays what it was.

As a statement of its own it therefore does nothing at all, traced or not, and no error says so. Under `jit` not even
the time is spent: what nobody uses is not computed.

So with all that makes a new value in the place of an old one: `optax.apply_updates`, `eqx.apply_updates`,
`eqx.tree_at`, `dataclasses.replace`, `state.replace(...)`, `state.apply_gradients(...)`, `pair._replace(...)`,
`jax.tree.map` over a formula, `jax.random.split` and `fold_in`, `jax.lax.stop_gradient` and `with_sharding_constraint`, `nnx.merge`, `nnx.clone`, `eqx.combine`,
`eqx.filter`, `eqx.nn.inference_mode`, `update` of an optimiser of optax, and in traced code any function of `jax.numpy`. So with a
function of the project that does nothing but give another version of its argument, and in traced code with any that only
computes. In tests and benchmarks, and in a `try`, such a call may be made to see that it runs, and nothing is said.

What has a name may be lost as well: a function ends with `column = column.at[i].set(v)`, and nothing reads `column`; or
`batch_stats` is computed and read nowhere, and `state.apply_gradients(grads=grads)` goes on with the old `state.batch_stats`; or
each turn of a loop takes `params, _ = step(params, opt_state)` and gives the next turn the old `opt_state`; or the body of
a scan returns `total, new_total`, and begins each turn with the first total. Who means that says so
with an underscore in the first two cases, and makes the state in the loop in the third; but where a program throws away all
that its modules say of `batch_stats`, and evaluates with them, no underscore means that. Nor does it for the error of
`checkify.checkify(f)(x)`, which somebody has to throw.

A module of Flax NNX that a loss puts together, `model = nnx.merge(graph, params, rest)`, is another one than outside: what its BatchNorm
learns there is lost unless the loss hands it out. So is what a Linen module sows into a collection that no `mutable` names.
""",
    instead="""\
Keep the result:

```python
x = x.at[i].set(v)
```
""",
    bad="""\
@jax.jit
def mark(x, i):
    x.at[i].set(1.0)  # expect: JIT403
    return x


mark(jnp.zeros(3), 1)
""",
    good="""\
@jax.jit
def mark(x, i):
    x = x.at[i].set(1.0)
    return x


mark(jnp.zeros(3), 1)
""",
    outcome=DropsResult(),
    cases={
        "unchecked": Advisory(
            "what nobody reads is no part of the compiled program, a check as little as anything else"
        ),
        "unmade": LeavesOut(),
    },
    since="0.1",
    unused=True,
    remedy=Remedy(
        Safety.UNSAFE,
        "Binds the name to the new array, if it is read afterwards: the result changes.",
    ),
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html",
)


_SOW = "flax.linen.Module.sow"
_CHECKIFY = "jax.experimental.checkify.checkify"


@RULE.on(DroppedUpdate)
def check(event: DroppedUpdate) -> Report | None:
    """Report updates that stand alone, and new parts of a state that are lost."""
    if event.rebuilt or event.averages or event.kept:
        return _of_a_state(event)
    if event.unread:
        return _never_read(event)
    if event.left_out:
        return _left_out(event)
    if event.what:
        return Report(
            f"`{event.what}` makes a new value, and nothing keeps it: what it was given stays as it was",
            "assign the result, or take the line out",
        )
    return Report(
        f"`.at[...].{event.method}` makes a new array, and nothing keeps it: the old one stays as it was",
        f"assign it: `x = x.at[...].{event.method}(...)`",
    )


def _of_a_state(event: DroppedUpdate) -> Report:
    """What becomes of the parts of a state."""
    if event.rebuilt:
        return Report(
            f"`{event.rebuilt}` is made of the parts of `{event.kept}` alone, so that it never changes",
            f"compute what a step changes, or return `{event.kept}` as it is",
        )
    if event.averages and event.what:
        layer = event.averages.rpartition(".")[2]
        return Report(
            f"`{layer}` of the module that is put together here learns from each batch, and nothing takes that out again: what"
            " is evaluated stays as it began",
            "hand it out beside the loss, `return loss, nnx.state(model, nnx.BatchStat)` with `has_aux=True`, and go on with it",
        )
    if event.averages:
        return Report(
            f"the module updates `{event.averages}` here, and nothing keeps that: what it is evaluated with stays as it began",
            f'hand it out beside the loss, `has_aux=True`, and put it into the state: `{event.averages}=changed["{event.averages}"]`',
        )
    if event.what == _SOW:
        return Report(
            f"this sows into `{event.kept}`, but no `apply` of the program makes that mutable, so nothing of it is kept",
            f'name the collection: `model.apply(variables, x, mutable=["{event.kept}"])`',
        )
    if event.unread:
        return Report(
            f"each turn hands the old `{event.kept}` on to the next: `{event.unread}` is only collected",
            f"return the new one as the carry: `return {event.unread}, {event.unread}`",
        )
    return Report(
        f"the old `{event.kept}` goes on here: the new one is computed, and nothing reads it",
        f"keep the new `{event.kept}` in its place",
    )


def _never_read(event: DroppedUpdate) -> Report:
    """What has a name that nobody reads."""
    if not event.what:
        return Report(
            f"`.at[...].{event.method}` makes a new array, and nothing reads `{event.unread}`, which it is bound to",
            "put it where the old one was, `columns[name] = ...`, or return it",
        )
    if event.what == _CHECKIFY:
        return Report(
            "nothing looks at the error that comes beside the result, so a check that fails goes unseen",
            "`error, result = checked(x)`, then `error.throw()`",
        )
    return Report(
        f"nothing reads `{event.unread}`, so the parameters do not go where `{event.what}` says",
        f"`params = optax.apply_updates(params, {event.unread})`",
    )


def _left_out(event: DroppedUpdate) -> Report:
    """What compiled code leaves out."""
    if event.what.endswith(".error_if"):
        return Report(
            f"nothing reads the result of `{event.what}`, so compiled code checks nothing",
            "go on with what it gives: `x = eqx.error_if(x, ...)`",
            case="unchecked",
        )
    return Report(
        f"nothing reads the result of `{event.what}`, so compiled code leaves the call out",
        "to print or to log, use `jax.debug.callback`, or `jax.experimental.io_callback` where the order matters",
        case="unmade",
    )
