"""Whether two runs answered the same, and how large a jaxpr is (layer: ``confirm``)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import jax
import numpy as np

# Compiled and eager code may round differently; a constant that was baked in is further off than this.
_RELATIVE, _ABSOLUTE = 1e-4, 1e-6
_DEPTH = 20
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
# Larger values are not remembered.
_BYTES, _PARTS = 1 << 16, 256


def difference(one: Any, other: Any) -> str | None:
    """How two results differ, as `this, that` with a few numbers; None if they are equal.

    Classes are compared by name, since a module that is loaded twice has two of each. What cannot be looked into
    counts as equal.
    """
    return _difference(one, other, _DEPTH)


def _difference(one: Any, other: Any, depth: int) -> str | None:
    if depth == 0 or one is other or (callable(one) and callable(other)):
        return None
    if isinstance(one, jax.core.Tracer) or isinstance(other, jax.core.Tracer):
        return _said(one, other)
    numbers, other_numbers = _numbers(one), _numbers(other)
    if numbers is not None and other_numbers is not None:
        return None if _close(numbers, other_numbers) else _said(numbers, other_numbers)
    if any(value is None or isinstance(value, str) for value in (one, other)):
        return None if one == other else _said(one, other)
    if type(one).__name__ != type(other).__name__:
        return _said(one, other)
    return _difference_of_parts(one, other, depth)


def _difference_of_parts(one: Any, other: Any, depth: int) -> str | None:
    """As `_difference`, for two objects of one class."""
    parts, other_parts = _parts(one), _parts(other)
    if parts is None or other_parts is None:
        return None
    if list(parts) != list(other_parts):
        return _said(one, other)
    for name, part in parts.items():
        found = _difference(part, other_parts[name], depth - 1)
        if found is not None:
            # The variables of a script, or the line of an expression.
            return f"{name}: {found}" if depth == _DEPTH and isinstance(name, str) else found
    return None


def _numbers(value: Any) -> np.ndarray[Any, Any] | None:
    if isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)):
        return np.asarray(value)
    if isinstance(value, jax.Array):
        if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
            value = jax.random.key_data(value)
        return np.asarray(value)
    return None


def _close(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype.kind in "OSUV" or other.dtype.kind in "OSUV":
        return bool(np.all(one == other))
    if one.dtype.kind in "biu" and other.dtype.kind in "biu":
        return bool(np.array_equal(one, other))
    kind = complex if "c" in (one.dtype.kind, other.dtype.kind) else float
    return bool(
        np.allclose(one.astype(kind), other.astype(kind), rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True)
    )


def same_text(one: str, other: str) -> bool:
    """Whether two texts are the same but for rounding."""
    words, other_words = _NUMBER.split(one), _NUMBER.split(other)
    numbers, other_numbers = _NUMBER.findall(one), _NUMBER.findall(other)
    if len(numbers) != len(other_numbers) or [w.split() for w in words] != [w.split() for w in other_words]:
        return False
    return all(
        math.isclose(float(number), float(other_number), rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
        for number, other_number in zip(numbers, other_numbers)
    )


def _parts(value: Any) -> Mapping[Any, Any] | None:
    if isinstance(value, Mapping):
        return value
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    if isinstance(value, (set, frozenset)):
        return dict(enumerate(sorted(value, key=repr)))
    if callable(value) or isinstance(value, ModuleType):
        return None
    fields = getattr(value, "__dict__", None)
    return fields if isinstance(fields, dict) else None


def fingerprint(value: Any, depth: int = 4) -> object:
    """Something that is equal for equal values; None for what cannot be looked into."""
    if isinstance(value, (bool, int, float, complex, str, bytes)) or value is None:
        return type(value).__name__, repr(value)
    if isinstance(value, jax.core.Tracer) or not depth:
        return None
    numbers = _numbers(value)
    if numbers is not None:
        small = numbers.nbytes <= _BYTES and numbers.dtype != object
        return (numbers.shape, numbers.dtype.str, numbers.tobytes()) if small else None
    name = getattr(value, "__qualname__", "")
    if callable(value) and name and "<" not in name:
        return "code", str(getattr(value, "__module__", "")), name
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    if not isinstance(value, (list, tuple)):
        return None
    parts = [fingerprint(part, depth - 1) for part in value[:_PARTS]]
    return None if None in parts or len(value) > _PARTS else tuple(parts)


def _said(one: Any, other: Any) -> str:
    return f"{short(one)} with jit, {short(other)} without"


def short(value: Any, width: int = 60) -> str:
    """A value in a few words."""
    if isinstance(value, float) or (
        isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind == "f"
    ):
        number = float(value)
        text = f"{number:.7g}" if math.isfinite(number) else str(number)
    elif isinstance(value, np.ndarray):
        text = np.array2string(value, threshold=6, edgeitems=2, precision=4, separator=", ")
    else:
        text = repr(value)
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 3] + "..."


def jaxprs(value: Any, depth: int = _DEPTH) -> Iterator[Any]:
    """The jaxprs inside a result."""
    if hasattr(value, "eqns"):
        yield value
    elif depth and isinstance(value, (list, tuple, Mapping)):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from jaxprs(part, depth - 1)


def equations(jaxpr: Any) -> int:
    """The equations of a jaxpr, those of the jaxprs inside them included."""
    total = 0
    for equation in jaxpr.eqns:
        total += 1
        for parameter in equation.params.values():
            for inner in parameter if isinstance(parameter, (list, tuple)) else (parameter,):
                if hasattr(inner, "eqns") or hasattr(inner, "jaxpr"):
                    total += equations(getattr(inner, "jaxpr", inner))
    return total
