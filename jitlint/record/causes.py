"""Runs inside the user's program and notes why something is traced again: which argument differs, and who calls (layer: ``record``).

What it does: keep the shapes, types and plain numbers of the arguments of each trace, compare a new one with the most similar
of the earlier ones, and say in which argument they differ.
What it does not: keep values, or decide what was traced (``hook.py`` does).
Loaded by its path, as ``hook.py`` is: nothing but the standard library.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any

_MOST_LEAVES = 256
_MOST_FORMS = 64
_MOST_CHANGES = 32
# A leaf as it is shown, and what tells it from another one that looks the same.
Leaf = tuple[str, object]
Place = tuple[str, int]

_NOT_A_NAME = re.compile(r"\W")


class Causes:
    """Of one function or operation: the arguments of its traces, and how each differed from those before."""

    def __init__(self) -> None:
        self._earlier: list[dict[str, Leaf]] = []
        self._changes: dict[tuple[str, Place], list[Any]] = {}

    def note(self, leaves: dict[str, Leaf], place: Place) -> None:
        """It is traced with these arguments, for a call at a place."""
        if self._earlier:
            self._compare(leaves, place)
        self._earlier.append(leaves)
        del self._earlier[:-_MOST_FORMS]

    def _compare(self, leaves: dict[str, Leaf], place: Place) -> None:
        others = [(_differing(leaves, earlier), earlier) for earlier in reversed(self._earlier)]
        names, earlier = min(others, key=lambda other: len(other[0]))
        at = names[0] if names else ""
        if at and (at not in leaves or at not in earlier):  # it has more parts, or fewer
            at = _argument(at)
        change = self._changes.get((at, place))
        if change is None:
            if len(self._changes) >= _MOST_CHANGES:
                return
            change = self._changes[at, place] = ["", "", 0, 0]
        now, before = (_shown(each, at) for each in (leaves, earlier))
        change[:3] = [f"another {now}" if at and now == before else now, before, max(len(names) - 1, 0)]
        change[3] += 1

    def as_json(self) -> list[dict[str, Any]]:
        """For the store."""
        return [
            {"at": at, "now": now, "before": before, "more": more, "file": file, "line": line, "times": times}
            for (at, (file, line)), (now, before, more, times) in self._changes.items()
        ]


def _argument(name: str) -> str:
    return _NOT_A_NAME.split(name, 1)[0]


def _shown(leaves: Mapping[str, Leaf], at: str) -> str:
    """A leaf, or how many an argument has."""
    if not at or at in leaves:
        return leaves[at][0] if at else ""
    count = sum(_argument(name) == at for name in leaves)
    return f"{count} part{'' if count == 1 else 's'}"


def _differing(one: Mapping[str, Leaf], other: Mapping[str, Leaf]) -> list[str]:
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


def leaves_of(
    values: Mapping[str, object], tracer: type, is_leaf: Callable[[object], bool]
) -> dict[str, Leaf]:
    """The arrays and other leaves of arguments, by the names of the arguments and the way from there."""
    tree = sys.modules.get("jax.tree_util")
    found: dict[str, Leaf] = {}
    for name, value in values.items():
        try:
            pairs = (
                tree.tree_flatten_with_path(value, is_leaf=is_leaf)[0] if tree is not None else [((), value)]
            )
            for path, leaf in pairs[: _MOST_LEAVES - len(found)]:
                found[f"{name}{tree.keystr(path) if tree is not None else ''}"] = _leaf(leaf, tracer)
        except Exception:  # of a flatten function of the user's
            found[name] = (type(value).__name__, None)
    return found


def _leaf(value: object, tracer: type) -> Leaf:
    """What JAX looks at, as far as it may be kept. Objects and texts are told from each other, and not shown."""
    if isinstance(value, tracer):
        return aval(value), None
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(shape, tuple) and dtype is not None and not isinstance(value, type):
        weak = "~" if getattr(value, "weak_type", False) else ""
        return f"{_short(str(dtype))}[{','.join(map(str, shape))}]{weak}", None
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value), type(value)
    if isinstance(value, slice) and all(
        type(e) in (int, NoneType) for e in (value.start, value.stop, value.step)
    ):
        return str(value), None
    if isinstance(value, str):
        return "str", hash(value)
    return getattr(value, "__qualname__", type(value).__name__), id(value)


def _short(dtype: str) -> str:
    for long, short in (("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c")):
        if dtype.startswith(long):
            return short + dtype[len(long) :]
    return "bf16" if dtype == "bfloat16" else dtype


def aval(value: Any) -> str:
    """Dtype and shape of a tracer in JAX's own short form."""
    found = getattr(value, "aval", None)
    short = getattr(found, "str_short", None)
    text = str(short(short_dtypes=True) if short is not None else found)
    return f"{text}~" if getattr(found, "weak_type", False) else text
