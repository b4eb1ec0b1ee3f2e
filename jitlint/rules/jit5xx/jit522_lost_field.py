"""JIT522: a pytree forgets an attribute when it is flattened (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import TransformMisuse

RULE = Rule(
    code="JIT522",
    name="lost-field",
    severity=Severity.WARNING,
    summary="attribute that `tree_flatten` leaves out",
    explanation="""\
A class that is registered as a pytree is taken apart by `tree_flatten` and put together by `tree_unflatten` wherever one of its
objects crosses `jax.jit`, `jax.vmap`, `jax.lax.scan` or `jax.tree.map`. An attribute that is neither a child nor a part of the
auxiliary data is lost on the way, and the constructor gives the new object the default: a counter is 0 again, a scale 1.

The rule is silent where nobody reads the attribute, and where the object is put together otherwise than by its constructor.
""",
    instead="""\
Give what is an array, or changes, as a child, and what is static as auxiliary data:

```python
def tree_flatten(self):
    return (self.mean, self.count), (self.decay,)
```

`jax.tree_util.register_dataclass` writes both methods and leaves nothing out.
""",
    bad="""\
@jax.tree_util.register_pytree_node_class
class Average:
    def __init__(self, mean, count=0):
        self.mean, self.count = mean, count

    def updated(self, x):
        return Average(self.mean + (x - self.mean) / (self.count + 1), self.count + 1)

    def tree_flatten(self):
        return (self.mean,), None  # expect: JIT522

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


average = jax.jit(Average.updated)(Average(jnp.zeros(3)), jnp.ones(3))
""",
    good="""\
@jax.tree_util.register_pytree_node_class
class Average:
    def __init__(self, mean, count=0):
        self.mean, self.count = mean, count

    def updated(self, x):
        return Average(self.mean + (x - self.mean) / (self.count + 1), self.count + 1)

    def tree_flatten(self):
        return (self.mean, self.count), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


average = jax.jit(Average.updated)(Average(jnp.zeros(3)), jnp.ones(3))
""",
    outcome=Advisory("nothing is refused, and whether the default will do cannot be observed"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/pytrees.html#extending-pytrees",
)


@RULE.on(TransformMisuse)
def check(event: TransformMisuse) -> Report | None:
    """Report the method that leaves an attribute out; ``parameter`` names it."""
    if event.problem != "lost-field":
        return None
    return Report(
        f"`{event.parameter}` of `{event.detail}` is not flattened, so it has its default again behind every transform",
        "give it as a child if it is an array or changes, and as auxiliary data if it is static",
    )
