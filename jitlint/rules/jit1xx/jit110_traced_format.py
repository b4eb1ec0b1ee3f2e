"""JIT110: a traced value is formatted as a number (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import Convert

RULE = Rule(
    code="JIT110",
    name="traced-format",
    severity=Severity.ERROR,
    summary="traced value formatted as a number",
    explanation="""\
A format specification (`f"{x:.2f}"`, `format(x, ".2f")`, `"%d" % x`) needs the number. While the function is being
traced there is none, and a traced value has no number format:

> TypeError: unsupported format string passed to DynamicJaxprTracer.__format__

Without a specification (`f"{x}"`, `"%s" % x`, `str(x)`) nothing fails, but the text shows the traced value and not the
value.
""",
    instead="""\
Print at run time with `jax.debug.print`, whose format string JAX fills in when the value is known:

```python
jax.debug.print("loss {loss:.3f}", loss=loss)
```

Or return the value and format it outside the traced function.
""",
    bad="""\
@jax.jit
def report(loss):
    print(f"loss {loss:.3f}")  # expect: JIT110
    return loss


report(0.5)
""",
    good="""\
@jax.jit
def report(loss):
    jax.debug.print("loss {loss:.3f}", loss=loss)
    return loss


report(0.5)
""",
    outcome=Raises(("TypeError", "jax.errors.ConcretizationTypeError"), says=r"[Tt]racer"),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Writes `jax.debug.print` with the same format, where the text is printed at once.",
    ),
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.debug.print.html",
)

_SUBJECTS = {
    "f-string": "a format specification in an f-string",
    "format": "`format` with a specification",
    "%": "a number conversion of `%`",
}


@RULE.on(Convert)
def check(event: Convert) -> Report | None:
    """Report formatting with a specification; ``what`` names the kind of formatting."""
    if event.to != "format":
        return None
    subject = _SUBJECTS.get(event.what, "a format specification")
    return Report(
        f"{subject} needs a concrete number, but the value is traced",
        "print with `jax.debug.print`, or format the result outside the traced function",
    )
