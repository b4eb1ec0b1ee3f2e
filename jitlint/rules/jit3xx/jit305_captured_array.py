"""JIT305: traced code reads an array of the world outside that changes, or that is huge (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory, BakesConstant
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import Capture

RULE = Rule(
    code="JIT305",
    name="captured-array",
    severity=Severity.WARNING,
    summary="traced code captures an array that is changed after the trace",
    explanation="""\
An array that a traced function does not get as an argument is copied into the compiled program as a constant.
Rebinding the name, or changing a NumPy buffer in place, has no effect on what is compiled already, until an argument
of a new shape makes JAX trace again: the answers then depend on the history of calls.

A very large array that is captured makes compilation slow, and the program holds a copy of its own: told as info from a million
elements on, and as a warning from four million.
""",
    instead="""\
Pass the array as an argument:

```python
@jax.jit
def evaluate(x, board):
    return jnp.sum(x + board)
```
""",
    bad="""\
board = np.zeros(4)


@jax.jit
def evaluate(x):
    return jnp.sum(x + board)  # expect: JIT305


evaluate(1.0)
board[0] = 1.0
evaluate(1.0)
""",
    good="""\
board = np.zeros(4)


@jax.jit
def evaluate(x, board):
    return jnp.sum(x + board)


evaluate(1.0, board)
board[0] = 1.0
evaluate(1.0, board)
""",
    outcome=BakesConstant(),
    cases={"large": Advisory("the results are the same: the program is only larger, and slower to compile")},
    since="0.1",
    reference="https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#pure-functions",
)


_HUGE = 4_000_000
"""Elements, 16 MB of 32-bit numbers, that nobody wants to have in a program."""


@RULE.on(Capture)
def check(event: Capture) -> Report | None:
    """Report captured arrays that change, and huge ones as worth knowing."""
    if event.kind != "array":
        return None
    if event.problem == "large":
        return Report(
            f"`{{expr}}` has {event.size:,} elements, and they become constants of the compiled program",
            "pass the array to the traced function as an argument",
            None if event.size >= _HUGE else Severity.INFO,
            case="large",
        )
    who = f"`{event.writer}` changes it" if event.writer else "it is changed"
    return Report(
        f"the array `{{expr}}` is copied while JAX traces, but {who} later: compiled code goes on with the old one",
        "pass the array to the traced function as an argument",
    )
