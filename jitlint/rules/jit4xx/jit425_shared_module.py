"""JIT425: a module of Flax NNX, or weights of Equinox, have two names (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import SharedModule

RULE = Rule(
    code="JIT425",
    name="shared-module",
    severity=Severity.WARNING,
    summary="module or weights under two names, which change together, or do not",
    explanation="""\
Arrays never change, so that with parameters in a dict `target = params` keeps them as they are. Modules of Flax NNX are changed in place:
`target = online` is a second name of one object, and what trains `online` changes `target` as well. A target network, an average or the
best model so far then is always the newest one.

The rule speaks of names that say that the module stays behind, such as `target`, `teacher`, `ema` and `best`, where the program trains
modules, and hands this one to compiled code while it has both names.

With Equinox it is the other way round: a module is a tree of arrays, and training makes new ones. Two fields that get the same weights in
the constructor, as the embedding and the head of a language model, go apart with the first step. `eqx.nn.Shared` ties them.
""",
    instead="""\
```python
target = nnx.clone(online)
```
""",
    bad="""\
from flax import nnx


class Value(nnx.Module):
    def __init__(self, rngs):
        self.out = nnx.Linear(2, 1, rngs=rngs)

    def __call__(self, x):
        return self.out(x).sum()


online = Value(nnx.Rngs(0))
target = online  # expect: JIT425


@nnx.jit
def train_step(model, x):
    grads = nnx.grad(lambda model: model(x))(model)
    nnx.update(model, jax.tree.map(lambda p, g: p - 0.1 * g, nnx.state(model), grads))


train_step(online, jnp.ones((3, 2)))
""",
    good="""\
from flax import nnx


class Value(nnx.Module):
    def __init__(self, rngs):
        self.out = nnx.Linear(2, 1, rngs=rngs)

    def __call__(self, x):
        return self.out(x).sum()


online = Value(nnx.Rngs(0))
target = nnx.clone(online)


@nnx.jit
def train_step(model, x):
    grads = nnx.grad(lambda model: model(x))(model)
    nnx.update(model, jax.tree.map(lambda p, g: p - 0.1 * g, nnx.state(model), grads))


train_step(online, jnp.ones((3, 2)))
""",
    outcome=Advisory("nothing is refused: both names are right, of one module"),
    since="0.1",
    reference="https://flax.readthedocs.io/en/latest/nnx_basics.html",
)


@RULE.on(SharedModule)
def check(event: SharedModule) -> Report:
    """Report the assignment."""
    if event.by_value:
        return Report(
            f"`{event.behind}` has the weights of `{event.other}` only until the first step, which gives each of both new ones of its own",
            "tie them with `eqx.nn.Shared`, or use one of both in the place of the other where the module is called",
        )
    return Report(
        f"`{event.behind}` is the same module as `{event.other}`, and changes with it when that is trained",
        f"make a copy: `{event.behind} = nnx.clone({event.other})`",
    )
