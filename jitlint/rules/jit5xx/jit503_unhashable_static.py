"""JIT503: a static argument gets a value that cannot be hashed (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import TransformMisuse

RULE = Rule(
    code="JIT503",
    name="unhashable-static",
    severity=Severity.ERROR,
    summary="unhashable value for a static argument",
    explanation="""\
A jitted function keeps one compiled program for each combination of static values and finds it by hash. Lists, dicts,
sets, arrays and dataclasses that are not frozen have no hash:

> ValueError: Non-hashable static arguments are not supported. An error occurred while trying to hash an object of type <class 'list'>, [1].

A static field of a pytree, or what `tree_flatten` gives beside the children, is compared as well, whenever an object comes
to a jitted function. Arrays refuse that:

> ValueError: Exception raised while checking equality of metadata fields of pytree.

One and the same array is not compared with itself; so of NumPy's arrays only those are reported that are made anew for each object.

A module of Flax Linen has a hash only as long as nobody applies it: inside of ``init`` and ``apply`` it holds variables.

The function itself is looked up by its hash as well, by `jax.jit`, `jax.checkpoint` and the loops and branches of `jax.lax`. An object
that is called like a function has none if it is a dataclass that is not frozen, or a module that holds arrays; wrap the call in a
function: `jax.lax.scan(lambda c, x: cell(c, x), ...)`.

A traced value as a static argument of an inner jitted function fails with the same message: traced values have no hash.
""",
    instead="""\
Pass a tuple instead of a list, a frozen dataclass or a NamedTuple instead of a dict:

```python
mlp(x, widths=(64, 64))
```

An array should not be static: let it be traced, or convert it with `tuple(array.tolist())` before the call.
""",
    bad="""\
from functools import partial


@partial(jax.jit, static_argnames="widths")
def total(x, widths):
    return sum(x[:width].sum() for width in widths)


total(jnp.ones(4), widths=[1, 2])  # expect: JIT503
""",
    good="""\
from functools import partial


@partial(jax.jit, static_argnames="widths")
def total(x, widths):
    return sum(x[:width].sum() for width in widths)


total(jnp.ones(4), widths=(1, 2))
""",
    outcome=Raises(
        ("ValueError", "TypeError"),
        says=r"[Nn]on-hashable|unhashable|metadata fields|call __hash__ on modules",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Passes a tuple instead of the list.",
    ),
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.jit.html",
)

_MODULES = "use `flax.linen.jit`, or jit the function that applies the module"


@RULE.on(TransformMisuse)
def check(event: TransformMisuse) -> Report | None:
    """Report unhashable static values; ``detail`` names what is passed."""
    if event.problem == "static-array-field":
        return Report(
            f"the static field `{event.parameter}` of `{event.detail}` is an array: jitted functions compare static "
            "fields from call to call, and arrays cannot be compared",
            "make it an ordinary field; `jax.lax.stop_gradient` keeps it from being trained",
            severity=Severity.WARNING,
        )
    if event.problem == "array-metadata":
        return Report(
            f"`{event.detail}` keeps the array `{event.parameter}` beside its children: jitted functions compare what is"
            " there from call to call, and arrays cannot be compared",
            f"put `{event.parameter}` among the children; `jax.lax.stop_gradient` keeps it from being trained",
            severity=Severity.WARNING,
        )
    if event.problem == "compared-array":
        return Report(
            f"`{event.transform}` gets a `{event.detail}` with a new NumPy array in the static field `{event.parameter}` each time: it"
            " compares static fields from call to call, and arrays cannot be compared",
            f"make `{event.parameter}` an ordinary field, make the array once for all, or keep a tuple: `tuple(array.tolist())`",
            severity=Severity.WARNING,
        )
    if event.problem == "unhashable-object":
        return Report(
            f"this object cannot be hashed ({event.detail}), but such objects are static arguments of `{event.parameter}`",
            "hold a tuple instead, or let the argument be traced",
            severity=Severity.WARNING,
        )
    if event.problem == "static-module":
        return Report(
            f"`{event.transform}` makes the module `{event.detail}` a static argument, which has no hash while `init` or"
            f" `apply` runs `{event.parameter}`",
            _MODULES,
        )
    if event.problem == "unhashable-function":
        return Report(
            f"`{event.transform}` keeps what it traces under its function, but {event.detail}{',' if ',' in event.detail else ''} has no hash",
            _of_function(event),
        )
    if event.problem != "unhashable-static":
        return None
    argument = f"the static argument `{event.parameter}`" if event.parameter else "a static argument"
    value = event.detail or "an unhashable value"
    if " " not in value:
        value = f"a value of type `{value}`"
    return Report(
        f"{argument} must be hashable, but gets {value}",
        _MODULES
        if value.startswith("the module")
        else "pass a tuple or a frozen dataclass; arrays and traced values must not be static",
    )


def _of_function(event: TransformMisuse) -> str:
    """What to hand over in place of an object without a hash."""
    if "holds variables" in event.detail:
        lifted = event.transform.rpartition(".")[2]
        return f"use `flax.linen.{lifted}`, which lifts the module, or wrap the call in a function"
    filtered = (
        "" if "holds" not in event.detail or event.transform != "jax.jit" else "use `equinox.filter_jit`, or "
    )
    return f"{filtered}wrap the call in a function: `lambda *args: module(*args)`"
