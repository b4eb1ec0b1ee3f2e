"""JIT107: Python needs an integer and gets a traced value (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import Convert

RULE = Rule(
    code="JIT107",
    name="traced-index",
    severity=Severity.ERROR,
    summary="traced value where Python needs an integer",
    explanation="""\
Indexing or slicing a Python list, tuple or str, repeating a str, `operator.index`, `hex`, `bin`, `oct` and `chr` call
`__index__` to obtain a Python integer. A traced value has none to give:

> TracerIntegerConversionError: The __index__() method was called on traced array with shape int32[]

Indexing a JAX *array* with a traced integer is fine: the lookup then happens at run time.
""",
    instead="""\
Turn the list into an array, or choose among functions with `jax.lax.switch`:

```python
rate = jnp.array([0.1, 0.01, 0.001])[i]
y = jax.lax.switch(i, [jnp.sin, jnp.cos], x)
```

If the index is a setting with few values, list it in `static_argnames`.
""",
    bad="""\
RATES = [0.1, 0.01, 0.001]


@jax.jit
def step(x, stage):
    return x - RATES[stage]  # expect: JIT107


step(1.0, 2)
""",
    good="""\
RATES = np.array([0.1, 0.01, 0.001])


@jax.jit
def step(x, stage):
    return x - jnp.asarray(RATES)[stage]


step(1.0, 2)
""",
    outcome=Raises(
        ("jax.errors.TracerIntegerConversionError", "TypeError"),
        traced=True,
        says=r"[Tt]race[dr]|[Ii]nteger scalar arrays",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Makes a sequence of numbers that is written out an array before it is indexed; elsewhere makes "
        "the index static.",
    ),
    reference="https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerIntegerConversionError",
)

_CONTAINERS = ("list", "tuple", "str")


@RULE.on(Convert)
def check(event: Convert) -> Report | None:
    """Report calls of `__index__`; ``what`` names the operation or the function."""
    if event.to != "index":
        return None
    if not event.what or event.what.startswith(_CONTAINERS):
        return Report(
            f"{_subject(event.what)} needs a concrete integer, but it is traced",
            "make the sequence an array (`jnp.array(values)[i]`) or use `jax.lax.switch`",
            static="if the index is a setting",
        )
    return Report(
        f"`{event.what}` needs a concrete integer, but its argument is traced",
        "compute it from static values such as `x.shape`",
        static="if it is a setting",
    )


def _subject(what: str) -> str:
    if what in ("", *_CONTAINERS):
        return f"the index of a {what or 'Python sequence'}"
    return f"a {what}"
