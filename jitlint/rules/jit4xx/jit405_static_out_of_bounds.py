"""JIT405: an index that is out of bounds whatever the numbers are (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import IgnoresBounds
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import OutOfBounds

RULE = Rule(
    code="JIT405",
    name="static-out-of-bounds",
    severity=Severity.WARNING,
    summary="index that is certainly out of bounds",
    explanation="""\
NumPy raises IndexError for an index beyond the end. JAX cannot raise from compiled code, so it does something quiet:
`x[10]` gives the last element, `x.at[10].set(v)` and its kin do nothing. The program goes on with a wrong number.
That holds without `jit` too.

A window that reaches beyond the end is moved until it fits: `jax.lax.dynamic_slice(x, (28,), (8,))` of 32 elements begins at 24,
and `jax.lax.dynamic_update_slice` writes over what is before it.

Reported are constant indices of arrays with a constant size, indices written with the size of the very array, and those that
a loop counts: a cache of 32 rows, filled in 40 turns, keeps the last row of the last nine; and windows that begin at places which are
drawn below a size without room for them; and numbers of segments or classes that are the largest of them, `int(ids.max())`. Of a counter that is compared with anything nothing is said: somebody thought of the end.
""",
    instead="""\
Use an index that exists: `x[-1]`, `x[x.shape[0] - 1]`. Where an index beyond the end is meant, say so with `mode`:

```python
y = x.at[i].set(v, mode="drop")
z = x.at[i].get(mode="fill", fill_value=0.0)
```
""",
    bad="""\
@jax.jit
def last(x):
    return x[x.shape[0]]  # expect: JIT405


last(jnp.arange(3.0))
""",
    good="""\
@jax.jit
def last(x):
    return x[x.shape[0] - 1]


last(jnp.arange(3.0))
""",
    outcome=IgnoresBounds(),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#out-of-bounds-indexing",
)


@RULE.on(OutOfBounds)
def check(event: OutOfBounds) -> Report | None:
    """Report indices beyond the end."""
    if event.largest:
        return Report(
            f"`{event.largest}` is the largest index itself, for which there is no place then: what belongs there is dropped, without"
            " an error",
            "indices begin at 0, so there is one more of them: `int(x.max()) + 1`",
        )
    if event.window:
        return _moved(event)
    index = f"index {event.index}" if event.index else "the index"
    if event.grows:
        index = f"the index, which goes up to {event.index},"
    effect = "the update is dropped" if event.update else "JAX takes the nearest element instead"
    if event.update == "get":
        effect = "JAX fills in a value instead"
    size = event.size if event.size.isdigit() else f"`{event.size}`"
    return Report(
        f"{index} is out of bounds for an axis of size {size}: {effect}, without an error",
        "the last element is `x[-1]`; if this is meant, say so with `.at[...]` and `mode=`",
    )


def _moved(event: OutOfBounds) -> Report:
    """A window that JAX moves until it is inside of the array."""
    if event.beyond:
        lie = "1 lies" if event.beyond == 1 else f"{event.beyond} lie"
        return Report(
            f"`{event.window}` starts at up to `{event.index}` with {event.length} elements, of which {lie} beyond the end:"
            " it then starts earlier instead, without an error",
            f"draw numbers that are smaller by {event.beyond}",
        )
    start, length, size = int(event.index), int(event.length), int(event.size)
    first = min(max(start + size if start < 0 else start, 0), size - length)
    many = "1 element" if length == 1 else f"{length} elements"
    to, then = ("up to ", "then ") if event.grows else ("", "")
    return Report(
        f"`{event.window}` starts at {to}{start} with {many}, but the axis has {size}: it {then}starts at {first} instead,"
        " without an error",
        "let it end where the axis ends, or make the array longer with `jnp.pad`",
    )
