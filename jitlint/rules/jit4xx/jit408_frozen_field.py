"""JIT408: a field of an object that cannot be changed is assigned (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ArrayStore

RULE = Rule(
    code="JIT408",
    name="frozen-field",
    severity=Severity.ERROR,
    summary="assignment to a field of a frozen object",
    explanation="""\
The classes that carry state through JAX are frozen on purpose: a NamedTuple, a `flax.struct.dataclass`, an `equinox.Module`,
a frozen dataclass, a `flax.linen.Module` outside of `setup`, or after its `super().__post_init__()`. Their fields are set once, when the object is made:

> dataclasses.FrozenInstanceError: cannot assign to field 'x'

> AttributeError: can't set attribute

The constructor of an `equinox.Module` sets the fields that the class declares, by annotations in its body, and no other.
""",
    instead="""\
Make a new object with the new value, and return it:

```python
state = state.replace(step=state.step + 1)  # flax.struct
state = state._replace(step=state.step + 1)  # NamedTuple
state = dataclasses.replace(state, step=state.step + 1)
model = eqx.tree_at(lambda m: m.step, model, model.step + 1)
```
""",
    bad="""\
from typing import NamedTuple


class State(NamedTuple):
    x: jax.Array


@jax.jit
def step(state):
    state.x = state.x + 1.0  # expect: JIT408
    return state


step(State(jnp.ones(3)))
""",
    good="""\
from typing import NamedTuple


class State(NamedTuple):
    x: jax.Array


@jax.jit
def step(state):
    return state._replace(x=state.x + 1.0)


step(State(jnp.ones(3)))
""",
    outcome=Raises(
        (
            "dataclasses.FrozenInstanceError",
            "flax.errors.SetAttributeFrozenModuleError",
            "AttributeError",
        ),
        says=r"cannot assign to field|can't set attribute|has no setter|[Ff]rozen",
    ),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/pytrees.html",
)


@RULE.on(ArrayStore)
def check(event: ArrayStore) -> Report | None:
    """Report assignments to fields; ``what`` names class and field."""
    if event.op == "undeclared":
        name, _, field = event.what.rpartition(".")
        return Report(
            f"`{name}` does not declare the field `{field}`, and a module of Equinox sets none but those",
            f"declare it in the body of the class: `{field}: jax.Array`, or `{field}: int = eqx.field(static=True)` for what is no data",
        )
    if event.op != "field":
        return None
    name, _, field = event.what.rpartition(".")
    what = f"`{name}`" if name else "this class"
    which = f"the field `{field}`" if field else "a field"
    return Report(
        f"{which} is assigned, but objects of {what} are frozen",
        f"make a new object: `.replace({field or 'field'}=...)`, `._replace(...)` of a NamedTuple, `dataclasses.replace(...)` or"
        " `eqx.tree_at`, and return it",
    )
