"""JIT508: a method is jitted and `self` (or `cls`) becomes a traced argument (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import TransformMisuse

RULE = Rule(
    code="JIT508",
    name="method-self",
    severity=Severity.ERROR,
    summary="jitted method of a plain class",
    explanation="""\
`@jax.jit` on a method makes `self` the first traced argument. An object of a class that is not registered as a pytree
cannot be traced, so every call fails:

> TypeError: Error interpreting argument to <function Model.loss at 0x...> as an abstract array. The problematic value is of type <class '__main__.Model'> and was passed to the function at path self.

With `static_argnums=0` it has to be hashable instead, which an object of a dataclass that is not frozen, or of a class with
`__eq__` alone, is not.

Modules of Flax and Equinox are made for this; use the `jit` of the library with them.
""",
    instead="""\
Jit a function that gets the arrays as arguments:

```python
@jax.jit
def _predict(weights, x):
    return x @ weights

class Model:
    def predict(self, x):
        return _predict(self.weights, x)
```

Or register the class as a pytree (`jax.tree_util.register_dataclass`). `static_argnums=0` is right only for objects
that are hashable and never change: later changes of their attributes are not seen.
""",
    bad="""\
class Line:
    def __init__(self, slope):
        self.slope = slope

    @jax.jit  # expect: JIT508
    def at(self, x):
        return self.slope * x


Line(2.0).at(3.0)
""",
    good="""\
@jax.jit
def _at(slope, x):
    return slope * x


class Line:
    def __init__(self, slope):
        self.slope = slope

    def at(self, x):
        return _at(self.slope, x)


Line(2.0).at(3.0)
""",
    outcome=Raises(
        ("TypeError", "ValueError"),
        later=True,
        says=r"abstract array|valid JAX (array )?type|[Nn]on-hashable static",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Makes `self` static: changes of the object are not seen. If it changes or has no hash, a function "
        "of the module gets what the method reads.",
    ),
    reference="https://docs.jax.dev/en/latest/faq.html#how-to-use-jit-with-methods",
)


@RULE.on(TransformMisuse)
def check(event: TransformMisuse) -> Report | None:
    """Report methods whose receiver is traced; ``detail`` names the class."""
    if not event.problem.startswith("method-self"):
        return None
    receiver = event.parameter or "self"
    named = event.detail and " " not in event.detail
    what = f"an object of class `{event.detail}`" if named else "an object"
    if event.detail == "class":  # of a class method
        what = "a class"
    if event.problem == "method-self-unhashable":
        return Report(
            f"`{event.transform}` on a method makes `{receiver}` static, but {what} has no hash",
            "jit a function that takes what it needs as arguments, or make the class a frozen dataclass",
        )
    return Report(
        f"`{event.transform}` on a method traces `{receiver}`, but {what} is not a pytree",
        "jit a function that takes the arrays as arguments, or register the class as a pytree",
    )
