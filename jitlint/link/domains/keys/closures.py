"""Which PRNG keys a call is given: in its arguments, and by what its functions close over (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Optional

from jitlint.infer.keys import Key
from jitlint.infer.values import Bound, Func, Partial, Scope, Value, Xform
from jitlint.link.values import keys

_DEPTH: Final = 4
_CLOSING: Final = frozenset({Bound, Func, Partial, Xform})


def given(values: Iterable[Value], own: list[Key], func: Func | None) -> list[Key]:
    """All of them, in an order that is the same for equal calls. own: those in the arguments. func: what is called."""
    out = list(own)
    seen: set[tuple[int, int]] = set()
    for value in values:
        if type(value) in _CLOSING:
            _closed_over(value, out, seen, _DEPTH)
    if func is not None:
        _cells(func, out, seen, _DEPTH)
    return out


def _closed_over(value: Optional[Value], out: list[Key], seen: set[tuple[int, int]], depth: int) -> None:
    if not depth:
        return
    if type(value) is Func:
        _cells(value, out, seen, depth)
    elif type(value) is Xform:
        _closed_over(value.target, out, seen, depth - 1)
    elif type(value) is Bound:
        _closed_over(value.func, out, seen, depth - 1)
    elif type(value) is Partial:
        parts = [*value.args, *value.keywords.values()]
        out += keys.inside(parts)
        for part in (value.func, *parts):
            _closed_over(part, out, seen, depth - 1)


def _cells(func: Func, out: list[Key], seen: set[tuple[int, int]], depth: int) -> None:
    scope: Scope | None = func.scope
    place = (func.fn.id, func.scope.key)
    if func.scope.fn is None or place in seen:
        return
    seen.add(place)
    for name in func.fn.outer_names:
        scope = func.scope
        while scope is not None and scope.fn is not None:
            found = scope.vars.get(name)
            if found is not None:
                out += keys.inside([found])
                if type(found) in _CLOSING:
                    _closed_over(found, out, seen, depth - 1)
                break
            scope = scope.parent
