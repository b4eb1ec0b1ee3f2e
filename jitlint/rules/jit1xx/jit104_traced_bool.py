"""JIT104: an operator or a builtin asks a traced value for True or False (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import Truth

RULE = Rule(
    code="JIT104",
    name="traced-bool",
    severity=Severity.ERROR,
    summary="Python asks a traced value for True or False",
    explanation="""\
`and`, `or`, `not`, a chained comparison (`0 < x < 1`), `in`, `bool()`, `any`, `all`, `min`, `max`, `sorted`, `filter`,
the `if` of a comprehension and `==` between lists, tuples or dicts all call `bool()` on what they compare. A traced
value has no contents to answer with:

> TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[].

Python does not let a library redefine these operators, so JAX cannot record them. It can record `&`, `|`, `~`, the
comparison operators and the functions of `jnp`. `a < x < b` means `a < x and x < b`; mind the brackets in
`(a < x) & (x < b)`, because `&` binds more tightly than `<`.

`x or default` asks for the truth as well. Of a parameter or field that is declared to be an array or None, that is a
mistake even where nothing is traced: an array of several elements has no truth, and a zero counts as left out.
""",
    instead="""\
Use the array counterpart:

```python
inside = (low < x) & (x < high)  # and, or, not, chains: & | ~
found = jnp.any(x == value)      # value in x
biggest = jnp.maximum(a, b)      # max(a, b); jnp.max(x) for max(x)
ordered = jnp.sort(x)            # sorted(x)
```
""",
    bad="""\
@jax.jit
def inside(x):
    return (x > 0) and (x < 1)  # expect: JIT104


inside(0.5)
""",
    good="""\
@jax.jit
def inside(x):
    return (x > 0) & (x < 1)


inside(0.5)
""",
    outcome=Raises(
        ("jax.errors.TracerBoolConversionError", "ValueError"), traced=True, says=r"truth value of an array"
    ),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Writes `jnp.logical_and` and its kin, `jnp.maximum`, `jnp.any`, `jnp.isin`; unsafe where an "
        "operand is a call, which would not always have run, or no truth value, and in functions that may "
        "also be called without tracing.",
    ),
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerBoolConversionError",
)

# form: (message, help)
_FORMS = {
    "and": (
        "`and` needs a concrete True or False, but its operand is traced",
        "use `&` with brackets around both sides, or `jnp.logical_and`",
    ),
    "or": (
        "`or` needs a concrete True or False, but its operand is traced",
        "use `|` with brackets around both sides, or `jnp.logical_or`",
    ),
    "not": (
        "`not` needs a concrete True or False, but its operand is traced",
        "use `~` on a boolean array, or `jnp.logical_not`",
    ),
    "comparison-chain": (
        "a chained comparison is an `and` and needs a concrete True or False, but it compares traced values",
        "write the comparisons separately: `(a < x) & (x < b)`",
    ),
    "in": (
        "`in` compares with `==` and needs a concrete True or False, but the comparison is traced",
        "use `jnp.any(values == x)` or `jnp.isin(x, values)`",
    ),
    "contains": (
        "`in` needs a concrete True or False from `__contains__`, but it gives a traced value",
        "call a method that gives the array, and select with `jnp.where`",
    ),
    "bool": (
        "`bool()` needs a concrete value, but its argument is traced",
        "keep the boolean array and select with `jnp.where`",
    ),
    "any": (
        "`any` needs a concrete True or False from each element, but the elements are traced",
        "use `jnp.any`",
    ),
    "all": (
        "`all` needs a concrete True or False from each element, but the elements are traced",
        "use `jnp.all`",
    ),
    "min": (
        "`min` compares its arguments in Python, but they are traced",
        "use `jnp.minimum(a, b)` for two values, `jnp.min(x)` for an array",
    ),
    "max": (
        "`max` compares its arguments in Python, but they are traced",
        "use `jnp.maximum(a, b)` for two values, `jnp.max(x)` for an array",
    ),
    "sorted": (
        "`sorted` compares the elements in Python, but they are traced",
        "use `jnp.sort(x)`, or `jnp.argsort(keys)` to order by a key",
    ),
    "bisect": (
        "`bisect` compares the elements in Python, but they are traced",
        "use `jnp.searchsorted`",
    ),
    "heapq": (
        "`heapq` compares the elements in Python, but they are traced",
        "use `jnp.sort(x)`, or `jax.lax.top_k(x, k)` for the largest ones",
    ),
    "filter": (
        "`filter` needs a concrete True or False for each element, but its answer is traced",
        "keep every element and select with `jnp.where(mask, x, 0)`",
    ),
    "comprehension": (
        "the `if` of a comprehension needs a concrete True or False, but `{expr}` is traced",
        "keep every element and select with `jnp.where(mask, x, 0)`",
    ),
    "equality": (
        "`==` between containers asks their parts for True or False, but a part is traced",
        "compare the parts with `jnp.array_equal` and combine the answers with `&`",
    ),
}


_OF_FLAGS = frozenset({"and", "or", "not", "bool"})


@RULE.on(Truth)
def check(event: Truth) -> Report | None:
    """Report operators and builtins that call `bool()`."""
    if event.form == "left-out":
        return Report(
            "the truth of what may be an array decides here whether it was left out: a traced array, or one of several "
            "elements, has none, and a zero counts as left out",
            "compare with None: `x if x is not None else default`",
            severity=Severity.WARNING,
        )
    words = _FORMS.get(event.form)
    if words is None:
        return None
    return Report(*words, static="if the value is a flag" if event.form in _OF_FLAGS else "")
