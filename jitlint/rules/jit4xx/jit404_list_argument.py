"""JIT404: a `jnp` function gets a Python list or tuple (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT404",
    name="list-argument",
    severity=Severity.ERROR,
    summary="Python list, dict or object where JAX needs an array",
    explanation="""\
Other than NumPy, `jax.numpy` does not turn lists and tuples into arrays behind your back:

> TypeError: sum requires ndarray or scalar arguments, got <class 'list'> at position 0.

Under a trace every element would become a separate operation, slow to compile and easy to overlook, so JAX
wants the conversion to be visible. `jnp.array`, `jnp.stack` and `jnp.concatenate` do accept sequences. No function
of arrays takes a dict, a set, a str or an object of a plain class; many refuse even one whose class
has a method `__jax_array__`, as `jax.jit` does. Nor has a named tuple or a dict of arrays the operators of an array:
`params - grads` is for `jax.tree.map`. The gradient by
such an argument is one, too: `jax.grad` differentiates by the first argument unless `argnums` says otherwise.
""",
    instead="""\
Convert explicitly:

```python
total = jnp.sum(jnp.array([1.0, 2.0]))
total = jnp.sum(jnp.stack(losses))  # a list of arrays
```
""",
    bad="""\
def total(a, b):
    return jnp.sum([a, b])  # expect: JIT404


total(1.0, 2.0)
""",
    good="""\
def total(a, b):
    return jnp.sum(jnp.array([a, b]))


total(1.0, 2.0)
""",
    outcome=Raises(
        ("TypeError", "ValueError"),
        says=r"abstract array|during abstractification|valid JAX array type|ArrayLike|determine dtype|requires ndarray or scalar|unsupported operand type\(s\) for|can't multiply sequence by non-int|can only concatenate tuple|[Oo]nly integer scalar arrays",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Wraps the list in `jnp.array(...)`.",
    ),
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.numpy.asarray.html",
)


_OTHER = "hand over the array that is meant, or make one first with `jnp.array`"
_NAMED = (
    "take the field that is meant; if it is a gradient, `argnums` chooses the argument that it is taken by"
)
_INSTEAD = {
    "a dict": "go over its values: `jax.tree.map(f, d)`, or `jnp.stack(list(d.values()))`",
}


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report lists given to array functions."""
    if event.problem != "list-argument":
        return None
    parameter = f"`{event.parameter}` of `{event.api}`" if event.parameter else f"`{event.api}`"
    if event.detail:
        other = _NAMED if event.detail.endswith("`") and not event.parameter else _OTHER
        return Report(
            f"{parameter} needs an array, but gets {event.detail}", _INSTEAD.get(event.detail, other)
        )
    return Report(
        f"{parameter} needs an array, but gets a Python sequence",
        "wrap it: `jnp.array([...])`, or `jnp.stack([...])` for a list of arrays; a pair, such as that of"
        " `jax.value_and_grad`, has to be unpacked first",
    )
