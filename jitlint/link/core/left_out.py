"""Calls of the program that are not looked at, as a limit of the analysis is met (layer: ``link``, room ``core``).

What it does: forgets what such a call may have changed of its arguments. What it does not: ask what it does to anything else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jitlint.infer.program import FuncInfo
from jitlint.infer.values import NONE, UNKNOWN, Bound, Func, Inst, Partial, Value, alternatives
from jitlint.link.tables.storing import BINDING, stored
from jitlint.link.values.questions.kinds import member
from jitlint.syntax import ir

_REACH: Final = 3
"""So many objects deep a call may have filled something."""


def forget(fn: FuncInfo, bound: dict[str, Value]) -> None:
    """A call may have filled what its arguments lack, where they are None, and have put something in the place of their methods:
    ``self.reset = jax.vmap(self.reset)`` in a constructor."""
    _forget_missing(bound.values())
    for part in fn.parts:
        for place in stored(part) if part.__class__ in BINDING else ():
            owner = bound.get(place.obj.id) if type(place.obj) is ir.Name else None
            for alt in alternatives(owner) if owner is not None else ():
                if type(alt) is Inst and _is_method(alt, place.name):
                    alt.attrs.setdefault(place.name, UNKNOWN)


def _is_method(inst: Inst, name: str) -> bool:
    """Whether what the class of an object has under a name is a method, and no function that a field begins with."""
    found = member(inst.cls, name)
    return type(found) is Func and found.fn.qualname.endswith(f".{name}")


def _forget_missing(values: Iterable[Value], depth: int = _REACH) -> None:
    for value in values:
        for alt in alternatives(value):
            if type(alt) is Inst and depth:
                alt.attrs.update({name: UNKNOWN for name, held in alt.attrs.items() if held is NONE})
                _forget_missing(alt.attrs.values(), depth - 1)
            elif type(alt) is Bound:
                _forget_missing([alt.recv], depth)
            elif type(alt) is Partial:
                _forget_missing(alt.args, depth)
