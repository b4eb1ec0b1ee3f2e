"""Follows what derivatives give, to the collectives that put values of several devices together (layer: ``confirm``).

What it does: knows the very tracers that a derivative has given, its value and its gradients, and those that collectives got
afterwards. What it does not: follow what is computed from them; a collective that got anything else may have got that.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final, NamedTuple

import jax

_COLLECTIVES: Final = (
    "psum",
    "pmean",
    "pmax",
    "pmin",
    "all_gather",
    "all_to_all",
    "ppermute",
    "psum_scatter",
)

Function = Callable[..., Any]


_CALLERS: Final = 3
"""The function that takes a derivative, and so many around it, may use what it gives."""


class Taken(NamedTuple):
    """A derivative was taken with something else. places: the lines of the function that did, and of those that called it. value,
    gradients: the tracers. settled: the names of the collectives that the value is made with, and that got parts of it. others: of
    those that got something else."""

    places: frozenset[tuple[str, int]]
    value: list[Any]
    gradients: list[Any]
    settled: list[str]
    others: list[str]

    @property
    def stays_local(self) -> bool:
        """Whether something of the value was put together, and certainly nothing that hangs on the gradients."""
        return bool(self.settled) and not self.others


@contextlib.contextmanager
def following() -> Iterator[list[Taken]]:
    """The list fills while the block runs."""
    found: list[Taken] = []
    running: list[list[str]] = []
    with contextlib.ExitStack() as undo:
        _replace(undo, jax, "value_and_grad", lambda original: _taking(original, found, running))
        _replace(undo, jax, "grad", lambda original: _taking_beside(original, found, running))
        for name in _COLLECTIVES:
            _replace(undo, jax.lax, name, lambda original: _settling(original, found, running))
        yield found


def _replace(
    undo: contextlib.ExitStack, module: Any, name: str, make: Callable[[Function], Function]
) -> None:
    original = getattr(module, name)
    undo.callback(setattr, module, name, original)
    setattr(module, name, make(original))


def _taking(original: Function, found: list[Taken], running: list[list[str]]) -> Function:
    @functools.wraps(original)
    def value_and_grad(*args: Any, **kwargs: Any) -> Function:
        return _noting(original(*args, **kwargs), found, running, value_first=True)

    return value_and_grad


def _taking_beside(original: Function, found: list[Taken], running: list[list[str]]) -> Function:
    @functools.wraps(original)
    def grad(*args: Any, **kwargs: Any) -> Function:
        derivative: Function = original(*args, **kwargs)
        return _noting(derivative, found, running, value_first=False) if kwargs.get("has_aux") else derivative

    return grad


def _noting(
    derivative: Function, found: list[Taken], running: list[list[str]], *, value_first: bool
) -> Function:
    """The same derivative; each call is noted with what it gives."""

    @functools.wraps(derivative)
    def taking(*inner: Any, **named: Any) -> Any:
        running.append([])
        try:
            given = derivative(*inner, **named)
        finally:
            inside = running.pop()
        value, gradients = given if value_first else reversed(given)
        leaves = jax.tree_util.tree_leaves
        found.append(Taken(_places(sys._getframe(1)), leaves(value), leaves(gradients), inside, []))
        return given

    return taking


def _places(frame: FrameType | None) -> frozenset[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    for _ in range(_CALLERS):
        if frame is not None:
            code, frame = frame.f_code, frame.f_back
            found.update((code.co_filename, line) for _, _, line in code.co_lines() if line is not None)
    return frozenset(found)


def _settling(original: Function, found: list[Taken], running: list[list[str]]) -> Function:
    @functools.wraps(original)
    def settling(x: Any, *args: Any, **kwargs: Any) -> Any:
        for inside in running:
            inside.append(original.__name__)
        for taken in found:
            known = {id(leaf) for leaf in taken.value}
            ours = all(id(leaf) in known for leaf in jax.tree_util.tree_leaves(x))
            (taken.settled if ours else taken.others).append(original.__name__)
        return original(x, *args, **kwargs)

    return settling
