"""JIT208: a loop body or a branch returns another structure or dtype than it must (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import TransformMisuse

RULE = Rule(
    code="JIT208",
    name="carry-mismatch",
    severity=Severity.ERROR,
    summary="loop carry or branch results of different structure, shape or dtype",
    explanation="""\
`scan`, `while_loop` and `fori_loop` compile their body once and feed its result back in, so the carry that the body
returns must have the structure, shapes and dtypes of the carry that it receives:

> TypeError: scan body function carry input and carry output must have equal types, but they differ:

The branches of `cond` and `switch` likewise have to agree with each other, and one number chooses among them: a boolean
or an integer. Python numbers in the initial carry are
promoted without complaint (`0` becomes a float if the body returns one); arrays are not.
Inside of `jax.shard_map`, a carry that is the same on all devices, as zeros are, must not become one that differs from device
to device: begin with `jax.lax.pcast(carry, "data", to="varying")`, or bring the parts together in the body.
""",
    instead="""\
Give the initial carry the dtype and shape of the result, and return the same structure from every branch:

```python
total, _ = jax.lax.scan(body, jnp.zeros((), x.dtype), x)
y = jax.lax.cond(ready, lambda: (x, True), lambda: (jnp.zeros_like(x), False))
```
""",
    bad="""\
def body(total, x):
    return (total + x, x), None


def run(xs):
    return jax.lax.scan(body, jnp.float32(0.0), xs)  # expect: JIT208


run(jnp.arange(4.0))
""",
    good="""\
def body(total, x):
    return total + x, x


def run(xs):
    return jax.lax.scan(body, jnp.float32(0.0), xs)


run(jnp.arange(4.0))
""",
    outcome=Raises(
        ("TypeError", "ValueError"),
        spread=True,
        says=r"carry|^lower and upper|[Pp]redicate|^Pred |^Index |branch|body (function )?output|cond_fun must return|same (tree|type|pytree)|leaves for PyTreeDef",
    ),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html",
)


@RULE.on(TransformMisuse)
def check(event: TransformMisuse) -> Report | None:
    """Report carries and branches that differ; ``detail`` holds the two structures."""
    detail = f": {event.detail}" if event.detail else ""
    if event.problem == "carry-mismatch":
        return Report(
            f"the body of `{event.transform}` returns another carry than it receives{detail}",
            "return the carry with the structure, shapes and dtypes of the initial value",
        )
    if event.problem == "combined":
        given, made = event.detail.split()
        return Report(
            f"the function of `{event.transform}` combines elements of {given} arrays, but returns {made}",
            "return one element, of the same structure as each of the two that it gets",
        )
    if event.problem == "no-pair":
        return Report(
            f"the body of `{event.transform}` must return a pair of carry and output, but returns {event.detail}",
            "return `carry, output`, with `None` as the output when there is none",
        )
    if event.problem == "no-boolean":
        return Report(
            f"the condition of `{event.transform}` must return a boolean scalar, but returns {event.detail}",
            "compare in the condition, and reduce arrays with `jnp.any` or `jnp.all`",
        )
    if event.problem == "no-scalar-choice":
        return Report(
            f"`{event.parameter}` of `{event.transform}` must be one number, but it is {event.detail}",
            f"call it: `{event.parameter}(x)`"
            if event.detail == "a function"
            else "reduce it with `jnp.any` or `jnp.all`; to choose element by element use `jnp.where`",
        )
    if event.problem == "no-index":
        return Report(
            f"`{event.parameter}` of `{event.transform}` must be an integer, but it is {event.detail}",
            "convert it: `index.astype(int)`",
        )
    if event.problem == "unequal-bounds":
        return Report(
            f"the bounds of `{event.transform}` must have equal types, but they are {event.detail}",
            "make both integers: `jnp.ceil(n).astype(int)`",
        )
    if event.problem == "branch-mismatch":
        return Report(
            f"the branches of `{event.transform}` return different types{detail}",
            "return the same structure, shapes and dtypes from every branch",
        )
    return None
