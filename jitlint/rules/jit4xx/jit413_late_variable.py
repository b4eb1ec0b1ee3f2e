"""JIT413: a variable of the environment is set after JAX has read it (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory, IgnoresVariable
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import LateVariable

RULE = Rule(
    code="JIT413",
    name="late-variable",
    severity=Severity.WARNING,
    summary="environment variable for JAX that is set after JAX was imported",
    explanation="""\
JAX reads its options from the environment while it is imported: `JAX_ENABLE_X64`, `JAX_PLATFORMS`, `JAX_DEBUG_NANS` and others. What is
set afterwards has no effect, and nothing says so: the program goes on with 32 bits, on the other device, without the check.

`XLA_FLAGS`, `CUDA_VISIBLE_DEVICES` and the `XLA_PYTHON_CLIENT_...` variables are read a little later: with the first array, or
when JAX is first asked for its devices. After that they change nothing either.

`jax.config.update("jax_enable_x64", True)` works at any time, for what is made from then on: the constants of a module that are there
already keep their 32 bits, and their rounded digits, and what is computed with them is no better.

A default argument is made while its module is imported: `def make_mesh(devices=jax.devices())` starts the devices there and then, so that
`jax.distributed.initialize` and the options of whoever imports it come too late.

Nothing is reported in tests, in modules that start other processes, which inherit the variable, and where the same module speaks
of the option to `jax.config` as well.
""",
    instead="""\
Set the variable before the first import of JAX, or in the shell; or tell JAX itself, which works at any time before the option is
needed:

```python
jax.config.update("jax_debug_nans", True)
```
""",
    bad="""\
import os

import jax

os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "5"  # expect: JIT413
""",
    good="""\
jax.config.update("jax_persistent_cache_min_compile_time_secs", 5)
""",
    outcome=IgnoresVariable(),
    cases={
        "default": Advisory("the devices of a program that sets nothing afterwards are the same"),
        "started": Advisory("the devices that are there are the same as before"),
        "made": Advisory("arrays keep the type that they were made with"),
    },
    since="0.1",
    reference="https://docs.jax.dev/en/latest/config_options.html",
)


@RULE.on(LateVariable)
def check(event: LateVariable) -> Report:
    """Report the assignment."""
    if event.default:
        return Report(
            f"the default of `{event.default}` asks `{event.name}` while the module is imported, so that options which a program sets, or"
            " `jax.distributed.initialize`, come too late",
            f"make `None` the default, and call `{event.name}` in the function",
            case="default",
        )
    if event.first:
        return Report(
            f"`{event.name}` is read when the devices are started, and `{event.first}` has started them before: this changes nothing",
            "set it at the top of the program, before JAX makes its first array or is asked for its devices",
            case="started",
        )
    if event.made:
        return Report(
            f"double precision is switched on when `{event.made}` is there already, which stays an array of 32 bits",
            f'call `jax.config.update("{event.name}", True)` right after `import jax`, before any array is made',
            case="made",
        )
    return Report(
        f"`{event.name}` is set after JAX was imported, which has read it by then: this changes nothing",
        f'set it before `import jax`, or call `jax.config.update("{event.name.lower()}", ...)`',
    )
