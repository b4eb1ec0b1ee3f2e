"""JIT402: a JAX array is changed in place other than by element assignment (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import ArrayStore

RULE = Rule(
    code="JIT402",
    name="array-inplace",
    severity=Severity.ERROR,
    summary="in-place change of a JAX array",
    explanation="""\
JAX arrays never change. What changes a NumPy array in place is missing: `del x[i]`, `x.fill(0)`, `x.resize(...)`,
`x.put(...)`, `np.copyto(x, ...)`, assigning `x.shape` or another attribute, and `out=x`:

> AttributeError: DynamicJaxprTracer has no attribute fill

`x.sort()` does exist, but returns a sorted copy and leaves `x` as it was.

`np.asarray(x)` and `jax.device_get(x)` copy nothing: NumPy gets the very buffer of `x`, and may only read it.

> ValueError: assignment destination is read-only
""",
    instead="""\
Make a new array:

```python
x = jnp.delete(x, i)       # del x[i], with a static i
x = jnp.full_like(x, 0)    # x.fill(0)
x = x.reshape(2, -1)       # x.shape = (2, -1)
y = jnp.add(x, 1)          # np.add(x, 1, out=y)
host = np.array(x)         # np.asarray(x), to write into it
```
""",
    bad="""\
@jax.jit
def clear(x):
    x.fill(0)  # expect: JIT402
    return x


clear(jnp.ones(3))
""",
    good="""\
@jax.jit
def clear(x):
    return jnp.full_like(x, 0)


clear(jnp.ones(3))
""",
    outcome=Raises(
        (
            "AttributeError",
            "jax.errors.TracerArrayConversionError",
            "NotImplementedError",
            "TypeError",
            "ValueError",
        ),
        says=r"Tracer|ArrayImpl|immutable|arrays must be of ArrayType|first operand must be array|'out' argument|in-place|read-only|^__delitem__$",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Binds the name to the new array: `jnp.sort(x)`, `jnp.full_like(x, v)`, `jnp.delete(x, i)`, the "
        "result of a call that had `out=`.",
    ),
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html",
)

# method: what to write
_METHODS = {
    "fill": "write `x = jnp.full_like(x, value)`",
    "sort": "write `x = jnp.sort(x)`",
    "partition": "write `x = jnp.partition(x, k)`",
    "resize": "write `x = jnp.resize(x, shape)`",
    "put": "write `x = x.at[i].set(value)`",
    "itemset": "write `x = x.at[i].set(value)`",
    "copyto": "bind the name to the new array: `x = jnp.asarray(source)`",
}


@RULE.on(ArrayStore)
def check(event: ArrayStore) -> Report | None:
    """Report in-place changes; ``what`` names the method, the function or the attribute."""
    named = f"`{event.what}`" if event.what else ""
    if event.op == "delitem":
        return Report(
            "JAX arrays are immutable, so an element cannot be deleted",
            "write `x = jnp.delete(x, i)` with a static index, or mask the element with `jnp.where`",
        )
    if event.op == "method":
        return Report(
            f"JAX arrays are immutable, so {named or 'this method'} cannot change one in place",
            _METHODS.get(event.what.rpartition(".")[2], "make a new array and bind the name to it"),
        )
    if event.op == "out":
        return Report(
            f"JAX arrays are immutable, so `out=`{' of ' + named if named else ''} cannot write into one",
            "drop `out=` and bind the result to the name",
        )
    if event.op == "attribute":
        return Report(
            f"JAX arrays are immutable, so {named or 'an attribute'} cannot be assigned",
            "make a new array: `x.reshape(shape)`, `x.astype(dtype)`",
        )
    if event.op == "lent":
        return Report(
            f"{named} gives NumPy the buffer of a JAX array, which it may only read",
            "copy it first: `np.array(x)`",
        )
    return None
