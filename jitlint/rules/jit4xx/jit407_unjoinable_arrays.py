"""JIT407: numbers are concatenated, or arrays of unlike ranks (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT407",
    name="unjoinable-arrays",
    severity=Severity.ERROR,
    summary="numbers concatenated, or arrays with unlike numbers of axes",
    explanation="""\
`jnp.concatenate` puts arrays together along an axis that all of them have. A loss, a mean or any other single number has
none, and arrays with one and with two axes do not fit together:

> ValueError: Zero-dimensional arrays cannot be concatenated.

> TypeError: Cannot concatenate arrays with different numbers of dimensions: got (3, 4), (4,).
""",
    instead="""\
Stack numbers, and give a row its axis before it is joined to a table:

```python
losses = jnp.stack([loss_a, loss_b])
table = jnp.concatenate([table, row[None, :]])
```
""",
    bad="""\
@jax.jit
def bounds(x):
    return jnp.concatenate([jnp.min(x), jnp.max(x)])  # expect: JIT407


bounds(jnp.arange(4.0))
""",
    good="""\
@jax.jit
def bounds(x):
    return jnp.stack([jnp.min(x), jnp.max(x)])


bounds(jnp.arange(4.0))
""",
    outcome=Raises(
        ("ValueError", "TypeError"),
        says=r"[Zz]ero-dimensional|dimension|at least one array|unsized|same shape",
    ),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.numpy.concatenate.html",
)


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report arrays that do not fit together; ``detail`` says of what kind they are."""
    if event.problem != "cannot-join":
        return None
    api = f"`{event.api}`"
    if event.detail == "a number":
        return Report(
            f"{api} joins arrays along an axis, but here it gets a number, which has none",
            "use `jnp.stack([...])` for numbers, or give each an axis: `jnp.atleast_1d(x)`",
        )
    if event.detail.startswith("axis"):
        return Report(
            f"{api} is asked for {event.detail}",
            "choose an axis that they have; `jnp.stack` makes a new one, of arrays of one shape",
        )
    return Report(
        f"{api} gets {event.detail}, which do not fit together",
        "give the smaller one its axis first: `x[None]` or `x[:, None]`",
    )
