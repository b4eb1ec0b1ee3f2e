"""What variables hold when a line begins, or fails: tracers, arrays, values, keys (layer: ``confirm``). Runs in the worker only.

Looks, and changes nothing. What cannot be looked into is unknown, and says so.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType, ModuleType
from typing import Any

import jax
import numpy as np

_MISSING = object()
# So many of an object's attributes are looked at, and so deep.
_WIDE, _DEEP = 100, 3


def variables(frame: FrameType, names: Iterable[str]) -> dict[str, Any]:
    """The variables that hold data: no modules, classes and functions, which code uses by name."""
    found = {}
    for name in names:
        value = frame.f_locals.get(name, frame.f_globals.get(name, _MISSING))
        if value is not _MISSING and not _is_code(value):
            found[name] = value
    return found


def bound(frame: FrameType, names: Iterable[str]) -> dict[str, Any]:
    """The variables that hold data, and the function's own that hold code."""
    own = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
    return {**own, **variables(frame, names)}


def _is_code(value: Any) -> bool:
    if isinstance(value, (ModuleType, type)) or inspect.isroutine(value):
        return True
    # What jit and vmap make; an object with `__call__` of its own is data.
    return callable(value) and hasattr(value, "__wrapped__")


def printed(value: Any) -> object:
    """Something that is equal for equal values, and for arrays of the same shape; None for what cannot be looked into."""
    if isinstance(value, (jax.Array, np.ndarray)):
        return str(value.dtype), value.shape
    return id(value) if _is_code(value) else _compared(value)


def leaves(value: Any, depth: int = _DEEP) -> Iterator[Any]:
    """All that a value holds, also in objects that JAX does not know."""
    try:
        parts = jax.tree.leaves(value)
    except Exception:  # a container of the user's that cannot be taken apart
        parts = [value]
    for part in parts:
        fields = _inside(part)
        if depth and fields:
            for inner in fields[:_WIDE]:
                yield from leaves(inner, depth - 1)
        else:
            yield part


def _inside(value: Any) -> list[Any]:
    """What an object, or a function that was made inside another one, keeps."""
    if isinstance(value, (jax.Array, ModuleType, type)):
        return []
    cells = getattr(value, "__closure__", None) or ()
    kept = [cell.cell_contents for cell in cells if hasattr(cell, "cell_contents")]
    if isinstance(value, functools.partial):
        kept += [*value.args, *value.keywords.values()]
    fields = getattr(value, "__dict__", None)
    return kept + (list(fields.values()) if isinstance(fields, dict) and not inspect.isroutine(value) else [])


def has_tracer(frame: FrameType, names: Iterable[str]) -> bool:
    """Whether one of the variables holds a tracer, also inside a container."""
    found = variables(frame, names).values()
    return any(isinstance(leaf, jax.core.Tracer) for value in found for leaf in leaves(value))


def are_traced(frame: FrameType, names: Iterable[str]) -> bool:
    """Whether all variables hold tracers and nothing else, of a program that JAX is making: nothing of them is known."""
    found = variables(frame, names)
    parts = [leaf for value in found.values() for leaf in leaves(value)]
    empty = any(not list(leaves(value)) for value in found.values())
    return bool(parts) and not empty and all(_is_unknown(part) for part in parts)


def _is_unknown(value: Any) -> bool:
    from jitlint.confirm.watch.instruments import concrete

    return isinstance(value, jax.core.Tracer) and concrete(value) is None


def holds_array(frame: FrameType, names: Iterable[str]) -> bool:
    """Whether a variable holds an array of JAX's, traced or not; True if there is no variable to ask."""
    found = variables(frame, names)
    return not found or any(isinstance(leaf, jax.Array) for value in found.values() for leaf in leaves(value))


def holds_deleted(frame: FrameType, reads: Iterable[str], names: Iterable[str]) -> bool:
    """Whether what is read is an array that was given away."""
    values = evaluated(frame, reads) or list(variables(frame, names).values())
    return any(_is_deleted(leaf) for value in values for leaf in leaves(value))


def _is_deleted(value: Any) -> bool:
    if isinstance(value, jax.core.Tracer) or not isinstance(value, jax.Array):
        return False
    try:
        return bool(value.is_deleted())
    except Exception:  # an array of another kind
        return False


def evaluated(frame: FrameType, reads: Iterable[str]) -> list[Any] | None:
    """The values of expressions that call nothing; None if there are none, or one cannot be read."""
    found = []
    for read in reads:
        try:
            found.append(eval(read, frame.f_globals, frame.f_locals))
        except Exception:  # not there yet, or a property that fails
            return None
    return found or None


def values_of(frame: FrameType, reads: Iterable[str]) -> object:
    """The values of expressions that call nothing, as something that can be compared; None if they cannot."""
    values = evaluated(frame, reads)
    found = [_compared(value) for value in values or ()]
    return None if values is None or None in found else tuple(found)


def _compared(value: Any) -> object:
    from jitlint.confirm.watch.compare import fingerprint

    if hasattr(type(value), "__next__"):
        return object()  # it is another one each time that something is taken from it
    try:
        return fingerprint(value)
    except Exception:  # an array that was given away, or a value that does not like to be looked at
        return None


def origins(frame: FrameType, names: Iterable[str]) -> set[str]:
    """Where the tracers that the variables hold were made, as JAX says it; "" for arguments."""
    found = set()
    for name in names:
        for leaf in leaves(frame.f_locals.get(name, frame.f_globals.get(name))):
            if isinstance(leaf, jax.core.Tracer):
                found.add(origin(leaf))
    return found


def origin(tracer: Any) -> str:
    """Where a tracer was made, as JAX says it; "" if it does not say."""
    try:
        from jax._src import source_info_util

        return str(source_info_util.summarize(tracer._line_info))
    except Exception:  # another release of JAX, or a tracer of another kind
        return ""


def keys_in(frame: FrameType, names: Iterable[str]) -> dict[str, set[bytes]]:
    """The data of the keys that the variables hold, by variable."""
    from jitlint.confirm.watch.instruments import concrete

    found: dict[str, set[bytes]] = {}
    for name, value in variables(frame, names).items():
        for leaf in leaves(value):
            data = concrete(leaf) if isinstance(leaf, (jax.Array, np.ndarray)) else None
            if data is not None and data.ndim and data.dtype == np.uint32:
                rows = np.reshape(data, (-1, data.shape[-1]))
                found.setdefault(name, set()).update(row.tobytes() for row in rows)
    return found


def described(frame: FrameType) -> tuple[str, str]:
    """What a function was called with: the shapes of what is traced, and the values of the rest."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    shapes, static = [], []
    for name in code.co_varnames[:count]:
        value = frame.f_locals.get(name)
        try:
            parts = jax.tree.leaves(value)
        except Exception:  # a container of the user's that cannot be taken apart
            parts = [value]
        for part in parts:
            if isinstance(part, jax.core.Tracer):
                shapes.append(f"{name}={part.dtype}{list(part.shape)}")
            else:
                static.append(f"{name}={type(part).__name__} {_short(part)}")
        shapes.append(f"{name}: {_structure(value)}")
    return "; ".join(shapes), "; ".join(static)


_DEEPEST = 4
"""Fields of fields are looked at so far down."""


def typed_fields(frame: FrameType) -> frozenset[tuple[str, str]]:
    """The types of the tracers among a function's arguments, by name, and among their fields, by ``Class.field``."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = {name: frame.f_locals.get(name) for name in names}
    found = {(name, _type_of(value)) for name, value in given.items() if isinstance(value, jax.core.Tracer)}
    todo = [(value, 0) for value in given.values()]
    while todo:
        value, depth = todo.pop()
        if depth < _DEEPEST:
            for name, part in _fields(value):
                if isinstance(part, jax.core.Tracer):
                    found.add((f"{type(value).__name__}.{name}", _type_of(part)))
                todo.append((part, depth + 1))
    return frozenset(found)


def _type_of(tracer: Any) -> str:
    weak = " weak" if getattr(tracer, "weak_type", False) else ""
    return f"{tracer.dtype}{list(tracer.shape)}{weak}"


def _fields(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, (tuple, list)):
        names = getattr(value, "_fields", None) or map(str, range(len(value)))
        return list(zip(names, value))
    if isinstance(value, dict):
        return [(str(key), part) for key, part in value.items()]
    return [(name, getattr(value, name, None)) for name in getattr(type(value), "__dataclass_fields__", ())]


def _structure(value: Any) -> str:
    try:
        return str(jax.tree.structure(value))[:1000]
    except Exception:  # a container of the user's that cannot be taken apart
        return ""


def _short(value: Any) -> str:
    plain = (bool, int, float, complex, str, bytes, tuple, frozenset)
    return repr(value)[:200] if isinstance(value, plain) or value is None else str(id(value))


def named(name: str, known: Mapping[str, Any]) -> Any:
    """What a name, or a dotted name below modules, stands for; nothing is run to find out."""
    first, *rest = name.split(".")
    value = known.get(first)
    for part in rest:
        value = vars(value).get(part) if isinstance(value, ModuleType) else None
    return value
