"""JIT702: `jax.numpy` imported under the name of NumPy (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import ImportIdiom

RULE = Rule(
    code="JIT702",
    name="jnp-as-np",
    severity=Severity.INFO,
    summary="`jax.numpy` imported as `np`",
    explanation="""\
Everybody reads `np` as NumPy. The two differ in much that matters: JAX arrays cannot be changed in place, lists are
refused, an index out of bounds is clamped, single precision is the default.

Code that needs both modules ends up with names that nobody can keep apart.
""",
    instead="""\
```python
import jax.numpy as jnp
import numpy as np
```
""",
    bad="""\
import jax.numpy as np  # expect: JIT702

np.ones(3)
""",
    good="""\
import jax.numpy as jnp
import numpy as np

jnp.asarray(np.ones(3))
""",
    outcome=Advisory("a reader takes `np` for NumPy"),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Calls the module `jnp`, in the import and at every use, if nothing else has the name.",
    ),
    reference="https://docs.jax.dev/en/latest/notebooks/thinking_in_jax.html",
)


@RULE.on(ImportIdiom)
def check(event: ImportIdiom) -> Report | None:
    """Report misleading names."""
    return Report(
        f"`{event.what}` is called `{event.name}` here, which everybody takes for NumPy",
        "use `import jax.numpy as jnp`",
    )
