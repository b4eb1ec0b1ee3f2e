"""JIT406: an array is indexed with a list, a float or a str, or with too many indices (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import BadIndex

RULE = Rule(
    code="JIT406",
    name="bad-index",
    severity=Severity.ERROR,
    summary="list, float or str as an array index, or too many of them",
    explanation="""\
JAX arrays accept integers, slices, `None`, `...` and arrays of integers as an index. Lists, which NumPy would convert,
are refused, and so are floats and strings:

> TypeError: Using a non-tuple sequence for multidimensional indexing is not allowed; use `arr[array(seq)]` instead of `arr[seq]`.

> TypeError: Indexer must have integer or boolean type, got indexer with type float32

> IndexError: Too many indices: array is 2-dimensional, but 3 were indexed

A slice needs whole numbers, too:

> TypeError: 'float' object cannot be interpreted as an integer

A float index often comes from `/` or `jnp.floor`: both give floats.
""",
    instead="""\
Convert the index:

```python
rows = x[jnp.array([0, 2])]
middle = x[len(x) // 2]
value = x[jnp.floor(position).astype(jnp.int32)]
```
""",
    bad="""\
@jax.jit
def ends(x):
    return x[[0, -1]]  # expect: JIT406


ends(jnp.arange(4.0))
""",
    good="""\
@jax.jit
def ends(x):
    return x[jnp.array([0, -1])]


ends(jnp.arange(4.0))
""",
    outcome=Raises(
        ("TypeError", "IndexError"),
        says=r"Too many indices|non-tuple sequence|must have integer or boolean type|JAX does not support|[Ss]tring index|interpreted as an integer",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Wraps the list in `jnp.array(...)`.",
    ),
    reference="https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html",
)

# problem: (message, help)
_PROBLEMS = {
    "list": (
        "a JAX array cannot be indexed with a list",
        "write `x[jnp.array([...])]`",
    ),
    "float": (
        "a JAX array cannot be indexed with a float",
        "use `//` for a Python number, `.astype(jnp.int32)` for an array",
    ),
    "slice-float": (
        "a slice of a JAX array begins and ends at whole numbers, but gets a float",
        "divide with `//`, which gives whole numbers, or convert what is computed: `x[: int(n)]`",
    ),
    "count": (
        "an array gets more indices than it has axes",
        "print `x.shape`: perhaps an axis was lost before, or the indices belong to another array",
    ),
    "string": (
        "a JAX array cannot be indexed with a `str`",
        "keep named parts in a dict or a NamedTuple of arrays",
    ),
}


@RULE.on(BadIndex)
def check(event: BadIndex) -> Report | None:
    """Report index types that JAX refuses."""
    words = _PROBLEMS.get(event.problem)
    return None if words is None else Report(*words)
