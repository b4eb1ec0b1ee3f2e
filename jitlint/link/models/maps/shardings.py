"""Meshes, and what is split over their axes (layer: ``link``, room ``models``).

What it does: keeps the names of a mesh's axes, their sizes where the program says them, and the specification of a sharding, and
compares these with each other and with the array that is put there. What it does not: count devices, which are another number on
every machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.grounds import SEEN
from jitlint.infer.values import NONE, TRUE, UNKNOWN, Arr, B, ExtInst, Map, Py, Seq, Tup, Value, Xform
from jitlint.link.engine.counts import Plain
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.jax.arrival import Marks
from jitlint.link.values import iteration, pytrees
from jitlint.link.values.library_objects import PARTITION_SPEC, SPLIT

SHARDING: Final = "jax.sharding.NamedSharding"
_MESH: Final = "jax.sharding.Mesh"
_AXES: Final = "$axes"
"""Where a mesh keeps the names of its axes."""
_SIZES: Final = "$sizes"
"""Where it keeps how many devices there are along each."""
_EXPLICIT: Final = "$explicit"
_TYPED: Final = "meshes-are-explicit"
"""Where it says that all of its axes are explicit, and since when they are that where nothing is said."""
_OVER: Final = "$mesh"
"""Where a sharding keeps its mesh."""
_DEPTH: Final = 4
PLACES: Final = "in_shardings"


def partition_spec(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Over which axes of a mesh an array is split."""
    known = args.more is None and not args.kw
    return ExtInst(PARTITION_SPEC, {SPLIT: Tup(tuple(args.pos))} if known else None)


def mesh(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Devices in rows, with a name for each axis; what is not known to the last name is nothing."""
    names = _names_given(args)
    known = names and None not in names
    devices = args.get(0, "devices")
    if known and type(devices) is Arr and devices.kind is SEEN and not devices.weak and not m.guards:
        rank = devices.rank
        if rank is not None and rank != len(names):
            return _misshapen(m, f, at, _MESH, rank, len(names))
    return _named_mesh(names, devices.dims if type(devices) is Arr else None) if known else UNKNOWN


def made_mesh(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """As many devices as the program asks for: with fewer it ends here."""
    types = args.get(2, "axis_types")
    explicit = (
        args.more is None and (types is None or types is NONE) and m.catalogue.view.behaves(_TYPED) is True
    )
    return _of_sizes(m, f, at, "jax.make_mesh", args, "axis_shapes", explicit)


def abstract_mesh(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A mesh of no devices, or of some."""
    return _of_sizes(m, f, at, "jax.sharding.AbstractMesh", args, "axis_sizes", False)


def _of_sizes(m: Machine, f: Frame, at: int, api: str, args: Args, name: str, explicit: bool) -> Value:
    names, sizes = _names_given(args), _sizes_in(args.get(0, name))
    if not names or None in names:
        return UNKNOWN
    if sizes and len(sizes) != len(names) and not m.guards:
        return _misshapen(m, f, at, api, len(sizes), len(names))
    return _named_mesh(names, sizes, explicit)


def _misshapen(m: Machine, f: Frame, at: int, api: str, axes: int, names: int) -> Value:
    """Record a mesh that has other numbers of axes and of names for them."""
    m.emit(
        f, ApiMisuse, at, api=api, problem="wrong-call", parameter="axis_names", detail=f"mesh {axes} {names}",
        exception="ValueError",
    )  # fmt: skip
    return UNKNOWN


def _names_given(args: Args) -> list[str | None]:
    given = args.get(1, "axis_names")
    return list(named_in([given])) if given is not None else []


def rows_of_devices(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """An array of devices of the shape that is asked for."""
    sizes = _sizes_in(args.get(0, "mesh_shape"))
    made = Arr(rank=len(sizes) or None, level=f.world.level, host=True)
    made.dims = sizes or None
    return made


def _sizes_in(shape: Value | None) -> tuple[int | None, ...]:
    items = iteration.known_items(shape) if type(shape) in (Tup, Seq) and shape is not None else None
    return tuple([one.const if type(one) is Py and type(one.const) is int else None for one in items or ()])


def _named_mesh(
    names: Sequence[str | None], sizes: tuple[int | None, ...] | None, explicit: bool = False
) -> Value:
    fits = sizes is not None and len(sizes) == len(names)
    known = [UNKNOWN if size is None else Py("int", size) for size in sizes or ()] if fits else []
    types = {_EXPLICIT: TRUE} if explicit else {}
    return ExtInst(
        _MESH, {_AXES: Tup(tuple([Py("str", name) for name in names])), _SIZES: Tup(tuple(known)), **types}
    )


def sharding(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A specification for the axes of one mesh; JAX refuses names that the mesh does not have."""
    over, spec = args.get(0, "mesh"), args.get(1, "spec")
    split = split_of(spec)
    if split is None:
        return UNKNOWN
    if _misnamed(m, f, at, SHARDING, over, split) or _repeated(m, f, at, SHARDING, split):
        return UNKNOWN
    return ExtInst(SHARDING, {SPLIT: Tup(tuple(split)), _OVER: over or UNKNOWN})


def bound_axes(x: Xform) -> frozenset[str] | None:
    """The names of the axes that a map binds for its function, None if they are not known."""
    if x.spec.specs:
        over = x.options.get("mesh")
        axes = over.attrs.get(_AXES) if type(over) is ExtInst else None
        return (
            frozenset(str(axis.const) for axis in axes.items if type(axis) is Py)
            if type(axes) is Tup
            else None
        )
    given = x.options.get("axis_name")
    names = list(named_in([given])) if given is not None else []
    return frozenset(name for name in names if name is not None) if None not in names else None


def check_placed(m: Machine, f: Frame, at: int, api: str, value: Value, where: Value | None) -> None:
    """An array is split: has it as many axes as are spoken of. A tree of places begins as the tree that is placed does."""
    odd = _other_keys(where, value)
    if odd:
        m.emit(f, ApiMisuse, at, value, api=api, problem="other-keys", detail=odd)
        return
    split = split_of(where)
    if split is None or f.world.modes & B:
        return
    if type(value) is Arr and value.rank is not None and value.dtype != "key" and len(split) > value.rank:
        m.emit(
            f, ApiMisuse, at, value, api=api, problem="long-spec", detail=f"{len(split)} for {value.rank}"
        )  # fmt: skip
    elif api not in lexicon().contracts.wishes:
        _refuses_shares(m, f, at, api, value, where)
    elif _speaks_of_types(where, split) and not m.guards:
        m.emit(f, ApiMisuse, at, value, api=api, problem="explicit-axes", exception="ValueError")


def _speaks_of_types(where: Value | None, split: Sequence[Value]) -> bool:
    """Whether axes are named that are explicit."""
    over = where.attrs.get(_OVER) if type(where) is ExtInst else None
    explicit = type(over) is ExtInst and over.attrs.get(_EXPLICIT) is TRUE
    return explicit and any(name is not None for name in named_in(split))


def refuses_split(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """A mapped function is called: whether its arguments are certainly not split as is said of them."""
    if args.more is not None or f.world.modes & B:
        return False
    marks = Marks(x)
    return any(_unfit(m, f, at, x, marks.of(i), value) for i, value in enumerate(args.pos))


def refuses_places(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """A function is called that says where its arguments are to be: whether one of them cannot be split like that."""
    where = x.options.get(PLACES)
    each = iteration.known_items(where) if type(where) in (Tup, Seq) and where is not None else None
    if args.more is not None or f.world.modes & B or (each is not None and len(each) != len(args.pos)):
        return False
    marks = each if each is not None else [where] * len(args.pos)
    return any(_refuses_shares(m, f, at, x.spec.name, value, mark) for mark, value in zip(marks, args.pos))


def _refuses_shares(m: Machine, f: Frame, at: int, api: str, value: Value, where: Value | None) -> bool:
    """Whether the leaves of a tree are certainly not split evenly by the one sharding for all of them."""
    split, over = split_of(where), where.attrs.get(_OVER) if type(where) is ExtInst else None
    if split is None or over is None:
        return False
    return any(
        _check_even(m, f, at, api, leaf, split, over)
        for leaf in leaves_of(value, _DEPTH)
        if type(leaf) is Arr
    )


def refuses_joining(m: Machine, f: Frame, at: int, x: Xform, result: Value) -> bool:
    """What each device gives is put together along axes that it has."""
    return not f.world.modes & B and _unfit(m, f, at, x, x.options.get(x.spec.results), result, joins=True)


def _unfit(
    m: Machine,
    f: Frame,
    at: int,
    x: Xform,
    mark: Value | None,
    value: Value,
    depth: int = 4,
    joins: bool = False,
) -> bool:
    """Record that a specification names an axis which the mesh does not have, more axes than an array has, or that it splits
    one unevenly. joins: the array is a device's part of what is put together."""
    split = split_of(mark)
    if split is None:
        odd = _other_keys(mark, value, 1)
        if odd:
            m.emit(f, ApiMisuse, at, value, api=x.spec.name, problem="other-keys", detail=odd)
            return True
        pairs = together(mark, value) if depth else ()
        return any(_unfit(m, f, at, x, one, other, depth - 1, joins) for one, other in pairs)
    if _misnamed(m, f, at, x.spec.name, x.options.get("mesh"), split):
        return True
    for leaf in leaves_of(value, depth):
        if type(leaf) is Arr and leaf.rank is not None and leaf.dtype != "key" and len(split) > leaf.rank:
            m.emit(
                f, ApiMisuse, at, leaf, api=x.spec.name, problem="long-spec",
                detail=f"{len(split)} for {leaf.rank}",
            )  # fmt: skip
            return True
        if (
            not joins
            and type(leaf) is Arr
            and _check_even(m, f, at, x.spec.name, leaf, split, x.options.get("mesh"))
        ):
            return True
    return False


def _check_even(
    m: Machine, f: Frame, at: int, api: str, value: Arr, split: Sequence[Value], over: Value | None
) -> bool:
    """Record that an axis of known size cannot be split evenly over as many devices as the program asks for."""
    if value.kind is not SEEN or m.guards:
        return False
    _check_last(m, f, at, api, value, split, over)
    for axis, (entry, size) in enumerate(zip(split, value.dims or ())):
        names = list(named_in([entry]))
        count = _devices_along(over, names) if names else None
        if size is not None and count and size % count:
            m.emit(
                f, ApiMisuse, at, value, api=api, problem="uneven-split", parameter=", ".join(map(str, names)),
                detail=f"{axis} {size} {count}", exception="ValueError",
            )  # fmt: skip
            return True
    return False


def _check_last(
    m: Machine, f: Frame, at: int, api: str, value: Arr, split: Sequence[Value], over: Value | None
) -> None:
    """Record that a batch cannot be split evenly which is smaller than those before it, that can."""
    rows, names = value.about.rows, list(named_in(split[:1]))
    count = _devices_along(over, names) if rows is not None and names else None
    if rows is not None and count and not rows.least % count and rows.most and rows.most % count:
        m.emit(
            f, ApiMisuse, at, value, Confidence.LIKELY, when=(Plain(m.counts, rows),), api=api, exception="ValueError",
            problem="uneven-split", parameter=", ".join(map(str, names)), detail=f"0 {rows.most} {count} last",
        )  # fmt: skip


def _devices_along(over: Value | None, names: Sequence[str | None]) -> int | None:
    """How many devices there are along axes of a mesh, None if it is not known."""
    axes, sizes = (over.attrs.get(_AXES), over.attrs.get(_SIZES)) if type(over) is ExtInst else (None, None)
    if type(axes) is not Tup or type(sizes) is not Tup:
        return None
    known = {
        axis.const: size.const
        for axis, size in zip(axes.items, sizes.items)
        if type(axis) is type(size) is Py
    }
    counts = [count for name in names if type(count := known.get(name)) is int]
    return math.prod(counts) if len(counts) == len(names) else None


def together(mark: Value | None, value: Value) -> Iterable[tuple[Value, Value]]:
    """The parts of a tree of specifications with those of the tree that they speak of, in the order of `pytrees.children`."""
    if type(mark) is Map and type(value) is Map and value.rest is None and mark.rest is None:
        both = sorted(mark.entries.keys() & value.entries.keys(), key=str)
        return [(mark.entries[key], value.entries[key]) for key in both]
    ours = iteration.known_items(mark) if type(mark) in (Tup, Seq) and mark is not None else None
    others = iteration.known_items(value) if type(value) in (Tup, Seq) else None
    fits = ours is not None and others is not None and len(ours) == len(others)
    return zip(ours or (), others or ()) if fits else ()


def _other_keys(mark: Value | None, value: Value, depth: int = 4) -> str:
    """The keys that a tree of specifications lacks, or has for nothing, "" if it certainly is a prefix or nobody knows."""
    if (
        not depth
        or type(mark) is not Map
        or type(value) is not Map
        or not (_is_closed(mark) and _is_closed(value))
    ):
        return ""
    odd = mark.entries.keys() ^ value.entries.keys()
    if odd:
        return ", ".join(f"`{key}`" for key in sorted(map(str, odd))[:3])
    return next(filter(None, (_other_keys(one, part, depth - 1) for one, part in together(mark, value))), "")


def _is_closed(value: Map) -> bool:
    return value.rest is None and not value.open


def leaves_of(value: Value, depth: int) -> Iterable[Value]:
    """The leaves of a pytree, or what is too deep in it to be taken apart."""
    parts = pytrees.children(value) if depth else None
    if parts is None:
        yield value
    for part in parts or ():
        yield from leaves_of(part, depth - 1)


def _misnamed(m: Machine, f: Frame, at: int, api: str, over: Value | None, split: list[Value]) -> bool:
    """Whether a specification certainly names an axis that the mesh does not have; it is recorded."""
    axes = over.attrs.get(_AXES) if type(over) is ExtInst else None
    if type(axes) is not Tup:
        return False
    there = [axis.const for axis in axes.items if type(axis) is Py]
    other = next((name for name in named_in(split) if name is not None and name not in there), None)
    if other is not None:
        m.emit(
            f, ApiMisuse, at, api=api, problem="no-mesh-axis", parameter=other,
            detail=", ".join(f"`{name}`" for name in there),
        )  # fmt: skip
    return other is not None


def _repeated(m: Machine, f: Frame, at: int, api: str, split: list[Value]) -> bool:
    """Whether a specification certainly splits twice over one axis of the mesh; it is recorded."""
    names = [name for name in named_in(split) if name is not None]
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        m.emit(f, ApiMisuse, at, api=api, problem="repeated-axis", parameter=twice)
    return twice is not None


def split_of(value: Value | None) -> list[Value] | None:
    """What a specification, or a sharding, is made of; None for what is none."""
    split = value.attrs.get(SPLIT) if type(value) is ExtInst else None
    return list(split.items) if type(split) is Tup else None


def named_in(entries: Iterable[Value]) -> Iterable[str | None]:
    """The names in a specification; None for what may hold others."""
    for entry in entries:
        if type(entry) is Py and entry.kind == "none":
            continue
        items = iteration.known_items(entry) if type(entry) in (Tup, Seq) else None
        if items is not None:
            yield from named_in(items)
        else:
            yield entry.const if type(entry) is Py and isinstance(entry.const, str) else None
