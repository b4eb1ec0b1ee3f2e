"""Sees operations at which derivatives end, and gradients that are zero for that (layer: ``confirm``)."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import jax
import numpy as np

from jitlint.confirm.watch.narrowing import asked_from

_TRACES: Final = ("JVPTrace", "LinearizeTrace")
_DERIVATIVES: Final = ("grad", "value_and_grad")
_TRIES: Final = 2
"""So many other points are looked at."""


class Stop(NamedTuple):
    """A gradient is zero at several points. place: file and line of an operation at which its derivative may end. name: the
    operation. leaf: where the zeros are in what the derivative gives."""

    place: tuple[str, int]
    name: str
    leaf: str


@contextlib.contextmanager
def watching() -> Iterator[list[Stop]]:
    """The list fills while the block runs."""
    found: list[Stop] = []
    ended: list[tuple[tuple[str, int], str]] = []
    module: Any = importlib.import_module("jax._src.interpreters.ad")
    with contextlib.ExitStack() as undo:
        for trace in [getattr(module, name) for name in _TRACES if hasattr(module, name)]:
            undo.callback(setattr, trace, "process_primitive", trace.process_primitive)
            trace.process_primitive = _noting(trace.process_primitive, ended)
        for name in _DERIVATIVES:
            original = getattr(jax, name)
            undo.callback(setattr, jax, name, original)
            setattr(jax, name, _looking(original, name, ended, found))
        yield found


def _noting(original: Callable[..., Any], ended: list[tuple[tuple[str, int], str]]) -> Callable[..., Any]:
    """Note primitives that get something with a derivative, and give nothing that has one."""

    @functools.wraps(original)
    def process_primitive(self: Any, primitive: Any, tracers: Any, params: Any, /) -> Any:
        answer = original(self, primitive, tracers, params)
        outs = answer if isinstance(answer, (list, tuple)) else [answer]
        if any(map(_is_tracer, tracers)) and not any(map(_is_tracer, outs)):
            ended.append((asked_from(), str(primitive)))
        return answer

    return process_primitive


def _is_tracer(value: Any) -> bool:
    return type(value).__name__ in ("JVPTracer", "LinearizeTracer")


def _looking(
    original: Callable[..., Any], name: str, ended: list[tuple[tuple[str, int], str]], found: list[Stop]
) -> Callable[..., Any]:
    """A derivative whose gradients are looked at."""

    @functools.wraps(original)
    def derive(*args: Any, **kwargs: Any) -> Callable[..., Any]:
        derivative = original(*args, **kwargs)
        has_aux = bool(kwargs.get("has_aux"))

        def zeros(answer: Any) -> set[str]:
            gradient = answer[1] if name == "value_and_grad" else answer[0] if has_aux else answer
            leaves = jax.tree_util.tree_leaves_with_path(gradient)
            return {jax.tree_util.keystr(path) for path, leaf in leaves if _is_zero(leaf)}

        @functools.wraps(derivative)
        def looking(*inner: Any, **named: Any) -> Any:
            before = len(ended)
            answer = derivative(*inner, **named)
            passed = ended[before:]
            left = zeros(answer) if passed else set[str]()
            for number in range(_TRIES if left else 0):
                left &= zeros(derivative(*_moved(inner, number), **named))
            found.extend(Stop(place, primitive, leaf) for place, primitive in passed for leaf in sorted(left))
            return answer

        return looking

    return derive


def _is_zero(leaf: Any) -> bool:
    """Whether a gradient is an array of zeros, and known."""
    if not isinstance(leaf, jax.Array) or isinstance(leaf, jax.core.Tracer):
        return False
    return (
        bool(jax.dtypes.issubdtype(leaf.dtype, np.floating))
        and leaf.size > 0
        and not np.any(np.asarray(leaf))
    )


def _moved(given: Any, number: int) -> Any:
    """The arguments at another point."""
    random = np.random.default_rng(number)

    def move(leaf: Any) -> Any:
        if isinstance(leaf, jax.core.Tracer) or not isinstance(leaf, jax.Array):
            return leaf
        if not jax.dtypes.issubdtype(leaf.dtype, np.floating):
            return leaf
        return leaf + jax.numpy.asarray(random.normal(size=leaf.shape), leaf.dtype)

    return jax.tree_util.tree_map(move, given)
