"""JIT504: `static_argnums` or `static_argnames` do not fit the function (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import TransformMisuse

RULE = Rule(
    code="JIT504",
    name="bad-static-spec",
    severity=Severity.ERROR,
    summary="static argument that the function does not have",
    explanation="""\
`static_argnums` and `static_argnames` are checked against the signature when the function is wrapped:

> ValueError: Jitted function has invalid argnames {'q'} in static_argnames. Function does not take these args.

> ValueError: Jitted function has static_argnums=(5,), but only accepts 2 positional arguments.

A parameter that was renamed or removed is the usual reason. Positional-only parameters can only be given by number.

JAX takes the names of `static_argnums` from the signature only where `static_argnames` is not given, and the other way
round. With both, an argument that is static by its position becomes a traced value as soon as somebody passes it by name.
""",
    instead="""\
Name the parameter exactly as in the signature:

```python
@partial(jax.jit, static_argnames=("steps",))
def solve(x, steps): ...
```

Names survive reordering; numbers do not.
""",
    bad="""\
from functools import partial


@partial(jax.jit, static_argnames=("step",))  # expect: JIT504
def solve(x, steps):
    for _ in range(steps):
        x = x / 2
    return x
""",
    good="""\
from functools import partial


@partial(jax.jit, static_argnames=("steps",))
def solve(x, steps):
    for _ in range(steps):
        x = x / 2
    return x


solve(1.0, 3)
""",
    outcome=Raises(
        ("ValueError", "TypeError"),
        says=r"^(?!.*unexpected keyword).*(static|donate)_arg(nums|names)|cannot be interpreted as an integer",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Writes the parameter's name that is nearest to the one given.",
    ),
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.jit.html",
)


@RULE.on(TransformMisuse)
def check(event: TransformMisuse) -> Report | None:
    """Report indices and names that do not exist; ``detail`` (or ``parameter``) names them."""
    given = event.parameter or event.detail
    if event.problem == "static-out-of-range":
        number = f"`{given}`" if given else "an index"
        return Report(
            f"{number} in the static or donated argument numbers of `{event.transform}` is out of range",
            "count the positional parameters from 0, or give names with `static_argnames`",
        )
    if event.problem == "static-not-a-number":
        return Report(
            f"`{event.parameter}` of `{event.transform}` takes integers, not text",
            "write positions, counted from 0"
            if event.parameter == "argnums"
            else "pass the positions as integers, or give names with `static_argnames`",
        )
    if event.problem == "static-and-donated":
        return Report(
            f"the argument `{event.detail or given}` of `{event.transform}` is both static and donated",
            "donate only arrays: an argument is either static or donated",
        )
    if event.problem == "static-by-position":
        return Report(
            f"`{given}` is static by its position only, but a call passes it by name, so it is traced there",
            "list it in `static_argnames`: beside names, positions are not turned into names",
            severity=Severity.WARNING,
        )
    if event.problem == "static-unknown-name":
        name = f"`{given}`" if given else "a name"
        return Report(
            f"{name} in the static or donated argument names of `{event.transform}` is not a parameter",
            "use the name from the signature; positional-only parameters need `static_argnums`",
        )
    return None
