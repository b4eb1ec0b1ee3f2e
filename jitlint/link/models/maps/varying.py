"""What differs from device to device inside of `jax.shard_map` (layer: ``link``, room ``models``).

What it does: marks what is split over axes of the mesh, takes the marks away where a collective settles them, and compares
them where JAX does: in results that are said to be the same everywhere, in what loops carry and in what branches give.
What it does not: follow more than the first axes of a mesh, or any that are not checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer import spreading
from jitlint.infer.events import ApiMisuse
from jitlint.infer.lattice import traced_modes
from jitlint.infer.spreading import MAY_VARY, VARIES
from jitlint.infer.values import TRUE, UNKNOWN, Arr, B, Map, Py, Seq, Tup, Value, Xform
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import SPREAD, World
from jitlint.link.models.jax.arrival import Marks
from jitlint.link.models.maps import lanes, shardings
from jitlint.link.values import iteration, pytrees

MARKS: Final = VARIES | MAY_VARY
_DEPTH: Final = 4
_CHECKS: Final = ("check_vma", "check_rep", "**")


def mapped(x: Xform, world: World) -> World:
    """The world inside of a map: inside of another one over a mesh, the axes of that are followed still."""
    followed = lanes.axes(x) if lanes.follows(x, world) else axes_of(x, world)
    inner = world.mapped(shardings.bound_axes(x), followed)
    return inner.but(marks=SPREAD) if x.spec.specs else inner


def axes_of(x: Xform, world: World) -> tuple[str, ...] | None:
    """The axes that are followed in a map that is called here, in the order of their marks; None: no others."""
    if not x.spec.specs or world.modes & SPREAD:
        return None
    if any(x.options.get(name, TRUE) is not TRUE for name in _CHECKS):
        return ()
    named = [x.options[option] for option in (x.spec.specs, x.spec.results) if option in x.options]
    known = shardings.bound_axes(x)
    return tuple(sorted(known or set(_mentioned(named))))[: spreading.MOST]


def _mentioned(specs: Iterable[Value], depth: int = _DEPTH) -> Iterable[str]:
    for spec in specs:
        split = shardings.split_of(spec)
        if split is not None:
            yield from (name for name in shardings.named_in(split) if name is not None)
        elif depth:
            yield from _mentioned(pytrees.children(spec) or (), depth - 1)


def arrived(f: Frame, x: Xform, args: Args) -> Args:
    """The arguments of a map over a mesh in its function, marked with the axes over which they are split. f: outside."""
    if lanes.follows(x, f.world):
        return lanes.arrived(x, args)
    axes, marks = axes_of(x, f.world), Marks(x)
    if not axes:
        return args
    pos = [_marked(axes, marks.of(i), value) for i, value in enumerate(args.pos)]
    kw = {name: _marked(axes, None, value) for name, value in args.kw.items()}
    more = None if args.more is None else _marked(axes, None, args.more)
    return Args(pos, kw, more, None if args.kw_more is None else _marked(axes, None, args.kw_more))


def _marked(axes: tuple[str, ...], mark: Value | None, value: Value) -> Value:
    split = shardings.split_of(mark)
    names = None if split is None else list(shardings.named_in(split))
    if names is not None and None not in names:
        bits = spreading.over(frozenset(i for i, axis in enumerate(axes) if axis in names))
        return pytrees.remode(value, lambda modes: modes | bits if modes else modes)
    pairs = list(shardings.together(mark, value))
    specs = {id(part): one for one, part in pairs}
    if specs and len(specs) == len(pairs):
        parts = pytrees.children(value) or []
        return pytrees.with_children(value, [_marked(axes, specs.get(id(part)), part) for part in parts])
    return pytrees.remode(value, lambda modes: modes | MAY_VARY if modes else modes)


def after_library(f: Frame, dotted: str, args: Args, result: Value) -> Value:
    """What a library function gave, with the marks that it has now."""
    if not f.world.spread or (type(result) not in (Arr, Tup) and not traced_modes(result)):
        return result
    contracts = lexicon().contracts
    gone = _gone(f, dotted, args)
    if gone is not None:
        return pytrees.remode(result, lambda modes: modes & ~gone)
    if dotted in contracts.spreading:
        if type(result) is Arr and not result.modes:
            return UNKNOWN  # it differs from device to device, which no number does
        return pytrees.remode(result, lambda modes: modes & ~VARIES | MAY_VARY)
    may = 0
    for value in args.pos:
        may |= traced_modes(value) & MAY_VARY
    kept = VARIES if dotted.startswith(contracts.alike) else 0
    if type(result) is Arr and may and not result.modes:
        return UNKNOWN
    return pytrees.remode(result, lambda modes: (modes & ~VARIES | modes & kept) | may if modes else modes)


def _gone(f: Frame, dotted: str, args: Args) -> int | None:
    """The marks that a function takes away which settles over an axis, or, in a batch, asks for the form alone; None for others."""
    if dotted in lexicon().contracts.settling:
        return _settled(f, args)
    of_form = not f.world.modes & SPREAD and lexicon().arrays.sizes.get(dotted) == "like"
    return MARKS if of_form else None


def _settled(f: Frame, args: Args) -> int:
    """The marks that a sum over axes takes away; where it is not known which these are, nothing is certain afterwards."""
    axes = args.get(1, "axis_name")
    names = list(shardings.named_in([axes])) if axes is not None else [None]
    if None in names or "axis_index_groups" in args.kw or len(args.pos) > 2:
        return VARIES
    return spreading.over(frozenset(i for i, axis in enumerate(f.world.spread) if axis in names))


def check_joined(m: Machine, f: Frame, at: int, x: Xform, result: Value) -> None:
    """What is said to be the same on all devices must not certainly differ. f: outside."""
    axes = axes_of(x, f.world)
    mark = x.options.get(x.spec.results)
    if axes and mark is not None and not f.world.modes & B:
        _check_same(m, f, at, x, axes, mark, result)


def _check_same(
    m: Machine, f: Frame, at: int, x: Xform, axes: tuple[str, ...], mark: Value, result: Value, depth: int = _DEPTH
) -> bool:  # fmt: skip
    split = shardings.split_of(mark)
    if split is None:
        pairs = shardings.together(mark, result) if depth else ()
        return any(_check_same(m, f, at, x, axes, one, part, depth - 1) for one, part in pairs)
    names = list(shardings.named_in(split))
    if None in names:
        return False
    for leaf in shardings.leaves_of(result, depth):
        if type(leaf) is not Arr or leaf.softness:
            continue
        found = spreading.certain(leaf.modes)
        odd = next((axis for axis in spreading.named(found, axes) if axis not in names), None)
        if odd is not None:
            m.emit(f, ApiMisuse, at, leaf, api=x.spec.name, problem="varies", parameter=odd)
            return True
    return False


def mismatch(
    f: Frame, before: Value, after: Value, branches: bool = False, path: str = "", depth: int = _DEPTH
) -> str:
    """How two values of one structure, which a loop carries or branches give, certainly differ in this, or ""."""
    if not f.world.spread or not f.world.modes & SPREAD:
        return ""  # elements of a batch may differ in what a loop carries
    one, other = _marks_of(before), _marks_of(after)
    if one is None or other is None:
        same = type(before) is type(after) and depth > 0
        pairs = _parts(before, after) if same else ()
        found = (mismatch(f, x, y, branches, f"{path}[{key!r}]", depth - 1) for key, x, y in pairs)
        return next(filter(None, found), "")
    odd = spreading.certain(other) - spreading.possible(one)
    if branches:
        odd |= spreading.certain(one) - spreading.possible(other)
    axes = spreading.named(odd, f.world.spread)
    if not axes:
        return ""
    axis, where = axes[0], f" at `{path}`" if path else ""
    verbs = ("is returned by one", "by another") if branches else ("comes in", "goes out")
    return f"what is the same over the mesh axis `{axis}` {verbs[0]}, what differs over it {verbs[1]}{where}"


def _marks_of(value: Value) -> int | None:
    if type(value) is Py and value.kind in pytrees.NUMBERS:
        return 0
    return value.modes if type(value) is Arr and not value.softness and value.dtype != "key" else None


def _parts(before: Value, after: Value) -> list[tuple[object, Value, Value]]:
    if type(before) is Map and type(after) is Map and before.entries.keys() == after.entries.keys():
        return [(key, part, after.entries[key]) for key, part in before.entries.items()]
    ours = iteration.known_items(before) if type(before) in (Tup, Seq) else None
    others = iteration.known_items(after) if type(after) in (Tup, Seq) else None
    if ours is None or others is None or len(ours) != len(others):
        return []
    return [(i, one, other) for i, (one, other) in enumerate(zip(ours, others))]
