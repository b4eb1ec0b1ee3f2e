"""JIT311: functions that a loop makes read its variable when they run (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import LateBinding

RULE = Rule(
    code="JIT311",
    name="late-binding",
    severity=Severity.WARNING,
    summary="functions made in a loop, which all see its last value",
    explanation="""\
A function reads the variables around it when it is called, not when it is made. Of the functions that a loop makes, each finds what
the loop's variable was left at: `[lambda x: x * k for k in (1.0, 2.0, 3.0)]` are three functions that multiply by 3. Given to
`jax.lax.switch`, all branches do the same, and the index makes no difference.

The same with `{k: jax.jit(lambda x: x * k) for k in factors}`: each function is traced when it is called first, long after the loop.

Reported are the branches of `jax.lax.switch`, and the compiled or otherwise transformed functions that a comprehension collects.
""",
    instead="""\
Hand the value over when the function is made, as a default or with `functools.partial`:

```python
branches = [lambda x, k=k: x * k for k in factors]
branches = [functools.partial(scale, k) for k in factors]
```
""",
    bad="""\
branches = [lambda x: x * k for k in (1.0, 2.0, 3.0)]  # expect: JIT311

doubled = jax.lax.switch(1, branches, 4.0)
""",
    good="""\
branches = [lambda x, k=k: x * k for k in (1.0, 2.0, 3.0)]

doubled = jax.lax.switch(1, branches, 4.0)
""",
    outcome=Advisory("nothing is refused: the branches are chosen as they should be, and do the same"),
    since="0.1",
    reference="https://docs.python.org/3/faq/programming.html#why-do-lambdas-defined-in-a-loop-with-different-values-all-return-the-same-result",
)


@RULE.on(LateBinding)
def check(event: LateBinding) -> Report:
    """Report such functions."""
    if event.transform:
        return Report(
            f"each of the functions that this comprehension collects reads `{event.name}` when `{event.transform}` traces it, and finds the"
            " last one: all do the same",
            f"hand it over when the function is made: `lambda ..., {event.name}={event.name}: ...`, or `functools.partial`",
        )
    return Report(
        f"each of the functions that this loop makes reads `{event.name}` when it is called, and finds the last one: all branches of the"
        " `jax.lax.switch` do the same",
        f"hand it over when the function is made: `lambda ..., {event.name}={event.name}: ...`, or `functools.partial`",
    )
