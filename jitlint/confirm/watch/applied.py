"""Modules that are meant to be jitted, jitted where a test applies them as they are (layer: ``confirm``).

What a library's modules do is meant to run under `jit`, and tests of it often do without. A test that passes as it is written, and
fails at the flagged expression when only `apply` is jitted, shows what the finding says. Runs in the worker only.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np


@contextlib.contextmanager
def jitted_apply() -> Iterator[bool]:
    """Inside the block, `flax.linen.Module.apply` is jitted: arrays are arguments, anything else stays what it is. False if
    there is no such library."""
    linen = sys.modules.get("flax.linen")
    if linen is None:
        yield False
        return
    original = linen.Module.apply
    linen.Module.apply = functools.wraps(original)(_jitted(original))
    try:
        yield True
    finally:
        linen.Module.apply = original


def _jitted(original: Callable[..., Any]) -> Callable[..., Any]:
    def apply(module: Any, *arguments: Any, **more: Any) -> Any:
        leaves, tree = jax.tree_util.tree_flatten((arguments, more))
        places = [n for n, leaf in enumerate(leaves) if isinstance(leaf, (jax.Array, np.ndarray))]

        def run(arrays: list[Any]) -> Any:
            filled = list(leaves)
            for place, array in zip(places, arrays):
                filled[place] = array
            positional, named = jax.tree_util.tree_unflatten(tree, filled)
            return original(module, *positional, **named)

        return jax.jit(run)([leaves[place] for place in places])

    return apply
