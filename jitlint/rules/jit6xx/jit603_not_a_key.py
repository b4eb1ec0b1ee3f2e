"""JIT603: a number, or several keys, stand where one PRNG key is wanted (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT603",
    name="not-a-key",
    severity=Severity.ERROR,
    summary="number, shape or several keys where one PRNG key is wanted",
    explanation="""\
The functions of `jax.random` draw from a key, which is an array of its own kind. A seed is no key, neither is a shape
that came first, as in NumPy, nor what `jax.random.split` gives, which is an array of keys:

> TypeError: JAX encountered invalid PRNG key data: expected key_data to have ndim, shape, and dtype attributes. Got 0

> ValueError: normal accepts a single key, but was given a key array of shape (2,) != (). Use jax.vmap for batching.
""",
    instead="""\
Make a key of the seed once, and pick one of several:

```python
key = jax.random.key(0)
noise_key, drop_key = jax.random.split(key)
noise = jax.random.normal(noise_key, (3,))
```
""",
    bad="""\
@jax.jit
def noisy(x):
    return x + jax.random.normal(0, x.shape)  # expect: JIT603


noisy(jnp.ones(3))
""",
    good="""\
@jax.jit
def noisy(x, key):
    return x + jax.random.normal(key, x.shape)


noisy(jnp.ones(3), jax.random.key(0))
""",
    outcome=Raises(("TypeError", "ValueError", "flax.errors.InvalidRngError"), says=r"[Kk]ey"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/random-numbers.html",
)


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report what is no key; ``detail`` says what it is."""
    if event.problem != "no-key":
        return None
    cure = "make a key of a seed, once: `jax.random.key(0)`"
    if event.detail == "several keys":
        cure = "unpack them (`key, sub = jax.random.split(key)`), or map over them with `jax.vmap`"
    elif event.detail in ("a tuple", "a list"):
        cure = "the key comes first, then the shape: `jax.random.normal(key, (3,))`"
    return Report(f"`{event.api}` needs one PRNG key, but gets {event.detail}", cure)
