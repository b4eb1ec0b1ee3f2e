"""JIT516: a module of `flax.linen` is made or called where nothing holds its parameters (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT516",
    name="unbound-module",
    severity=Severity.ERROR,
    summary="Flax module made or called where nothing holds its parameters",
    explanation="""\
A module of `flax.linen` holds no parameters: `apply` brings them, for the time of one call. A module that is called by itself
has none:

> CallCompactUnboundModuleError: Can't call compact methods on unbound modules

That is so in a function as well, where it makes the module itself, and the program runs it outside of all modules. So has one of which another method is called, compact or with layers that `setup` makes:

> AttributeError: "Net" object has no attribute "head". If "head" is defined in '.setup()', remember these fields are only accessible from inside 'init' or 'apply'.

Modules inside of others find theirs by the names that these give them, in `setup` or in a method under `@nn.compact`. Other
methods give no names:

> AssignSubModuleError: Submodule Dense must be defined in `setup()` or in a method wrapped in `@compact`

A name can be given to one of them only:

> NameInUseError: Could not create submodule "mix" in Module Net: Name in use.
""",
    instead="""\
```python
variables = net.init(key, x)
y = net.apply(variables, x)    # net(x)


class Net(nn.Module):
    @nn.compact                # or: self.head = nn.Dense(3) in `setup`
    def __call__(self, x):
        return nn.Dense(3)(x)
```
""",
    bad="""\
import flax.linen as nn


class Net(nn.Module):
    def __call__(self, x):
        return nn.Dense(3)(x)  # expect: JIT516


variables = Net().init(jax.random.key(0), jnp.ones(2))
""",
    good="""\
import flax.linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)


variables = Net().init(jax.random.key(0), jnp.ones(2))
""",
    outcome=Raises(("flax.errors.AssignSubModuleError", "flax.errors.CallCompactUnboundModuleError")),
    cases={
        "late": Raises(("AttributeError",), later=True, says="only accessible from inside"),
        "named": Raises(("flax.errors.NameInUseError",), spread=True),
    },
    since="0.1",
    reference="https://flax-linen.readthedocs.io/en/latest/api_reference/flax.errors.html",
)


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report modules that nothing holds."""
    if event.problem == "missing-scope":
        return Report(
            f"`{event.api}` is made in `{event.parameter}`, which is neither `setup` nor under `@nn.compact`",
            "put `@nn.compact` on the method, or make the module in `setup`: `self.head = ...`",
        )
    if event.problem == "name-in-use":
        return Report(
            f"the name `{event.parameter}` is given to more than one layer here, but a module has one for each",
            'leave the name out, or number it: `name=f"dense_{i}"`',
            case="named",
        )
    if event.problem == "no-scope" and event.detail == "made":
        return Report(
            f"`{event.api}` is made by `setup`, and is there only while the module runs",
            'write a method that calls it, and run that: `model.apply(variables, x, method="encode")`',
            case="late",
        )
    if event.problem == "no-scope" and event.detail:
        return Report(
            f"`{event.api}` is called by itself, on a module without parameters",
            f'bring them: `model.apply(variables, x, method="{event.parameter}")`',
            case="late" if event.detail == "inside" else "",
        )
    if event.problem == "no-scope":
        return Report(
            f"the module `{event.api}` is called by itself, without parameters",
            f"make them and bring them: `variables = {event.api}.init(key, x)`, `{event.api}.apply(variables, x)`",
        )
    return None
