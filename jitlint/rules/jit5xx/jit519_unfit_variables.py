"""JIT519: variables of a module of `flax.linen` in another form than ``apply`` takes (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ApiMisuse

_ERRORS = (
    "flax.errors.ScopeCollectionNotFound",
    "flax.errors.ScopeVariableNotFoundError",
    "flax.errors.ScopeParamNotFoundError",
    "flax.errors.ApplyScopeInvalidVariablesStructureError",
    "flax.errors.ApplyScopeInvalidVariablesTypeError",
    "flax.errors.InvalidRngError",
)

RULE = Rule(
    code="JIT519",
    name="unfit-variables",
    severity=Severity.ERROR,
    summary="`apply` of a Flax module gets variables of another form",
    explanation="""\
The variables of a module of `flax.linen` are a dict of collections: the parameters are one of them, `"params"`, and layers that
keep statistics or a cache have others. `init` gives the whole dict, and `apply` takes it:

> ScopeCollectionNotFound: Tried to access "kernel" from collection "params" in "/Dense_0" but the collection is empty.

is what it says of the parameters alone, or of parameters without the statistics that a layer reads, and

> ApplyScopeInvalidVariablesStructureError: Expect the `variables` (first argument) passed to apply() to be a dict with the structure {"params": ...}, but got a dict with an extra params layer

of a whole dict that was put under `"params"` once more. `init` takes the key first and `apply` the variables, both before the
arguments of the module.
""",
    instead="""\
```python
variables = net.init(key, x)
params, stats = variables["params"], variables["batch_stats"]

y = net.apply(variables, x)
y = net.apply({"params": params, "batch_stats": stats}, x)
```
""",
    bad="""\
import flax.linen as nn

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)


params = Net().init(jax.random.key(0), jnp.ones(2))["params"]
Net().apply(params, jnp.ones(2))  # expect: JIT519
""",
    good="""\
import flax.linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)


params = Net().init(jax.random.key(0), jnp.ones(2))["params"]
Net().apply({"params": params}, jnp.ones(2))
""",
    outcome=Raises(
        (*_ERRORS, "TypeError"),
        later=True,
        says=r"__contains__|is empty|No Variable named|the structure|should be a dictionary|RNGs should be",
    ),
    since="0.1",
    reference="https://flax-linen.readthedocs.io/en/latest/api_reference/flax.errors.html",
)


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report variables that do not fit; ``parameter`` names a collection."""
    if event.problem == "bare-variables":
        return Report(
            "`apply` takes a dict of collections, but gets the parameters alone, which are one of them",
            'put them into one: `apply({"params": params}, ...)`',
        )
    if event.problem == "wrapped-variables":
        return Report(
            f"the collection `{event.parameter}` that `apply` gets is a whole dict of collections, as `init` gives it",
            f'hand that in as it is, or take the collection out of it: `variables["{event.parameter}"]`',
        )
    if event.problem == "missing-collection":
        return Report(
            f"`{event.api}` reads the collection `{event.parameter}`, but the variables that `apply` gets have none",
            f'keep it beside the parameters, and pass both: `apply({{"params": params, "{event.parameter}": stats}}, ...)`',
        )
    if event.problem == "swapped-variables":
        return Report(
            "`apply` takes the variables first, but gets an array",
            "call `apply(variables, x)`",
        )
    if event.problem == "swapped-key":
        return Report(
            "`init` takes a PRNG key first, but gets an array of data",
            "call `init(jax.random.key(0), x)`",
        )
    return None
