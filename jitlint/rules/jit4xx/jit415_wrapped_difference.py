"""JIT415: the difference of unsigned integers wraps around below zero (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import WrappedDifference

RULE = Rule(
    code="JIT415",
    name="wrapped-difference",
    severity=Severity.WARNING,
    summary="difference of small unsigned integers, which wraps around below zero",
    explanation="""\
The difference of two `uint8` arrays is a `uint8` array: `3 - 5` is `254`. Of two pictures, each pixel that became a little darker
seems to have changed the most. `jnp.abs` comes too late, and so does `astype` after the subtraction.

```python
changed = jnp.abs(frame - background).astype(jnp.float32)   # 253.0 where it should be 3.0
```

A whole number of Python's takes the type of the array, so that `images - 128` wraps around as well. A number with a fraction,
`images - 127.5`, makes floats of it.

The rule is silent in functions that work on bits, where numbers are meant to wrap, and about arrays of 32 bits.
""",
    instead="""\
Make the numbers wider before they are subtracted:

```python
changed = jnp.abs(frame.astype(jnp.float32) - background.astype(jnp.float32))
```
""",
    bad="""\
frame = jnp.array([3, 200], jnp.uint8)
background = jnp.array([5, 100], jnp.uint8)

changed = jnp.abs(frame - background)  # expect: JIT415
""",
    good="""\
frame = jnp.array([3, 200], jnp.uint8)
background = jnp.array([5, 100], jnp.uint8)

changed = jnp.abs(frame.astype(jnp.int16) - background.astype(jnp.int16))
""",
    outcome=Advisory("nothing is refused, and whether a difference is negative hangs on the numbers"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/type_promotion.html",
)


@RULE.on(WrappedDifference)
def check(event: WrappedDifference) -> Report:
    """Report the subtraction."""
    if event.number:
        return Report(
            f"a number of Python's takes the type of the array: what is less than {event.number} wraps around in `{event.dtype}`, as"
            f" `3 - 5` does to `{2 ** int(event.dtype[4:]) - 2}`",
            f"make the array wider first: `x.astype(jnp.float32) - {event.number}`",
        )
    return Report(
        f"the difference of two `{event.dtype}` arrays wraps around wherever it is negative: `3 - 5` is"
        f" `{2 ** int(event.dtype[4:]) - 2}`",
        "make them wider before they are subtracted: `x.astype(jnp.float32) - y.astype(jnp.float32)`",
    )
