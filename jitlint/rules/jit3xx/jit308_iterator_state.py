"""JIT308: traced code takes elements out of an iterator from outside (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import BakesConstant
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import Effect

RULE = Rule(
    code="JIT308",
    name="iterator-state",
    severity=Severity.WARNING,
    summary="iterator from outside moves on only when JAX traces",
    explanation="""\
An iterator, generator or `itertools.count` from outside is state of the host. A traced function takes elements out of it
while JAX traces, once: what it got is a constant of the compiled function, and every call uses the same element.

When JAX traces again, for another shape, the iterator has moved on or is exhausted.
""",
    instead="""\
Take the element outside and pass it in:

```python
for batch in loader:
    state = step(state, batch)
```
""",
    bad="""\
batches = iter([1.0, 2.0, 3.0])


@jax.jit
def step(x):
    return x + next(batches)  # expect: JIT308


stepped = [step(0.0) for _ in range(3)]
""",
    good="""\
batches = iter([1.0, 2.0, 3.0])


@jax.jit
def step(x, batch):
    return x + batch


stepped = [step(0.0, next(batches)) for _ in range(3)]
""",
    outcome=BakesConstant(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#pure-functions",
)


@RULE.on(Effect)
def check(event: Effect) -> Report | None:
    """Report `next` and loops."""
    if event.effect == "next":
        return Report(
            "this takes one element while JAX traces, and every call uses the same",
            "call `next` outside the traced function and pass the element in",
        )
    if event.effect == "iteration":
        return Report(
            "this exhausts an iterator while JAX traces: the next trace finds it empty",
            "make the iterator inside, or pass the elements as a list or tuple",
        )
    return None
