"""JIT514: a method of a library's object is called without what this object needs (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT514",
    name="missing-argument",
    severity=Severity.ERROR,
    summary="optimiser or layer called without what it needs",
    explanation="""\
Some arguments are optional for one object and not for another. Transformations of `optax` that look at the parameters, as
weight decay does, want them in `update`:

> ValueError: You are using a transformation that requires the current value of parameters, but you are not passing `params` when calling `update`.

A layer of `flax.linen` that keeps statistics while training writes to a collection, one that drops draws from a stream of keys,
and `apply` has to allow the one and give the other:

> flax.errors.ModifyScopeVariableError: Cannot update variable "mean" in "/BatchNorm_0" because collection "batch_stats" is immutable.

> flax.errors.InvalidRngError: Dropout_0 needs PRNG for "dropout"

Both ask whether they train, and have to be told, where they are made or where they are called:

> ValueError: Parameter "deterministic" must be passed to the constructor or at call time.

So does `init`, which makes parameters of the key that is called "params" (and raises where the first layer is called):

> flax.errors.InvalidRngError: Dense_0 needs PRNG for "params"

Layers of `flax.nnx` and `equinox` draw their parameters when they are made, from an argument without a default:

> TypeError: Linear.__init__() missing 1 required keyword-only argument: 'rngs'

A `nnx.Rngs` has the streams that it was made with; a first argument starts all others:

> KeyError: "No RngStream named 'dropout' found in Rngs."

An optimiser of `flax.nnx` is told which variables it is for, and gets the model for each update, since flax 0.11:

> TypeError: Missing required argument `wrt`. As of Flax 0.11.0 the `wrt` argument is required

> TypeError: Missing required argument `grads`. As of Flax 0.11.0 update requires both (model, grads) arguments to be passed.

This is an error if the project's requirements allow no older flax, a warning if they say nothing of it, and not reported if they, or the
JAX in use, allow no newer one.

A `Dropout` of `equinox` draws when it is called:

> RuntimeError: Dropout requires a key when running in non-deterministic mode.
""",
    instead="""\
```python
updates, state = optimiser.update(grads, state, params)
y, changed = net.apply(variables, x, train=True, mutable=["batch_stats"])
y = net.apply(variables, x, train=True, rngs={"dropout": key})

optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)
optimizer.update(model, grads)
```
""",
    bad="""\
import optax

optimiser = optax.adamw(1e-3)
params = jnp.ones(3)
updates, state = optimiser.update(params, optimiser.init(params))  # expect: JIT514
""",
    good="""\
import optax

optimiser = optax.adamw(1e-3)
params = jnp.ones(3)
updates, state = optimiser.update(params, optimiser.init(params), params)
""",
    outcome=Raises(
        (
            "ValueError",
            "TypeError",
            "RuntimeError",
            "KeyError",
            "AttributeError",
            "flax.errors.ModifyScopeVariableError",
            "flax.errors.InvalidRngError",
        ),
        says=r"param|immutable|needs PRNG|missing 1 required positional argument: 'state'|missing 1 required keyword-only argument|requires a key|No RngStream named"
        r"|Missing required argument|missing \d required keyword-only arguments?|no `rngs` argument was provided|missing 1 required positional argument: 'model'"
        r"|must be passed to the constructor",
    ),
    cases={"late": Raises(("flax.errors.InvalidRngError",), later=True, says="needs PRNG")},
    since="0.1",
    reference="https://optax.readthedocs.io/en/latest/api/transformations.html",
)


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report calls that lack ``parameter``."""
    if event.problem == "missing-argument" and event.parameter == "state":
        return Report(
            "an optimiser updates from its state, but this `update` does not get one",
            "pass it, and keep the new one: `updates, state = optimiser.update(grads, state)`",
        )
    if event.problem == "missing-argument" and event.since:
        return _of_release(event)
    if event.problem == "missing-argument" and event.api.endswith("Dropout"):
        return _of_dropout(event)
    if event.problem == "missing-argument" and event.parameter in ("rngs", "key"):
        given = "rngs=nnx.Rngs(0)" if event.parameter == "rngs" else "key=jax.random.key(0)"
        return Report(
            f"`{event.api}` draws its first parameters, but gets no `{event.parameter}` to draw them from",
            f"pass it by its name, `{given}`, and hand it down from where the model is made",
        )
    if event.problem == "missing-argument":
        return _of_update(event)
    if event.problem == "missing-mutable":
        return _of_collection(event)
    if event.problem == "missing-params":
        return Report(
            'a module with parameters is initialised from a dict of keys without "params"',
            f'give it one: `init({{"{event.parameter}": key, ...}}, x)`; a key alone is that one',
            case="late",
        )
    if event.problem in ("missing-rngs", "missing-switch"):
        return _of_layer(event)
    if event.problem == "missing-stream":
        return _of_streams(event)
    return None


def _of_layer(event: ApiMisuse) -> Report:
    """A layer of Flax that draws random numbers, or that is not told whether it trains."""
    if event.problem == "missing-switch":
        return Report(
            f"`{event.api}` is not told whether it trains: `{event.parameter}` is given neither where it is made nor where it is called",
            f"say it in one of the two places: `{event.parameter}=not train`",
        )
    return Report(
        f"`{event.api}` draws random numbers here, but `apply` gets no key for them",
        f'call `apply(..., rngs={{"{event.parameter}": key}})`, or set `deterministic=True`',
    )


def _of_update(event: ApiMisuse) -> Report:
    """An optimiser that looks at the parameters, at the value of the function, or calls it."""
    if event.parameter == "params":
        return Report(
            f"`{event.api}` needs the parameters, but this `update` does not get them",
            "pass them: `update(grads, state, params)`",
        )
    if event.parameter == "value":
        return Report(
            f"`{event.api}` needs the value of the function, but this `update` does not get it",
            "pass it by its name: `update(grads, state, params, value=value)`",
        )
    return Report(
        f"`{event.api}` searches along a line, but this `update` does not get the function and its value",
        "pass them by their names: `update(grads, state, params, value=value, grad=grads, value_fn=loss)`",
    )


def _of_collection(event: ApiMisuse) -> Report:
    """What writes to a collection that nobody makes mutable: a layer, or the module itself."""
    allowed = f'call `apply(..., mutable=["{event.parameter}"])` and keep what it returns'
    if not event.api:
        return Report(
            f"this writes to a variable of the collection `{event.parameter}`, but `apply` does not make it mutable",
            allowed,
        )
    return Report(
        f"`{event.api}` updates its statistics here, but `apply` does not make `{event.parameter}` mutable",
        f"{allowed}, or set `use_running_average=True`",
    )


def _of_dropout(event: ApiMisuse) -> Report:
    if event.parameter == "key":
        return Report(
            f"`{event.api}` draws random numbers here, but gets no `key` to draw them from",
            "pass it by its name, `key=key`, split for each layer; `inference=True` drops nothing",
        )
    return Report(
        f"`{event.api}` draws random numbers here, but has no `rngs` to draw them from",
        "pass it where the layer is made, `rngs=rngs`; after `eval()` it drops nothing",
    )


def _of_streams(event: ApiMisuse) -> Report:
    """What draws from a stream of keys that is not there."""
    drawing = f"`{event.api}` draws" if event.api else "this draws"
    has = f"only {event.detail}" if event.detail else "none"
    return Report(
        f"{drawing} from the stream `{event.parameter}` of an `nnx.Rngs` that has {has}, and no default",
        f"start it as well, `nnx.Rngs(..., {event.parameter}=1)`, or all that have no name: `nnx.Rngs(0)`",
    )


def _of_release(event: ApiMisuse) -> Report:
    """What only some releases of a library ask for."""
    since = f"flax {event.since}"
    known = event.detail == "asked"
    if event.parameter == "wrt":
        message = f"`{event.api}` is not told which variables it is for: `wrt` is required since {since}"
        cure = "pass it, `wrt=nnx.Param`; `nnx.ModelAndOptimizer` works as it did before"
    else:
        message = f"`update` gets no model: since {since} it takes the model and the gradients"
        cure = "write `update(model, grads)`; `nnx.ModelAndOptimizer` works as it did before"
    return Report(message, cure, None if known else Severity.WARNING)
