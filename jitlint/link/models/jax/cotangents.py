"""The form of the cotangents that a backward rule gives (layer: ``link``, room ``models``).

What it does: compares the containers of each cotangent with those of the argument that it is for: a tuple is no named tuple. What it
does not: look at shapes, or refuse ``None``, or one array, in place of a whole container.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.values import Arr, Map, Seq, Tup, Value, Xform
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.jax import mapping
from jitlint.link.values.questions.signatures import describe

_DEPTH: Final = 6


def check_form(m: Machine, f: Frame, at: int, x: Xform, cotangents: Value, primals: list[Value]) -> bool:
    """Whether a cotangent is certainly put together in another way than the argument that it is for; it is recorded."""
    items = list(cotangents.items) if type(cotangents) is Tup else []
    for primal, cotangent in zip(primals, items) if len(items) == len(primals) else ():
        detail = _unlike(primal, cotangent, _DEPTH)
        if detail:
            mapping.report(m, f, at, describe(x.target), "rule-form", detail, "bwd")
            return True
    return False


def _unlike(primal: Value, cotangent: Value, depth: int) -> str:
    """What a cotangent, or a part of it, is instead of what: ``a tuple of 4 for a `Gaussians```, or ""."""
    before, after = _container(primal), _container(cotangent)
    if not depth or not after:
        return ""
    if not before:
        is_array = type(primal) is Arr and not primal.weak and not primal.softness and bool(primal.modes)
        return f"{after} for an array" if is_array else ""
    if before != after:
        return f"{after} for {before}"
    return next(filter(None, (_unlike(p, c, depth - 1) for p, c in _pairs(primal, cotangent))), "")


def _container(value: Value) -> str:
    """How a container of which all is known is put together, in words."""
    if type(value) is Tup:
        return f"a tuple of {len(value.items)}" if value.cls is None else f"a `{value.cls.name}`"
    if type(value) is Seq:
        return f"a list of {len(value.items)}" if value.kind == "list" and value.items is not None else ""
    if type(value) is Map and value.rest is None and all(type(key) is str for key in value.entries):
        names = ", ".join(f"`{key}`" for key in sorted(value.entries))
        return f"a dict of {names}" if names else "an empty dict"
    return ""


def _pairs(primal: Value, cotangent: Value) -> list[tuple[Value, Value]]:
    if type(primal) is Map and type(cotangent) is Map:
        return [(part, cotangent.entries[key]) for key, part in primal.entries.items()]
    if isinstance(primal, (Tup, Seq)) and isinstance(cotangent, (Tup, Seq)):
        return list(zip(primal.items or (), cotangent.items or ()))
    return []
