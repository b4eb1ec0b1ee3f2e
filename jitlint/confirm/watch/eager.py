"""Run code without jit, with the values it would get under jit (layer: ``confirm``).

`jax.disable_jit` hands Python numbers and NumPy arrays through as they are, where jit makes JAX arrays of them; code that
asks for `.shape` or `.at` would then fail for a reason of its own. Inside the block, arguments that are numbers are made
arrays first. Containers stay the caller's own: that a jitted function cannot change them is an effect to be seen.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Collection, Iterator
from types import FunctionType, ModuleType
from typing import Any

import jax
import numpy as np

# Loops and branches, and which of their positional arguments are values of the traced function.
_CONTROL_FLOW = {
    "scan": slice(1, 2),
    "while_loop": slice(2, 3),
    "fori_loop": slice(3, 4),
    "cond": slice(3, None),
    "switch": slice(2, None),
}


@contextlib.contextmanager
def without_jit(lift: bool = True) -> Iterator[None]:
    """Neither jit nor control flow is compiled inside. Functions that were jitted before get numbers as they are, and
    without ``lift`` all do."""
    lifting: list[tuple[ModuleType, str, Any]] = [
        (jax, "jit", functools.partial(_lifting_jit, jax.jit)),
        *(
            (jax.lax, name, _lifting_call(getattr(jax.lax, name), part))
            for name, part in _CONTROL_FLOW.items()
        ),
    ]
    replaced: list[tuple[ModuleType, str, Any]] = [
        *(lifting if lift else ()),
        *((jax.random, name, _compiled(function)) for name, function in _draws()),
    ]
    originals = [getattr(module, name) for module, name, _ in replaced]
    try:
        for module, name, replacement in replaced:
            setattr(module, name, replacement)
        with jax.disable_jit():
            yield
    finally:
        for (module, name, _), original in zip(replaced, originals):
            setattr(module, name, original)


def _draws() -> list[tuple[str, FunctionType]]:
    """The functions of jax.random: none runs code of the user's."""
    public = ((name, value) for name, value in vars(jax.random).items() if not name.startswith("_"))
    return [(name, value) for name, value in public if isinstance(value, FunctionType)]


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """As JAX compiles it: what a draw consists of is hundreds of operations, which take long one by one."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with jax.disable_jit(False):
            return function(*args, **kwargs)

    return call


def _is_number(value: Any) -> bool:
    if isinstance(value, (bool, int, float, complex)):
        return True
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc"


def _lift(value: Any) -> Any:
    if not _is_number(value):
        return value
    try:
        return jax.numpy.asarray(value)
    except (OverflowError, TypeError, ValueError):  # jit would refuse it; the function itself may not
        return value


def _lifting_jit(jit: Callable[..., Any], *functions: Any, **options: Any) -> Any:
    if not functions:
        return functools.partial(_lifting_jit, jit, **options)
    (function,) = functions
    if not callable(function):
        return jit(function, **options)
    numbers, names = _static(function, options)

    @functools.wraps(function)
    def lifted(*args: Any, **kwargs: Any) -> Any:
        static = {number % len(args) for number in numbers if args and -len(args) <= number < len(args)}
        args = tuple(arg if i in static else _lift(arg) for i, arg in enumerate(args))
        kwargs = {name: arg if name in names else _lift(arg) for name, arg in kwargs.items()}
        return jax.tree.map(_lift, function(*args, **kwargs))

    return jit(lifted, **options)


def _static(function: Any, options: dict[str, Any]) -> tuple[Collection[int], Collection[str]]:
    """Positions and names of the static arguments."""
    numbers = options.get("static_argnums")
    names = options.get("static_argnames")
    positions = {numbers} if isinstance(numbers, int) else set(numbers or ())
    named = {names} if isinstance(names, str) else set(names or ())
    try:
        parameters = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        parameters = []
    known = {i for i in positions if -len(parameters) <= i < len(parameters)}
    all_named = named | {parameters[i] for i in known}
    return positions | {i for i, name in enumerate(parameters) if name in all_named}, all_named


def _lifting_call(function: Callable[..., Any], lifted: slice) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        values = list(args)
        values[lifted] = [jax.tree.map(_lift, value) for value in values[lifted]]
        return function(*values, **kwargs)

    return call
