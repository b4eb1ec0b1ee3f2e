"""JIT507: a traced argument gets a value that is neither an array nor a pytree of arrays (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import TransformMisuse

RULE = Rule(
    code="JIT507",
    name="non-array-argument",
    severity=Severity.ERROR,
    summary="str, function or object passed as a traced argument",
    explanation="""\
Arguments of a jitted function that are not static must be arrays, Python numbers, `None`, or tuples, lists, dicts and
registered classes of these. A str, a function, a dtype, a set or an object of a plain class cannot be traced:

> TypeError: Error interpreting argument to <function norm at 0x...> as an abstract array. The problematic value is of type <class 'str'> and was passed to the function at path kind.

The same holds for the fields of an object: a name or an option among the leaves of a registered class is refused with it. Where a class keeps some of its fields static, the rule warns of others that its
annotations call a set or an object of a plain class.
""",
    instead="""\
Make options and functions static, register classes that hold arrays:

```python
@partial(jax.jit, static_argnames="kind")
def norm(x, kind): ...

@jax.tree_util.register_dataclass
@dataclass
class State: ...
```
""",
    bad="""\
@jax.jit
def norm(x, kind):
    return jnp.sum(jnp.abs(x)) if kind == "l1" else jnp.sqrt(jnp.sum(x**2))


norm(jnp.ones(3), "l1")  # expect: JIT507
""",
    good="""\
from functools import partial


@partial(jax.jit, static_argnames="kind")
def norm(x, kind):
    return jnp.sum(jnp.abs(x)) if kind == "l1" else jnp.sqrt(jnp.sum(x**2))


norm(jnp.ones(3), "l1")
""",
    outcome=Raises(
        ("TypeError", "ValueError"),
        says=r"abstract array|valid JAX (array )?type|requires ndarray or scalar|during abstractification",
    ),
    cases={
        "flag": Raises(
            ("ValueError", "TypeError"), later=True, says="pytree structure error|real- or complex-valued"
        )
    },
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Adds the parameter to `static_argnames` of the `jax.jit` in the same file: the function is compiled for each of"
        " its values.",
    ),
    reference="https://docs.jax.dev/en/latest/pytrees.html",
)


@RULE.on(TransformMisuse)
def check(event: TransformMisuse) -> Report | None:
    """Report arguments that cannot be traced; ``detail`` says what is passed."""
    if event.problem == "function-leaf":
        return Report(
            f"`{event.transform}` makes an array like each leaf of the parameters, but gets {_named(event.detail)}",
            "give it the arrays only: `eqx.filter(model, eqx.is_array)`",
        )
    if event.problem == "flag-leaf":
        return Report(
            f"`{event.transform}` makes an array like each leaf of the parameters, also of the truth value that `{event.detail}`"
            " holds, for which there are no gradients: `update` refuses them",
            "give it what is differentiated: `eqx.filter(model, eqx.is_inexact_array)`",
            case="flag",
        )
    if event.problem == "non-array-field":
        owner, held, static = event.detail.split()
        return Report(
            f"the field `{event.parameter}` of `{owner}` is traced like an array, but holds {_named(held)}: `jax.jit`,"
            f" `jax.vmap` and loops refuse it (`{static}` beside it is static)",
            "make it a static field as well, such as `eqx.field(static=True)`",
            severity=Severity.WARNING,
        )
    if event.problem == "non-array-operand":
        return Report(
            f"`{event.parameter}` of `{event.transform}` is traced, but gets {_named(event.detail)}",
            "register the class as a pytree, or let the functions use the value without handing it to them",
        )
    if event.problem != "non-array-argument":
        return None
    argument = f"the argument `{event.parameter}`" if event.parameter else "an argument"
    value = _named(event.detail or "a value that is neither an array nor a pytree of arrays")
    help_ = "list the parameter in `static_argnames`, or register the class as a pytree"
    if "which holds" in value:
        help_ = "use the transforms of Equinox, such as `eqx.filter_jit`, or mark the field `eqx.field(static=True)`"
    if "whose field" in value:
        help_ = "keep the field out of the leaves: list it in `meta_fields`, or mark it static where it is declared"
    return Report(f"{argument} of a function under `{event.transform}` is traced, but gets {value}", help_)


def _named(value: str) -> str:
    return value if " " in value else f"a value of type `{value}`"
