"""JIT109: NumPy gets a traced value (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import Convert

RULE = Rule(
    code="JIT109",
    name="numpy-on-tracer",
    severity=Severity.ERROR,
    summary="NumPy function applied to a traced value",
    explanation="""\
NumPy works on numbers in memory. It asks its argument for them with `__array__`, and a traced value has none:

> TracerArrayConversionError: The numpy.ndarray conversion method __array__() was called on traced array with shape float32[]

A few functions only call the method of the same name and therefore work (`np.sum`, `np.mean`, `np.reshape`, ...);
most do not (`np.sin`, `np.where`, `np.array`, `np.dot`, `np.clip`). Indexing a NumPy array with a traced index and
storing a traced value into a NumPy array fail for the same reason. NumPy on static values, such as shapes and
constants, is fine, and so is arithmetic between a NumPy array and a traced value. The functions of SciPy convert their
arguments likewise.
""",
    instead="""\
Use the function of the same name in `jax.numpy`:

```python
y = jnp.where(x > 0, x, 0.0)
value = jnp.asarray(TABLE)[i]  # TABLE is a NumPy array
```

What exists only in NumPy or SciPy can be called at run time with `jax.pure_callback`.
""",
    bad="""\
@jax.jit
def relu(x):
    return np.where(x > 0, x, 0.0)  # expect: JIT109


relu(jnp.ones(3))
""",
    good="""\
@jax.jit
def relu(x):
    return jnp.where(x > 0, x, 0.0)


relu(jnp.ones(3))
""",
    outcome=Raises(
        ("jax.errors.TracerArrayConversionError", "TypeError", "ValueError"),
        traced=True,
        says=r"[Tt]race[dr]|setting an array element with a sequence",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Writes the function of the same name in `jax.numpy`, if there is one; a NumPy table that is "
        "indexed becomes an array of JAX. Unsafe in functions that may also be called without tracing, whose callers "
        "would get another kind of array.",
    ),
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerArrayConversionError",
)

_NUMPY = ("np.", "numpy.", "scipy.")
_OF_SCIPY = (
    "use the function of `jax.scipy` or `jax.numpy` if there is one, else call it through `jax.pure_callback`"
)


@RULE.on(Convert)
def check(event: Convert) -> Report | None:
    """Report conversions to NumPy; ``what`` names the NumPy function or the operation."""
    if event.to != "numpy":
        return None
    name = event.what
    if not name.startswith(_NUMPY):
        return Report(
            "NumPy needs the contents of an array here, but the array is traced",
            "use `jax.numpy`: `jnp.asarray(table)[i]` to look up, `x.at[i].set(value)` to store",
        )
    return Report(
        f"`{name}` converts its argument to a NumPy array, but the argument is traced",
        _OF_SCIPY if name.startswith("scipy.") else _cure(name.partition(".")[2]),
    )


def _cure(function: str) -> str:
    if function.startswith("random."):
        return "use `jax.random` with a key"
    if function.startswith("testing."):
        return "compare the results outside the traced function"
    if function in ("save", "savez", "savetxt", "savez_compressed"):
        return "save the result outside the traced function, or use `jax.debug.callback`"
    if function.endswith(".at"):
        return "use `x.at[i].add(value)` or another method of `.at[]`"
    if function == "copyto":
        return "build the array with `jax.numpy` instead of copying into a buffer"
    return f"use `jnp.{function}`"
