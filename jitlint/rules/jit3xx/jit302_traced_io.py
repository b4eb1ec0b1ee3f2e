"""JIT302: logging, files, processes and environment variables in traced code (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import RunsOnce
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import Effect

RULE = Rule(
    code="JIT302",
    name="traced-io",
    severity=Severity.WARNING,
    summary="input or output in traced code happens while tracing only",
    explanation="""\
Log records, files, processes, sockets, `input` and environment variables belong to the host. The Python code of a
traced function runs while JAX traces it, so a record is written once instead of at each call, holds placeholders instead of
numbers, and whatever is read stays what it was at that moment.

Records about what is static anyway (shapes, options) are not reported: once per trace is right for them. Nor is a
variable of the environment that the program never changes: as a switch that is set before it starts, it is fine.
""",
    instead="""\
Do it outside, or call back from the compiled program:

```python
jax.debug.callback(lambda q: log.info("choosing among %s", q), q)
```

Read the environment before tracing and pass what depends on it as an argument.
""",
    bad="""\
import logging


@jax.jit
def act(q):
    logging.info("choosing among %s", q)  # expect: JIT302
    return jnp.argmax(q)


for scale in (1.0, 2.0, 3.0):
    act(jnp.full(4, scale))
""",
    good="""\
import logging


@jax.jit
def act(q):
    return jnp.argmax(q)


for scale in (1.0, 2.0, 3.0):
    logging.info("chose %s", act(jnp.full(4, scale)))
""",
    outcome=RunsOnce(),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Calls the logging function through `jax.debug.callback`. Unsafe where no traced value is seen to "
        "be shown, and in functions that may also be called without tracing.",
    ),
    reference="https://docs.jax.dev/en/latest/external-callbacks.html",
)

_LOGGED = "use `jax.debug.callback` to log from the compiled function, or log what it returns"
_OUTSIDE = "do it outside the traced function, or use `jax.experimental.io_callback`"
_HELP = {
    "log": _LOGGED,
    "warning": "use `jax.debug.callback`, or check the result outside the traced function",
    "environment": "read it before tracing and pass what depends on it as an argument",
    "ask": "ask before calling the traced function; `jax.debug.breakpoint` stops the compiled one",
}
_WHAT = {
    "log": "this logs",
    "warning": "this warns",
    "file": "this uses a file",
    "process": "this talks to the outside world",
    "environment": "the environment is read",
    "setting": "the environment is changed",
    "ask": "this waits for a person",
}


@RULE.on(Effect)
def check(event: Effect) -> Report | None:
    """Report what goes in or out, except printing."""
    what = _WHAT.get(event.effect)
    if what is None:
        return None
    shows = " a placeholder instead of its value" if event.why and event.effect in ("log", "warning") else ""
    return Report(f"{what}{shows} while JAX traces, not at each call", _HELP.get(event.effect, _OUTSIDE))
