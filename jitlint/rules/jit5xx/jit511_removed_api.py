"""JIT511: a name is used that JAX has removed (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT511",
    name="removed-api",
    severity=Severity.ERROR,
    summary="name that JAX has removed",
    explanation="""\
JAX deprecates names for some months and then removes them. Code written for an older version fails when the name is
imported or looked up:

> AttributeError: module 'jax' has no attribute 'tree_map'

JAX 0.6 to 0.8:

> AttributeError: jax.tree_map was removed in JAX v0.6.0: use jax.tree.map (jax v0.4.25 or newer) or jax.tree_util.tree_map (any JAX version).

For a JAX before 0.8, `jax.jit` with nothing but options (`@jax.jit(static_argnums=0)`) is reported, too: only newer versions
make a decorator of it.

> TypeError: jit() missing 1 required positional argument: 'fun'
""",
    instead="""\
Use the replacement, which works in older versions too in most cases:

```python
doubled = jax.tree.map(lambda leaf: 2 * leaf, params)
```
""",
    bad="""\
def double(params):
    return jax.tree_map(lambda leaf: 2 * leaf, params)  # expect: JIT511


double({"w": jnp.ones(3)})
""",
    good="""\
def double(params):
    return jax.tree.map(lambda leaf: 2 * leaf, params)


double({"w": jnp.ones(3)})
""",
    outcome=Raises(
        ("AttributeError", "ModuleNotFoundError", "ImportError", "TypeError"),
        says=r"\bjax(lib)?\b|unexpected keyword argument|takes .* positional|config option|abstract array"
        r"|Tracer has no attribute|\barr\.\w+ has been deprecated",
    ),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Writes the name that took its place, as the file imports it, if nothing but the name has changed.",
    ),
    reference="https://docs.jax.dev/en/latest/changelog.html",
)


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report removed names (``cure`` names the replacement), and a call that only newer versions take."""
    if event.problem == "no-function":
        return Report(
            f"{event.subject} without a function is refused in JAX {event.since}",
            f"write `functools.partial({event.api}, ...)`, which works in all versions",
            subject=event.subject,
        )
    if event.problem != "removed" or event.target:
        return None
    return Report(
        f"{event.subject} has been removed from JAX{f' {event.since}' if event.since else ''}",
        f"use `{event.cure}`" if event.cure else "see the change log of JAX for a replacement",
        subject=event.subject,
    )
