"""JIT212: a callback, or a function with a derivative rule for one direction, under a transform it has no rule for (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import TransformMisuse

RULE = Rule(
    code="JIT212",
    name="no-rule",
    severity=Severity.ERROR,
    summary="callback or custom derivative under a transform that it has no rule for",
    explanation="""\
JAX cannot look into what a callback does. So there is no derivative of what `jax.pure_callback` and `io_callback` get,
not even if nobody uses their results:

> ValueError: Pure callbacks do not support JVP. Please use `jax.custom_jvp` to use callbacks while taking gradients.

Under `jax.vmap`, `jax.pure_callback` must be told how to call a function with many arguments at once, and the order of an
ordered `io_callback` would be lost:

> ValueError: Cannot `vmap` ordered IO callback.

A function with a rule of `jax.custom_vjp` has a derivative backwards only, not for `jax.jvp` and `jax.jacfwd`:

> TypeError: can't apply forward-mode autodiff (jvp) to a custom_vjp function.

Nor is there one for writing to a reference that is older than the transform: all elements of a batch would write to one
place, and a derivative has no place for its tangent.

> Exception: performing a set/swap operation with vmapped value on an unbatched array reference of type Ref{float32[]}. Move the array reference to be an argument to the vmapped function?

A check of `checkify` raises where it runs, which compiled code cannot. Something around has to make a result of it:

> ValueError: Cannot abstractly evaluate a checkify.check which was not functionalized.
""",
    instead="""\
Give the function around the callback a derivative, or cut it off, and choose a `vmap_method`:

```python
@jax.custom_jvp
def table(x):
    return jax.pure_callback(look_up, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="expand_dims")


@table.defjvp
def _(primals, tangents):
    return table(*primals), slope(*primals) * tangents[0]
```

`jax.lax.stop_gradient(x)` is for callbacks that only look on. For derivatives in both directions write a rule of
`jax.custom_jvp`, from which JAX makes the other.

Checks come out of compiled code as a result: `err, y = jax.jit(checkify.checkify(f))(x)`, and `err.throw()` afterwards.
""",
    bad="""\
def sine(x):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(np.sin, shape, x)  # expect: JIT212


jax.grad(sine)(jnp.float32(1.0))
""",
    good="""\
@jax.custom_jvp
def sine(x):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(np.sin, shape, x)


@sine.defjvp
def _(primals, tangents):
    return sine(*primals), jnp.cos(primals[0]) * tangents[0]


jax.grad(sine)(jnp.float32(1.0))
""",
    outcome=Raises(
        ("ValueError", "NotImplementedError", "TypeError", "Exception"),
        spread=True,
        says=r"callback|forward-mode|array reference|not functionalized",
    ),
    since="0.2",
    reference="https://docs.jax.dev/en/latest/external-callbacks.html",
)


@RULE.on(TransformMisuse)
def check(event: TransformMisuse) -> Report | None:
    """Report calls that lack a rule; ``detail``: for which transform, ``parameter``: the argument that decides."""
    if event.problem != "no-rule":
        return None
    api = f"`{event.transform}`"
    if event.transform == "jax.custom_vjp":
        return Report(
            "a function with a rule of `jax.custom_vjp` is differentiated forwards, for which it has no rule",
            "write the rule with `jax.custom_jvp`, or differentiate backwards: `jax.vjp`, `jax.jacrev`",
        )
    if event.transform == "jax.Ref":
        who = "`jax.vmap`, for all elements at once" if event.detail == "B" else "a derivative"
        return Report(
            f"a reference that is made outside is written under {who}",
            "give the reference to the transformed function as an argument, or return what is written",
        )
    if event.detail == "S":
        return Report(
            f"{api} runs in compiled code, and nothing around makes a result of what it finds",
            "transform the function that is called: `err, y = checkify.checkify(jax.jit(f))(x)`, then `err.throw()`",
        )
    if event.detail == "L":
        return Report(
            f"{api} gets a value that is differentiated, and has no derivative",
            "give the function around it a rule with `jax.custom_jvp`, or pass `jax.lax.stop_gradient(x)`",
        )
    if event.parameter == "ordered":
        return Report(
            f"an ordered {api} runs under `jax.vmap`, where there is no order",
            "leave `ordered` out, or loop with `jax.lax.map` or `jax.lax.scan`",
        )
    return Report(
        f"{api} runs under `jax.vmap`, and does not say how its function is called for many elements",
        f'say it: `{event.parameter}="sequential"` once for each, `"expand_dims"` for all together',
    )
