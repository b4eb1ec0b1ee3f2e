"""JIT213: a choice hides a value, but not its derivative (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import MakesNan
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import NanGradient

RULE = Rule(
    code="JIT213",
    name="nan-gradient",
    severity=Severity.WARNING,
    summary="`where` hides a value whose derivative is infinite",
    explanation="""\
`jnp.where(x > 0, jnp.log(x), 0.0)` gives the right value for every `x`, and a gradient of NaN where `x` is 0. Both
branches are computed for all elements, and reverse mode goes back through both: the branch that was thrown away gets the
gradient 0, multiplies it by the derivative of `log` at 0, which is infinite, and 0 · ∞ is NaN. One such element is enough to
turn all parameters into NaN at the next step of the optimiser.

Reported are choices with `jnp.where` and `jax.lax.select`, and with the argument `where` of `jnp.sum` and its kin, in functions
that are differentiated in reverse mode, whose condition excludes exactly that argument which `log`, `sqrt`, a division or a power
cannot have; roots and norms that get a lower bound
only after they were taken, as in `x / jnp.maximum(jnp.linalg.norm(x), 1e-6)`, which does the same to a row of zeros;
choices that keep the argument of `exp` or `cosh` below a positive number, `jnp.where(x > 20, x, jnp.log1p(jnp.exp(x)))`, as
the derivative of what overflows is infinite, too; roots of what is bounded at 0, `jnp.sqrt(jnp.maximum(x, 0.0))`, and `arccos` or
`arcsin` of what is bounded at -1 and 1, which have no derivative at the bound, or of the cosine of two vectors, which is there when they
lie on one line; roots and norms that are squared again,
`jnp.linalg.norm(x) ** 2`; and the distances between all pairs of the rows of one array, which are 0 for a row and itself.
""",
    instead="""\
Make the argument harmless before the operation, and choose afterwards as well:

```python
safe = jnp.where(x > 0, x, 1.0)
y = jnp.where(x > 0, jnp.log(safe), 0.0)
```

What is zero may itself be a root or a norm, which have no derivative at 0 either: choose before these.
""",
    bad="""\
@jax.grad
def slope(x):
    return jnp.where(x > 0, jnp.log(x), 0.0).sum()  # expect: JIT213


slope(jnp.arange(3.0))
""",
    good="""\
@jax.grad
def slope(x):
    safe = jnp.where(x > 0, x, 1.0)
    return jnp.where(x > 0, jnp.log(safe), 0.0).sum()


slope(jnp.arange(3.0))
""",
    outcome=MakesNan(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/faq.html#gradients-contain-nan-where-using-where",
)


@RULE.on(NanGradient)
def check(event: NanGradient) -> Report | None:
    """Report the operation whose derivative is not finite."""
    if event.choice == "**":
        what = f"`{event.argument}`" if event.argument else "its argument"
        return Report(
            f"the gradient is NaN where {what} is 0: `{event.operation}` is squared again, but has no derivative there",
            f"leave the root out: `jnp.sum({event.argument or 'x'}**2)`",
        )
    if event.choice == "angle":
        return Report(
            f"the gradient is NaN where the two vectors lie on one line: `{event.operation}` has no finite derivative at 1 and -1, and a"
            " cosine that is rounded past them makes the value NaN as well",
            "take the angle from both sides of the triangle: `jnp.arctan2(jnp.sqrt(jnp.sum(jnp.cross(a, b)**2) + 1e-12), a @ b)`, or"
            " bound the cosine a little further in: `jnp.clip(cosine, -1 + 1e-6, 1 - 1e-6)`",
        )
    if event.edge:
        what = f"`{event.argument}`" if event.argument else "its argument"
        return Report(
            f"the gradient is NaN wherever `{event.choice}` bounds {what}: `{event.operation}` has no finite derivative at the bound",
            "bound it a little further in: `jnp.maximum(x, 1e-12)`, `jnp.clip(x, -1 + 1e-6, 1 - 1e-6)`",
        )
    if not event.choice:
        return Report(
            f"the gradient is NaN: each row of `{event.argument}` is compared with itself as well, and `{event.operation}` has "
            "no derivative at the distance 0",
            "make these distances harmless before the root is taken: "
            "`jnp.sqrt(jnp.where(jnp.eye(n, dtype=bool), 1.0, squared))`, and choose afterwards as well",
        )
    zero = f"`{event.argument}`" if event.argument else "its argument"
    names = {"/": "this quotient", "**": "this power"}
    what = names.get(event.operation, f"`{event.operation}`")
    if event.large:
        return Report(
            f"the gradient is NaN where {zero} is large: `{event.choice}` hides that {what} overflows there, but its derivative"
            " is infinite as well",
            f"make {zero} harmless before: `jnp.where(condition, 0.0, {event.argument or 'x'})`, and choose afterwards as"
            " well; for `log(1 + exp(x))` there are `jax.nn.softplus` and `jnp.logaddexp(x, 0.0)`",
        )
    if event.choice not in ("where", "select"):
        return Report(
            f"the gradient is NaN where {zero} is 0: `{event.choice}` bounds the value of {what} there, but not its derivative",
            "bound what the root is taken of: `jnp.sqrt(jnp.maximum(jnp.sum(x**2), eps**2))`",
        )
    state = "negative" if event.below else "0"
    return Report(
        f"the gradient is NaN where {zero} is {state}: `{event.choice}` hides the value of {what} there, but not its derivative",
        f"make {zero} harmless before: `jnp.where(condition, {event.argument or 'x'}, 1.0)`, and choose afterwards as well",
    )
