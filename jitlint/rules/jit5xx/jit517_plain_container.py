"""JIT517: a field of a module of `flax.nnx` gets modules in a plain list, tuple or dict (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT517",
    name="plain-container",
    severity=Severity.ERROR,
    summary="Flax NNX modules in a plain list",
    explanation="""\
A module of `flax.nnx` is a pytree, and takes a plain list, tuple or dict for a constant of the program. Since flax 0.12 it refuses
one with modules or variables in it when a field is assigned:

> ValueError: Found data on value of type '<class 'list'>' assigned to static attribute 'blocks' of Pytree type '<class 'Net'>'. Static attributes should not contain data values.

Lists and dicts of its own are meant to hold them. They are older than the refusal, so they work with an older flax as well.

This is an error if the project's requirements allow no older flax than 0.12, a warning if they say nothing of it, and not reported if
they, or the JAX in use, allow no newer one. A list that is filled after it was assigned is refused too, and not found.
""",
    instead="""\
```python
self.blocks = nnx.List([Block(rngs=rngs) for _ in range(4)])
self.heads = nnx.Dict(words=nnx.Embed(8, 4, rngs=rngs))
```
""",
    bad="""\
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layers = [nnx.Linear(2, 2, rngs=rngs) for _ in range(3)]  # expect: JIT517


Net(nnx.Rngs(0))
""",
    good="""\
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.layers = nnx.List([nnx.Linear(2, 2, rngs=rngs) for _ in range(3)])


Net(nnx.Rngs(0))
""",
    outcome=Raises(("ValueError",), says="Found data on value"),
    since="0.1",
    reference="https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/helpers.html",
)

_INSTEAD = {"list": "nnx.List(...)", "tuple": "nnx.List(...)", "dict": "nnx.Dict(...)"}


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report fields that get modules in what is taken for a constant."""
    if event.problem != "plain-container":
        return None
    return Report(
        f"the field `{event.parameter}` of `{event.api}` gets modules or variables in a plain {event.cure}, which flax"
        f" {event.since} and newer refuse",
        f"put them into `{_INSTEAD[event.cure]}`, or say that it holds data: `nnx.data(...)`",
        None if event.detail == "asked" else Severity.WARNING,
    )
