"""JIT523: a pytree is put together by a constructor that refuses some leaves (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import TransformMisuse

RULE = Rule(
    code="JIT523",
    name="refusing-constructor",
    severity=Severity.WARNING,
    summary="pytree that is put together by a constructor which checks its leaves",
    explanation="""\
JAX takes a pytree apart and puts it together again with whatever has become of its leaves: `jax.vmap` gives back leaves with one
axis more, `jax.grad` gives an object whose leaves are the gradients, `jax.eval_shape` one of shapes, `in_axes` one of numbers, and
JAX itself puts `None` or `object()` there. A constructor that checks what it gets refuses them, in the middle of a
transform that has nothing to do with the check. What is raised is the constructor's own error; of the objects below

> ValueError: one scale for each element of a vector

though each of them has a vector, as `jax.vmap` gives back one object with a matrix.

The constructor of a dataclass that was registered, or made by `flax.struct.dataclass`, is called each time, too, and with it
`__post_init__`; it gets the fields by name, so that an `__init__` of its own with other parameters fails in each transform. The rule is silent where the condition knows of such leaves, as `isinstance` and `hasattr` do.
""",
    instead="""\
Put the object together without its constructor:

```python
@classmethod
def tree_unflatten(cls, aux, children):
    new = object.__new__(cls)
    new.mean, new.scale = children
    return new
```
""",
    bad="""\
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, scale):
        if mean.shape != scale.shape:
            raise ValueError("mean and scale differ in shape")
        if scale.ndim > 1:
            raise ValueError("one scale for each element of a vector")
        self.mean, self.scale = mean, scale

    def tree_flatten(self):
        return (self.mean, self.scale), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)  # expect: JIT523

normals = jax.vmap(lambda x: Normal(x, jnp.ones_like(x)))(jnp.ones((4, 3)))
""",
    good="""\
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, scale):
        if mean.shape != scale.shape:
            raise ValueError("mean and scale differ in shape")
        if scale.ndim > 1:
            raise ValueError("one scale for each element of a vector")
        self.mean, self.scale = mean, scale

    def tree_flatten(self):
        return (self.mean, self.scale), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        new = object.__new__(cls)
        new.mean, new.scale = children
        return new

normals = jax.vmap(lambda x: Normal(x, jnp.ones_like(x)))(jnp.ones((4, 3)))
""",
    outcome=Raises(("ValueError", "TypeError", "AssertionError", "AttributeError"), later=True),
    since="0.2",
    reference="https://docs.jax.dev/en/latest/pytrees.html#custom-pytrees-and-initialization",
)


@RULE.on(TransformMisuse)
def check(event: TransformMisuse) -> Report | None:
    """Report the call that puts an object together; ``parameter`` names the leaf that is checked."""
    if event.problem == "refusing-dataclass":
        return Report(
            f"`{event.detail}` is put together by its constructor, which refuses some forms of `{event.parameter}`: transforms give it"
            " batches, shapes and placeholders",
            "check the form in a function that makes such objects, and not in `__post_init__`, which runs in every transform",
        )
    if event.problem == "foreign-constructor":
        return Report(
            f"`{event.detail}` is put together by its constructor, which gets the fields by name, but {event.parameter}",
            "leave the constructor to the dataclass, and compute the fields in a class method or function that makes such objects",
        )
    if event.problem != "refusing-constructor":
        return None
    return Report(
        f"`{event.detail}` is put together by its constructor, which refuses some values of `{event.parameter}`: transforms give it"
        " batches, gradients, shapes and placeholders",
        "put it together without the constructor, `new = object.__new__(cls)`, and set its attributes",
    )
