"""JIT417: numbers of NumPy for which 32 bits have no room (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import FarNumbers

RULE = Rule(
    code="JIT417",
    name="far-numbers",
    severity=Severity.WARNING,
    summary="numbers so far from 0 that JAX's 32 bits cannot tell them apart",
    explanation="""\
NumPy computes with 64 bits, JAX with 32 unless it is told otherwise, and what comes from the one to the other is cut without a
word. A 32-bit float has 24 binary digits: of seconds since 1970, about 1.7 · 10⁹, it keeps every 128th, so that events two
minutes apart happen at once. Whole numbers beyond 2³¹, such as milliseconds, become others altogether.

The rule speaks where the code shows the place: a constant with at least two digits was added to the numbers, or they start there.
It is silent where a data type is named, and where any code of the program speaks of `x64`.
""",
    instead="""\
Take the constant away while the numbers have 64 bits; differences are small:

```python
times = jnp.asarray(stamps - stamps[0])
```
""",
    bad="""\
stamps = 1_700_000_000.0 + np.cumsum(np.ones(5))

times = jnp.asarray(stamps)  # expect: JIT417
""",
    good="""\
stamps = 1_700_000_000.0 + np.cumsum(np.ones(5))

times = jnp.asarray(stamps - stamps[0])
""",
    outcome=Advisory("nothing is refused, and how exact the numbers have to be, JAX cannot know"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/default_dtypes.html",
)


@RULE.on(FarNumbers)
def check(event: FarNumbers) -> Report:
    """Report where such numbers come to JAX."""
    place = f"{event.around:_}".removesuffix(".0")
    help_text = "subtract a constant from them with NumPy first, as in `t - t[0]`, or turn 64-bit numbers on"
    if event.whole:
        return Report(
            f"whole numbers of the size of {place} do not fit into JAX's 32 bits, and become others",
            help_text,
        )
    apart = 2.0 ** (len(f"{int(abs(event.around)):b}") - 24)
    return Report(
        f"32-bit floats near {place} are {apart:,g} apart, so that numbers between them become alike",
        help_text,
    )
