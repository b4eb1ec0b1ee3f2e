"""Looks for NaN where JAX goes back through a program, and only there (layer: ``confirm``).

`jax.debug_nans` stops at the first NaN of the forward pass as well, which a choice may hide rightly.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import jax

_PASSES: Final = ("backward_pass", "backward_pass3")


@contextlib.contextmanager
def refusing_nans() -> Iterator[None]:
    """FloatingPointError is raised where a derivative is NaN. What a release of JAX does not have is not looked at."""
    module = importlib.import_module("jax._src.interpreters.ad")
    known = {name: getattr(module, name) for name in _PASSES if hasattr(module, name)}
    for name, function in known.items():
        setattr(module, name, _refusing(function))
    try:
        yield
    finally:
        for name, function in known.items():
            setattr(module, name, function)


def _refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def refusing(*args: Any, **kwargs: Any) -> Any:
        with jax.debug_nans(True):
            return function(*args, **kwargs)

    return refusing
