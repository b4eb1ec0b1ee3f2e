"""JIT102: a Python `while` loop decides on a traced value (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import Truth

RULE = Rule(
    code="JIT102",
    name="traced-while",
    severity=Severity.ERROR,
    summary="Python `while` on a traced value",
    explanation="""\
A Python `while` asks its condition for True or False before every turn. Under a trace the condition has no
value yet, so the first question already fails:

> TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[].

The number of turns would have to be known while tracing, because Python writes each turn into the program
separately. A loop whose length depends on data must be an operation of the program itself.
""",
    instead="""\
Write the loop with `jax.lax.while_loop`; what changes from turn to turn is the carried value:

```python
x = jax.lax.while_loop(lambda x: x > 1.0, lambda x: x / 2, x)
```

Use `jax.lax.fori_loop` or `jax.lax.scan` when the number of turns is known; both can be differentiated in
reverse mode, `while_loop` cannot.
""",
    bad="""\
@jax.jit
def shrink(x):
    while x > 1.0:  # expect: JIT102
        x = x / 2
    return x


shrink(10.0)
""",
    good="""\
@jax.jit
def shrink(x):
    return jax.lax.while_loop(lambda value: value > 1.0, lambda value: value / 2, x)


shrink(10.0)
""",
    outcome=Raises(
        ("jax.errors.TracerBoolConversionError", "ValueError"), traced=True, says=r"truth value of an array"
    ),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Makes the body and the condition functions of `jax.lax.while_loop`, if the body only assigns "
        "names and nothing is differentiated.",
    ),
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html",
)


@RULE.on(Truth)
def check(event: Truth) -> Report | None:
    """Report `while` conditions."""
    if event.form != "while":
        return None
    return Report(
        "`while` needs a concrete True or False, but `{expr}` is traced",
        "under a derivative, use `jax.lax.scan` over as many turns as there may be, and mask with `jnp.where` those"
        " that do not count"
        if event.place.differentiated
        else "use `jax.lax.while_loop`, or `jax.lax.fori_loop` when the number of turns is known",
    )
