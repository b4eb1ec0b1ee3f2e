"""Sees where numbers with a fraction become integers (layer: ``confirm``)."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from jitlint.confirm.watch.narrowing import Heard, asked_from, hearing

_UPDATES: Final = re.compile(r"cannot safely cast value from dtype=b?float\d+ to dtype=u?int")


@contextlib.contextmanager
def watching() -> Iterator[Heard]:
    """The list fills while the block runs: with updates of which JAX warns, and arrays that are filled with something else than
    was said."""
    modules: tuple[Any, ...] = (jnp, jax.lax)
    originals = [module.full_like for module in modules]
    with hearing(_UPDATES) as heard:
        for module, original in zip(modules, originals):
            module.full_like = _noting(original, heard)
        try:
            yield heard
        finally:
            for module, original in zip(modules, originals):
                module.full_like = original


def _noting(original: Any, heard: Heard) -> Any:
    def full_like(array: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(array, fill_value, *args, **kwargs)
        kinds = np.result_type(fill_value).kind, made.dtype.kind
        if kinds == ("f", "i") and not args and "dtype" not in kwargs:
            heard.append((asked_from(), f"`full_like` made {made.dtype} of {np.result_type(fill_value)}"))
        return made

    return full_like
