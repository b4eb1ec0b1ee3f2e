"""JIT513: what the next JAX will refuse, or understand otherwise, than the one in use (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT513",
    name="broken-by-upgrade",
    severity=Severity.ERROR,
    summary="name or argument that the JAX to move to does not have",
    explanation="""\
With `--jax-version 0.12`, code that runs with an older JAX today is looked at with the eyes of the newer one: names,
arguments and options that the JAX in use has and the newer one does not have will be refused.

> AttributeError: module 'jax' has no attribute 'tree_map'

JAX 0.6 to 0.8:

> AttributeError: jax.tree_map was removed in JAX v0.6.0: use jax.tree.map (jax v0.4.25 or newer) or jax.tree_util.tree_map (any JAX version).

An argument that is gone:

> TypeError: clip() got an unexpected keyword argument 'a_max'

Which JAX is in use is what the project asks for (`jax==0.4.30`, `jax<0.5`, a lock file), or `--from-jax-version`. An
argument by position that means another one in the newer JAX is a warning: it may be refused, or do something else.
""",
    instead="""\
Use the replacement before you move; most of them work in the JAX in use, too. Where one does not, ask first:

```python
clipped = jnp.clip(x, 0.0, 1.0)
doubled = jax.tree.map(lambda leaf: 2 * leaf, params)

if hasattr(jax, "shard_map"):
    shard_map = jax.shard_map
else:
    from jax.experimental.shard_map import shard_map
```
""",
    bad="""\
def double(params):
    return jax.tree_map(lambda leaf: 2 * leaf, params)  # expect: JIT513


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
    since="0.2",
    reference="https://docs.jax.dev/en/latest/changelog.html",
)


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report what is there in the JAX that the code comes from, and not, or not so, in the one that it goes to."""
    if not event.target:
        return None
    if event.problem == "moved":
        return Report(
            f"{event.subject} is `{event.since}` in JAX {event.target}, and is `{event.cure}` in the JAX in use",
            "pass these arguments by name",
            Severity.WARNING,
            subject=event.subject,
        )
    when = (
        f": it was removed {'' if event.since.startswith('after') else 'in '}{event.since}"
        if event.since
        else ""
    )
    return Report(
        f"{event.subject} will be refused in JAX {event.target}{when}",
        f"use `{event.cure}`" if event.cure else "see the change log of JAX for a replacement",
        subject=event.subject,
    )
