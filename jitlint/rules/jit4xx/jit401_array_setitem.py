"""JIT401: an element of a JAX array is assigned (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import ArrayStore

RULE = Rule(
    code="JIT401",
    name="array-setitem",
    severity=Severity.ERROR,
    summary="assignment to an element of a JAX array",
    explanation="""\
JAX arrays never change, inside or outside of a jitted function:

> TypeError: JAX arrays are immutable and do not support in-place item assignment.

The operators `x += 1` and `x *= 2` are fine: they bind the name to a new array. `x[0] += 1` is not.
""",
    instead="""\
Make a changed copy with `.at[]`, and bind it; inside a jitted function the compiler avoids the copy:

```python
x = x.at[i].set(value)  # x[i] = value
x = x.at[i].add(value)  # x[i] += value
```
""",
    bad="""\
@jax.jit
def zero_first(x):
    x[0] = 0.0  # expect: JIT401
    return x


zero_first(jnp.ones(3))
""",
    good="""\
@jax.jit
def zero_first(x):
    return x.at[0].set(0.0)


zero_first(jnp.ones(3))
""",
    outcome=Raises(
        ("TypeError",),
        says=r"JAX arrays are immutable|'\w*(Tracer|ArrayImpl|Array|_IndexUpdate\w*)' object does not support",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Binds the name to `x.at[i].set(v)`, or `add`, `multiply` and the like. Unsafe where somebody "
        "else may hold the array, or an index may come twice.",
    ),
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html",
)

# operator of an augmented assignment: method of `.at[]`
_METHODS = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "**": "power",
}


@RULE.on(ArrayStore)
def check(event: ArrayStore) -> Report | None:
    """Report element assignments; for an augmented one ``what`` may name the operator."""
    if event.op == "setitem":
        return Report(
            "JAX arrays are immutable, so an element cannot be assigned",
            "write `{store:set}`",
        )
    if event.op == "augmented":
        method = _METHODS.get(event.what.removesuffix("="), "add")
        return Report(
            "JAX arrays are immutable, so an element cannot be changed in place",
            f"write `{{store:{method}}}`",
        )
    return None
