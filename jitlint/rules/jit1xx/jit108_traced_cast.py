"""JIT108: a traced value is turned into a Python number, list or str (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import Convert

RULE = Rule(
    code="JIT108",
    name="traced-cast",
    severity=Severity.ERROR,
    summary="traced value turned into a Python number",
    explanation="""\
`int()`, `float()`, `complex()`, `.item()`, `.tolist()` and the functions of `math` need the number itself. While the
function is being traced there is only its shape and dtype:

> ConcretizationTypeError: Abstract tracer value encountered where concrete value is expected: traced array with shape float32[]

Under `jax.grad` alone, `int()` and `.item()` work while `float()` and `math` do not; under `jax.jit` none of them
does. `float(x.shape[0])` and `math.sqrt(x.size)` are always fine: shapes are Python values.
""",
    instead="""\
Stay with arrays:

```python
y = jnp.sqrt(x)            # math.sqrt(x)
n = x.astype(jnp.int32)    # int(x)
```

Convert outside the traced function, on its result. If the number is a setting, list it in `static_argnames`.
""",
    bad="""\
import math


@jax.jit
def decay(x, t):
    return x * math.exp(-t)  # expect: JIT108


decay(1.0, 0.5)
""",
    good="""\
@jax.jit
def decay(x, t):
    return x * jnp.exp(-t)


float(decay(1.0, 0.5))
""",
    outcome=Raises(
        ("jax.errors.ConcretizationTypeError", "jax.errors.TracerIntegerConversionError", "TypeError"),
        traced=True,
        says=r"[Tt]race[dr]|[Oo]nly scalar arrays|[Oo]nly length-1 arrays|iteration over a 0-d array|len\(\) of unsized",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Writes `jnp.asarray(x, dtype=float)` for `float(x)`, `jnp.sqrt` for `math.sqrt`, and drops "
        "`.item()`, if the rest of the function stands an array there; what is only logged is cast when the program runs. "
        "Unsafe in functions that may also be called without tracing, whose callers would get an array.",
    ),
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.ConcretizationTypeError",
)

# conversion: (what asks, what to write)
_CASTS = {
    "int": ("`int()`", "use `x.astype(jnp.int32)`"),
    "float": ("`float()`", "use `x.astype(jnp.float32)`, or convert the result outside the traced function"),
    "complex": ("`complex()`", "use `x.astype(jnp.complex64)` or `jax.lax.complex(re, im)`"),
    "round": ("`round()`", "use `jnp.round(x, decimals)`"),
    "item": ("`.item()`", "keep the array; call `.item()` on the result, outside the traced function"),
    "pickle": ("pickling", "pickle the result, outside the traced function"),
    "tolist": ("`.tolist()`", "keep the array; call `.tolist()` on the result, outside the traced function"),
}
# Functions of `math` and `cmath` without a namesake in `jax.numpy`.
_RENAMED = {
    "comb": "jax.scipy.special.comb",
    "dist": "jnp.linalg.norm",
    "erf": "jax.scipy.special.erf",
    "erfc": "jax.scipy.special.erfc",
    "factorial": "jax.scipy.special.factorial",
    "fsum": "jnp.sum",
    "gamma": "jax.scipy.special.gamma",
    "isqrt": "jnp.sqrt",
    "lgamma": "jax.scipy.special.gammaln",
    "perm": "jax.scipy.special.factorial",
    "phase": "jnp.angle",
    "polar": "jnp.abs",
    "rect": "jax.lax.complex",
}


@RULE.on(Convert)
def check(event: Convert) -> Report | None:
    """Report casts to Python values; ``what`` names the function of `math`."""
    if event.to in _CASTS:
        subject, help_text = _CASTS[event.to]
        gets = "the array" if subject.startswith("`.") else "its argument"
        return Report(
            f"{subject} needs a concrete value, but {gets} is traced",
            help_text,
            static="if the value is a setting",
        )
    if event.to == "math":
        name = event.what or "math"
        return Report(
            f"`{name}` needs a Python number, but its argument is traced",
            f"use `{_counterpart(name)}`" if event.what else "use the function of the same name in `jnp`",
        )
    if event.to == "iter":
        return Report(
            "a scalar array cannot be iterated",
            "use the value itself, or iterate over a range of static length",
        )
    if event.to == "len":
        return Report(
            "a scalar array has no length",
            "`x.size` is the number of elements of any array; `jnp.atleast_1d(x)` gives it an axis",
        )
    if event.to == "string":
        subject = f"`{event.what}`" if event.what else "this place"
        return Report(
            f"{subject} needs a Python `str`, but gets an array",
            "pass a Python string",
            static="if it is one of few",
        )
    return None


def _counterpart(function: str) -> str:
    name = function.rpartition(".")[2]
    return _RENAMED.get(name, f"jnp.{name}")
