"""What was fixed has the derivatives of the code that it was made from, wherever that has some.

Each case of the fixtures is run, and the calls that it makes of the module's functions are noted down. Each of these
calls is then differentiated: as it was, without tracing, or numerically where `jax.grad` cannot see through it; and as
it is now, compiled.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jitlint.fix.cures import CURES
from tests.fix.repairing import repaired_fixtures
from tests.fix.test_real_jax import OTHERWISE, all_cases, are_numbers

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of a module's functions, or of a compiled function that a case makes itself.

    name: which it is, the same in the module as it was and as it is; function: without the note-taker around.
    """

    name: str
    function: Function
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class _Notes:
    """The outermost calls of functions, and the compiled functions that were made, by name."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.made: dict[str, list[Function]] = {}
        self._depth = 0

    def noted(self, name: str, function: Function) -> Function:
        """The function, whose calls are noted down."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            traced = any(isinstance(each, jax.core.Tracer) for each in jax.tree.leaves((args, kwargs)))
            if not self._depth and not traced:
                self.calls.append(Call(name, function, args, kwargs))
            self._depth += 1
            try:
                return function(*args, **kwargs)
            finally:
                self._depth -= 1

        return call

    def jit(self, function: Function | None = None, /, **options: Any) -> Function:
        """`jax.jit`, whose results are noted functions where they are made inside of others."""
        if function is None:
            return functools.partial(self.jit, **options)
        compiled: Function = _JIT(function, **options)
        name = getattr(function, "__qualname__", "")
        if "<locals>" not in name:
            return compiled
        made = self.made.setdefault(name, [])
        made.append(compiled)
        return self.noted(f"{name} {len(made)}", compiled)

    def one(self, name: str) -> Function | None:
        """The compiled function of a name, as `noted` was told it."""
        plain, _, number = name.partition(" ")
        made = self.made.get(plain, [])
        return made[int(number) - 1] if number and len(made) >= int(number) else None


_JIT = jax.jit


def _module(path: Path, text: str) -> types.ModuleType:
    module = types.ModuleType(f"differentiated_{path.parent.name}_{path.stem}")
    sys.modules[module.__name__] = module
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def _run(path: Path, case: str, text: str, jitted: bool) -> _Notes:
    """Run a case and note what it calls and makes."""
    notes = _Notes()
    with pytest.MonkeyPatch.context() as patch, _quiet():
        patch.setattr(jax, "jit", notes.jit)
        module = _module(path, text)
        for name, value in list(vars(module).items()):
            is_own = getattr(value, "__module__", "") == module.__name__ and not inspect.isclass(value)
            if is_own and callable(value) and not name.startswith("case_"):
                setattr(module, name, notes.noted(name, value))
        with contextlib.nullcontext() if jitted else jax.disable_jit():
            _tried(getattr(module, case))  # what it called before it raised counts as well
    return notes


def _is_float(leaf: Any) -> bool:
    if isinstance(leaf, float):
        return True
    is_array = isinstance(leaf, (jax.Array, np.ndarray))
    return is_array and bool(jnp.issubdtype(leaf.dtype, jnp.floating)) and leaf.size > 0


class _Function:
    """A call as a function of all floats that it gets, which gives one number made of all floats that it returns."""

    def __init__(self, function: Function, call: Call) -> None:
        self._function = function
        leaves, self._tree = jax.tree.flatten((call.args, call.kwargs))
        self._leaves = leaves
        self._at = [at for at, leaf in enumerate(leaves) if _is_float(leaf)]
        # A little aside of the point: where several numbers are equal, a minimum has no derivative.
        self.point = tuple(_aside(jnp.asarray(leaves[at]), 0.0137, 3.0 + at) for at in self._at)

    def __call__(self, *floats: Any) -> Any:
        leaves = list(self._leaves)
        for at, value in zip(self._at, floats, strict=True):
            leaves[at] = value
        args, kwargs = jax.tree.unflatten(self._tree, leaves)
        total = jnp.zeros(())
        for number, leaf in enumerate(jax.tree.leaves(self._function(*args, **kwargs))):
            array = jnp.asarray(leaf)
            if jnp.issubdtype(array.dtype, jnp.floating):
                total = total + jnp.sum(array * jnp.cos(jnp.arange(array.size) + number).reshape(array.shape))
        return total


def _aside(x: Any, width: float, start: float = 1.0) -> Any:
    """A point nearby, in a direction that treats no two elements the same."""
    return (x + width * jnp.cos(start + jnp.arange(x.size)).reshape(x.shape)).astype(x.dtype)


def _slope(function: _Function, jitted: bool) -> Any:
    """The derivative in one direction, the same for both; forwards, as loops of unknown length have no other."""
    directions = tuple(_aside(jnp.zeros_like(x), 1.0) for x in function.point)
    with _quiet(), contextlib.nullcontext() if jitted else jax.disable_jit():
        return np.asarray(jax.jvp(function, function.point, directions)[1])


def _numerical(function: _Function) -> Any:
    """The same from values alone; None where these are no smooth function."""
    found = []
    for width in (1e-2, 2.5e-3):
        ends = []
        for sign in (1, -1):
            moved = [_aside(x, sign * width) for x in function.point]
            with _quiet(), jax.disable_jit():
                ends.append(float(function(*moved)))
        found.append((ends[0] - ends[1]) / (2 * width))
    return np.asarray(found[1]) if np.allclose(*found, rtol=1e-2, atol=1e-2) else None


@contextlib.contextmanager
def _quiet() -> Any:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def _tried(make: Callable[[], Any]) -> Any:
    """What it gives; None if the code cannot be run that way."""
    try:
        return make()
    except Exception:  # whatever the programs raise: that they do is the business of other tests
        return None


@functools.cache
def compared(path: Path, case: str) -> tuple[str, ...]:
    """Compare the derivatives of what a case calls. How, for each call: against what."""
    outcome = repaired_fixtures()
    after = _tried(lambda: _run(path, case, outcome.texts[path], True))
    before = _tried(lambda: _run(path, case, outcome.before[path], False))
    original = _tried(lambda: _module(path, outcome.before[path]))
    ways: list[str] = []
    for call in () if after is None or before is None else after.calls:
        function = before.one(call.name) or getattr(original, call.name, None)
        if function is not None and are_numbers((call.args, call.kwargs), ()):
            ways += _compared(_Function(function, call), _Function(call.function, call), call.name)
    return tuple(ways)


def _compared(before: _Function, after: _Function, name: str) -> list[str]:
    """The code as it was, without tracing, is what the derivative is held against; where that has none, or `float()` has
    lost it, the numbers that it gives; where it cannot be run at all, those of the fixed code."""
    slope = _tried(lambda: _slope(after, True)) if after.point else None
    if slope is None:
        return []
    code, numbers = _tried(lambda: _slope(before, False)), _tried(lambda: _numerical(before))
    if code is not None and (numbers is None or np.allclose(code, numbers, rtol=5e-2, atol=5e-2)):
        way, expected, tolerance = "code", code, 1e-4
    elif numbers is not None:
        way, expected, tolerance = "numbers", numbers, 5e-2
    else:
        way, expected, tolerance = "values", _tried(lambda: _numerical(after)), 5e-2
    if expected is None:
        return []
    np.testing.assert_allclose(slope, expected, rtol=tolerance, atol=tolerance, err_msg=name)
    return [way]


@pytest.mark.parametrize(
    ("path", "case"),
    [pytest.param(path, case, id=f"{path.parent.name}/{path.name}::{case}") for path, case in all_cases()],
)
def test_derivatives_are_those_of_the_code(path: Path, case: str) -> None:
    if path.parent.name[:6] not in OTHERWISE:
        compared(path, case)


def test_most_rules_have_derivatives_that_are_compared() -> None:
    """So that the comparison above does not hold of nothing."""
    found = {code: set[str]() for code in CURES}
    for path, case in all_cases():
        code = path.parent.name[:6]
        if code in found and code not in OTHERWISE:
            found[code].update(compared(path, case))
    assert len([code for code, ways in found.items() if ways]) >= 22
    assert len([code for code, ways in found.items() if ways & {"code", "numbers"}]) >= 16
