"""JIT512: a traced function returns something that is not an array (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import TransformMisuse

RULE = Rule(
    code="JIT512",
    name="non-array-output",
    severity=Severity.ERROR,
    summary="traced function that returns a str, a function or an object",
    explanation="""\
What a jitted function returns is computed on the device, so it must consist of arrays and numbers in tuples, lists,
dicts and registered classes (or `None`). A str, a function or an object of a plain class is refused:

> TypeError: function fit at model.py:5 traced for jit returned a value of type <class 'str'> at output component [1], which is not a valid JAX type

The kernel of a `pallas_call` returns nothing at all; what it computes, it writes into the references that it gets after those
to its inputs:

> ValueError: The kernel function in the pallas_call double at model.py:5 should return None. It returns a PyTree: PyTreeDef(*)
""",
    instead="""\
Return only arrays and add the rest outside:

```python
weights = fit(weights, x)
return weights, "ok"
```

Classes that hold arrays can be registered with `jax.tree_util.register_dataclass`. To return a function, return its
arrays and build the function outside, or use `jax.tree_util.Partial`.
""",
    bad="""\
@jax.jit
def fit(w, x):
    return w - 0.1 * x, "ok"  # expect: JIT512


fit(1.0, 2.0)
""",
    good="""\
@jax.jit
def fit(w, x):
    return w - 0.1 * x


result = (fit(1.0, 2.0), "ok")
""",
    outcome=Raises(
        ("TypeError", "ValueError"),
        later=True,
        says=r"(returned a value|output).* valid JAX type|should return None",
    ),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/pytrees.html",
)


@RULE.on(TransformMisuse)
def check(event: TransformMisuse) -> Report | None:
    """Report results that JAX cannot return; ``detail`` says what they are."""
    if event.problem == "no-result":
        return Report(
            f"the kernel of `{event.transform}` must return nothing, but it returns {event.detail}",
            "write what it computes into its last references (`o_ref[...] = y`), and return nothing",
        )
    if event.problem != "non-array-output":
        return None
    value = event.detail or "something that is neither an array nor a pytree of arrays"
    if " " not in value:
        value = f"a value of type `{value}`"
    return Report(
        f"a function under `{event.transform}` must return arrays, but returns {value}",
        "return only arrays, and add other values outside the traced function",
    )
