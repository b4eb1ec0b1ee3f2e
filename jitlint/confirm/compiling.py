"""Makes XLA compile in less time what runs for a moment only (layer: ``confirm``)."""

from __future__ import annotations

import os
import resource

_FLAG = "--xla_cpu_use_fusion_emitters"
"""Half the time of compiling small programs goes into loops that are fused."""


def compile_quickly() -> None:
    """Set ``XLA_FLAGS`` for this process, in which no backend runs yet, and for all that it starts: where the installed JAX
    takes the flag, and nobody has set it."""
    flags = os.environ.get("XLA_FLAGS", "")
    quick = f"{_FLAG}=false"
    if _FLAG not in flags and _is_taken(quick):
        os.environ["XLA_FLAGS"] = f"{flags} {quick}".strip()


def _is_taken(flag: str) -> bool:
    """Whether JAX runs with a flag of XLA. Found out in a fork: a process with one that it does not take is aborted."""
    fork = os.fork()
    if fork == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            # What it says when it is aborted is for nobody.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.environ["XLA_FLAGS"] = flag
            import jax

            code = 0 if jax.devices() else 1
        finally:
            os._exit(code)
    return os.waitpid(fork, 0)[1] == 0
