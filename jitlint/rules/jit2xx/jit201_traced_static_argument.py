"""JIT201: a library function needs a static argument and gets a traced one (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT201",
    name="traced-static-argument",
    severity=Severity.ERROR,
    summary="traced value where JAX needs a static argument",
    explanation="""\
Shapes, axes, lengths and dtypes decide what the compiled program looks like, so JAX needs them while tracing. A
traced value arrives too late, and depending on the function JAX says

> ConcretizationTypeError: Abstract tracer value encountered where concrete value is expected: traced array with shape int32[]

> TypeError: Shapes must be 1D sequences of concrete values of integer type, got (JitTracer(~int32[]),).

or "Non-hashable static arguments are not supported". What `nondiff_argnums` of `jax.custom_vjp` counts is static as well:

> UnexpectedTracerError: Found a JAX Tracer object passed as an argument to a custom_vjp function in a position indicated by nondiff_argnums as non-differentiable.

With `jax.custom_jvp` the same goes wrong where a loop, or what `jax.checkpoint` wraps, is differentiated as a whole: the rule runs
when the body is done, and what it had traced means nothing any more.

A common cause is computing a shape with `jnp`: inside a jitted
function the result of *every* `jnp` operation is traced, even `jnp.prod(jnp.array(x.shape))`.
""",
    instead="""\
Compute shapes with Python, `math` or NumPy from static values:

```python
flat = x.reshape(math.prod(x.shape[1:]), -1)
```

A size that is an argument must be static: `@partial(jax.jit, static_argnames="n")`; JAX then compiles once for each value.
""",
    bad="""\
@jax.jit
def ramp(n):
    return jnp.arange(n) / n  # expect: JIT201


ramp(4)
""",
    good="""\
from functools import partial


@partial(jax.jit, static_argnames="n")
def ramp(n):
    return jnp.arange(n) / n


ramp(4)
""",
    outcome=Raises(
        (
            "jax.errors.TracerBoolConversionError",
            "jax.errors.ConcretizationTypeError",
            "jax.errors.TracerIntegerConversionError",
            "jax.errors.TracerArrayConversionError",
            "jax.errors.UnexpectedTracerError",
            "TypeError",
            "ValueError",
        ),
        traced=True,
        says=r"[Tt]race[dr]|array as a dtype argument",
    ),
    cases={"late": Raises(("jax.errors.UnexpectedTracerError", "TypeError"), later=True, says="[Tt]racer")},
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Computes sizes that shapes have with `math.prod`. Unsafe: adds the parameter to `static_argnames` of the `jax.jit` in the same file: the function is "
        "compiled for each of its values.",
    ),
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.ConcretizationTypeError",
)

_ANY = "args"
"""What takes any number of arguments, which have no name: the sizes of ``x.reshape(n, 2)``."""
_SIZES = frozenset(
    (
        "shape",
        "newshape",
        "N",
        "M",
        "n",
        "num",
        "size",
        "length",
        "reps",
        "repeats",
        "stop",
        "num_classes",
        _ANY,
    )
)


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report traced static arguments; ``parameter`` names the argument, ``api`` the function."""
    if event.problem != "static-argument":
        return None
    named = event.parameter and event.parameter != _ANY
    subject = f"`{event.parameter}` of `{event.api}`" if named else f"an argument of `{event.api}`"
    return Report(
        f"{subject} must be static, but it is traced",
        _cure(event),
        static="if it takes few values",
        case=event.detail,
    )


def _cure(event: ApiMisuse) -> str:
    if event.cure:
        return f"pass `{event.cure}`, or make the value static"
    if event.exception == "jax.errors.UnexpectedTracerError":
        return (
            "take it out of `nondiff_argnums`: a backward rule may give `None` as its cotangent, and a JVP rule"
            " leave its tangent out"
        )
    if event.parameter in _SIZES:
        return "compute it from static values such as `x.shape` (with `math` or NumPy, not `jnp`)"
    return "pass a Python value"
