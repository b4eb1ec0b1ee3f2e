"""Meshes, and what is split over their axes (layer: ``link``, room ``models``).

What it does: keeps the names of a mesh's axes and the specification of a sharding, and compares these with each other and with
the array that is put there. What it does not: count devices, which are another number on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import UNKNOWN, Arr, B, ExtInst, Py, Seq, Tup, Value
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import iteration
from jitlint.link.values.library_objects import PARTITION_SPEC, SPLIT

SHARDING: Final = "jax.sharding.NamedSharding"
_MESH: Final = "jax.sharding.Mesh"
_AXES: Final = "$axes"
"""Where a mesh keeps the names of its axes."""


def partition_spec(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Over which axes of a mesh an array is split."""
    known = args.more is None and not args.kw
    return ExtInst(PARTITION_SPEC, {SPLIT: Tup(tuple(args.pos))} if known else None)


def mesh(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Devices in rows, with a name for each axis; what is not known to the last name is nothing."""
    given = args.get(1, "axis_names")
    names = list(_names([given])) if given is not None else []
    known = names and None not in names
    return ExtInst(_MESH, {_AXES: Tup(tuple([Py("str", name) for name in names]))}) if known else UNKNOWN


def sharding(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A specification for the axes of one mesh; JAX refuses names that the mesh does not have."""
    over, spec = args.get(0, "mesh"), args.get(1, "spec")
    split = _split(spec)
    if split is None:
        return UNKNOWN
    axes = over.attrs.get(_AXES) if type(over) is ExtInst else None
    if type(axes) is Tup:
        there = [axis.const for axis in axes.items if type(axis) is Py]
        other = next((name for name in _names(split) if name is not None and name not in there), None)
        if other is not None:
            m.emit(
                f, ApiMisuse, at, api=SHARDING, problem="no-mesh-axis", parameter=other,
                detail=", ".join(f"`{name}`" for name in there),
            )  # fmt: skip
            return UNKNOWN
    return ExtInst(SHARDING, {SPLIT: Tup(tuple(split))})


def check_placed(m: Machine, f: Frame, at: int, api: str, value: Value, where: Value | None) -> None:
    """An array is split: has it as many axes as are spoken of."""
    split = _split(where)
    if split is None or type(value) is not Arr or value.rank is None or value.dtype == "key":
        return
    if len(split) > value.rank and not f.world.modes & B:
        m.emit(
            f, ApiMisuse, at, value, api=api, problem="long-spec", detail=f"{len(split)} for {value.rank}"
        )  # fmt: skip


def _split(value: Value | None) -> list[Value] | None:
    split = value.attrs.get(SPLIT) if type(value) is ExtInst else None
    return list(split.items) if type(split) is Tup else None


def _names(entries: Iterable[Value]) -> Iterable[str | None]:
    """The names in a specification; None for what may hold others."""
    for entry in entries:
        if type(entry) is Py and entry.kind == "none":
            continue
        items = iteration.known_items(entry) if type(entry) in (Tup, Seq) else None
        if items is not None:
            yield from _names(items)
        else:
            yield entry.const if type(entry) is Py and isinstance(entry.const, str) else None
