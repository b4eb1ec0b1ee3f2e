"""JIT111: a traced value is hashed (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import Convert

RULE = Rule(
    code="JIT111",
    name="traced-hash",
    severity=Severity.ERROR,
    summary="JAX array used where Python needs a hash",
    explanation="""\
Keys of a dict, members of a set and arguments of a function under `functools.lru_cache` are looked up by hash. JAX
arrays, traced or not, have none:

> TypeError: unhashable type: 'DynamicJaxprTracer'

The lookup would also need the value, which does not exist while the function is being traced.
""",
    instead="""\
Look the value up in an array, or key the dict by something static, such as a name or a shape:

```python
price = jnp.array([1.0, 2.5, 4.0])[i]
kernel = cache[x.shape]
```
""",
    bad="""\
PRICES = {0: 1.0, 1: 2.5}


@jax.jit
def cost(item, count):
    return PRICES[item] * count  # expect: JIT111


cost(1, 3.0)
""",
    good="""\
PRICES = (1.0, 2.5)


@jax.jit
def cost(item, count):
    return jnp.array(PRICES)[item] * count


cost(1, 3.0)
""",
    outcome=Raises(("TypeError",), says=r"unhashable type: '[\w.]*(Tracer|ArrayImpl)"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/faq.html",
)

_SUBJECTS = {
    "dict key": "a dict key",
    "set member": "a member of a set",
    "membership": "`in` on a dict or set",
    "hash()": "`hash()`",
    "lru_cache": "an argument of a function under `lru_cache`",
}


@RULE.on(Convert)
def check(event: Convert) -> Report | None:
    """Report hashing; ``what`` names the operation."""
    if event.to != "hash":
        return None
    subject = _SUBJECTS.get(event.what, event.what or "this operation")
    if event.what == "lru_cache":
        cure = "remove the cache, or pass only static values to the cached function"
    else:
        cure = "look the value up in an array (`jnp.array(values)[i]`), or use a static key such as `x.shape`"
    return Report(f"{subject} needs a hash, but the value is a JAX array", cure)
