"""JIT509: an array is read after its buffer was donated (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory, Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import DonatedRead

RULE = Rule(
    code="JIT509",
    name="donated-reuse",
    severity=Severity.ERROR,
    summary="array used after its buffer was donated",
    explanation="""\
`donate_argnums` and `donate_argnames` let JAX write the result into the memory of an argument. The argument is gone
then, under every name that it has: as a variable, an attribute, an element of a container, inside a pytree.

> RuntimeError: Array has been deleted with shape=float32[3].

Where the operation that reads it was compiled before, the runtime says it:

> ValueError: INVALID_ARGUMENT: Invalid buffer passed to Execute() as argument 1 to replica 0: INVALID_ARGUMENT: Buffer
> has been deleted or donated.

That happens on CPUs too. `.shape`, `.dtype` and the like still answer. An argument survives when it is a NumPy
array, when no result has room for it (JAX warns), and when the call itself is traced.

The arguments of a bound method are counted without `self`: `jax.jit(self.step, donate_argnums=1)` donates `batch` of
`self.step(state, batch)`. The rule warns where the call replaces the argument before the one that is donated.
""",
    instead="""\
Put the result in the place of what was donated, or donate a copy:

```python
state = step(state)
new = step(state.copy())  # `state` is needed later
```
""",
    bad="""\
step = jax.jit(lambda s: s * 2, donate_argnums=0)


def advance(state):
    new = step(state)
    return new - state  # expect: JIT509


advance(jnp.ones(3))
""",
    good="""\
step = jax.jit(lambda s: s * 2, donate_argnums=0)


def advance(state):
    state = step(state)
    return state - 1.0


advance(jnp.ones(3))
""",
    outcome=Raises(("RuntimeError", "ValueError"), spread=True, says=r"deleted|donated"),
    cases={
        "twice": Raises(
            ("jax.errors.JaxRuntimeError", "jaxlib.xla_extension.XlaRuntimeError", "ValueError"),
            says=r"donate",
        ),
        "counted": Advisory("nothing is refused: JAX warns where no result has room for the buffer"),
    },
    since="0.1",
    heading="because",
    reference="https://docs.jax.dev/en/latest/buffer_donation.html",
)


@RULE.on(DonatedRead)
def check(event: DonatedRead) -> Report | None:
    """Report reads of what a call took over."""
    name = f"`{event.name}`" if event.name else "`{expr}`"
    named = event.callee.rpartition(".")[2]
    callee = "the jitted function" if not named or named == "<lambda>" else f"`{named}`"
    if event.form == "again":
        return Report(
            f"{name} goes to {callee}, which takes over its buffer, and goes there again the next time",
            f"rebind it: `{event.name or 'x'} = ...`, or pass a copy",
        )
    if event.form == "counted":
        return Report(
            f"{callee} takes over the buffers of `{event.given}`, and not those of `{event.name}`, which the call replaces",
            "the arguments of a bound method are counted without `self`: `donate_argnums` begins with 0 at the first of the call",
            severity=Severity.WARNING,
            case="counted",
        )
    if event.form == "kept":
        return Report(
            f"`{{expr}}` is read here, but {callee} takes over its buffer in the turn after the one that kept it",
            f"keep a copy: `jax.tree.map(jnp.copy, {event.name or 'state'})`; another name is the same buffer",
        )
    if event.form == "method":
        return Report(
            f"`{{expr}}` is read here, but {callee} took over its buffer in another method",
            "store the result back into the attribute, or donate a copy",
        )
    if event.form == "twice":
        return Report(
            f"{callee} takes over the buffer of {name}, and gets the same array once more in this call, which JAX refuses",
            "pass a copy (`x.copy()`): another name for an array is the same buffer",
            case="twice",
        )
    if event.form == "inside":
        return Report(
            f"{callee} takes over all buffers of this argument, which holds the arrays of {name} twice: JAX refuses that",
            f"make each its own: `jax.tree.map(jnp.copy, {event.name})`, or make the arrays anew for each place",
            case="twice",
        )
    return Report(
        f"`{{expr}}` is read after its buffer was donated to {callee}",
        "use the result of that call instead, or donate a copy (`x.copy()`)",
    )
