"""JIT423: an entry of a path to a leaf is compared with a text (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import PathText

RULE = Rule(
    code="JIT423",
    name="path-as-text",
    severity=Severity.WARNING,
    summary="path to a leaf that is compared with a text, to which no entry of it is equal",
    explanation="""\
`jax.tree.map_with_path` and its kin hand out paths: tuples of entries such as `DictKey(key='bias')`, `GetAttrKey(name='bias')` and
`SequenceKey(idx=0)`. None of them is equal to the text `'bias'`, so `"bias" in path` and `path[-1] == "bias"` are always False,
without an error: a mask leaves nothing out, a filter finds nothing, each weight gets the same treatment.

(`flax.traverse_util.path_aware_map` hands out tuples of texts, and is not meant.)
""",
    instead="""\
Ask the entry for its name, or make a text of the path:

```python
def decays(path, leaf):
    return path[-1].key not in ("bias", "scale")

def decays(path, leaf):
    return "bias" not in jax.tree_util.keystr(path)
```
""",
    bad="""\
params = {"kernel": jnp.ones((2, 2)), "bias": jnp.ones(2)}

mask = jax.tree_util.tree_map_with_path(lambda path, _: "bias" not in path, params)  # expect: JIT423
""",
    good="""\
params = {"kernel": jnp.ones((2, 2)), "bias": jnp.ones(2)}

mask = jax.tree_util.tree_map_with_path(lambda path, _: path[-1].key != "bias", params)
""",
    outcome=Advisory("the comparison is Python's, and is never refused"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.tree_util.tree_map_with_path.html",
)


@RULE.on(PathText)
def check(event: PathText) -> Report:
    """Report the comparison."""
    text = f"`{event.text!r}`" if event.text else "a text"
    never = "True" if event.operator in ("not in", "!=") else "False"
    return Report(
        f"a path holds entries such as `DictKey(key='bias')`, none of which is equal to {text}: this is always {never}",
        "ask the entries for their names, as in `path[-1].key`, or look into `jax.tree_util.keystr(path)`",
    )
