"""What a function under a transform gets for its arguments: a tracer, a reference, or what was given (layer: ``link``, room ``models``).

Which arguments pass through untouched is each transform's own rule, measured: static ones of `jax.jit`, those whose axis
is None of `jax.vmap` (those of `jax.pmap` become tracers all the same), those whose specification is None of
`jax.shard_map`, ``excluded`` ones of `jax.numpy.vectorize`, those that are not differentiated, and all of `checkify`. An
option that is not understood is not taken as absent: then an argument is perhaps a tracer and perhaps what was given.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jitlint.catalogue.transforms import Wrap
from jitlint.infer.lattice import join
from jitlint.infer.values import (
    NONE,
    UNKNOWN,
    ExtInst,
    Inst,
    Map,
    Py,
    S,
    Seq,
    Tree,
    Tup,
    Union,
    Value,
    Xform,
    alternatives,
)
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.jax import boundaries
from jitlint.link.models.jax.references import references
from jitlint.link.values import iteration, parameters, pytrees
from jitlint.link.values.library_objects import SPLIT
from jitlint.link.values.questions import sorting
from jitlint.link.values.questions.signatures import (
    Signature,
    constant_ints,
    describe,
    signature,
    static_names,
)
from jitlint.syntax import ir


def arguments(m: Machine, f: Frame, at: int, x: Xform, sig: Signature | None, args: Args) -> Args:
    """The arguments as they arrive in the transformed function."""
    spec: Wrap = x.spec
    if spec.untouched:
        return args
    by_parameters = m.catalogue.view.behaves("static-counts-parameters") is True
    given = None if args.more is not None else len(args.pos)
    nums, names, known = static_names(x, sig, given, by_parameters)
    level = f.world.level + 1
    positional = _shown(x, sig)
    marks = Marks(x)
    excluded = _Excluded(x, len(args.pos), known)
    pos: list[Value] = []
    for i, value in enumerate(args.pos):
        name = positional[i].name if i < len(positional) else ""
        if i in nums:
            pos.append(_static(m, f, at, x, name or f"argument {i}", value))
        elif excluded.has_position(i):
            pos.append(value)
        else:
            pos.append(_one(m, f, at, x, sig, name, value, level, marks.of(i, name)))
    kw: dict[str, Value] = {}
    for name, value in args.kw.items():
        if name in names:
            kw[name] = _static(m, f, at, x, name, value)
        elif excluded.has_name(name):
            kw[name] = value
        else:
            if known and positional:
                boundaries.check_static_by_position(m, f, x, positional, nums, name)
            kw[name] = _one(m, f, at, x, sig, name, value, level, None)
    more = _spread(x, args, nums, level, marks.of_rest())
    arrived = Args(pos, kw, more, _rest(x, args.kw_more, level, None))
    return _with_outputs(x, sig, arrived, level) if spec.kernel and sig is not None else arrived


def _shown(x: Xform, sig: Signature | None) -> list[ir.Param]:
    """The positional parameters; a wrapper that takes anything shows those of what it wraps."""
    if sig is not None and sig.has_var and not sig.positional:
        sig = signature(x.target, claimed=True)
    return sig.positional if sig is not None else []


def _static(m: Machine, f: Frame, at: int, x: Xform, name: str, value: Value) -> Value:
    """A static argument as it arrives: what cannot be hashed is refused here, and never gets in.

    An object does: its class is easily given a hash, and what its methods do stays the same.
    """
    if boundaries.check_static_value(m, f, at, x, name, value):
        return value if type(value) is Inst else UNKNOWN
    if not x.spec.static_hash:
        return value
    alts = alternatives(value)
    kept = tuple(a for a in alts if not boundaries.unhashable(a) and not _is_traced_tree(a))
    if len(kept) == len(alts):
        return value
    return Union(kept) if len(kept) > 1 else kept[0] if kept else UNKNOWN


def _is_traced_tree(value: Value) -> bool:
    return type(value) is Tree and value.modes != 0


def _with_outputs(x: Xform, sig: Signature, args: Args, level: int) -> Args:
    """A kernel also gets references to its outputs and its scratch memory, after those to its inputs."""
    for param in sig.positional[len(args.pos) :] if args.more is None else ():
        if param.default is None and param.name not in args.kw:
            why = f"parameter `{param.name}` of `{describe(x.target)}`"
            args.pos.append(references(UNKNOWN, x.spec.modes, level, why))
    if sig.has_var and args.more is None:
        args.more = references(UNKNOWN, x.spec.modes, level, "")
    return args


def batched(x: Xform, args: Args) -> list[Value]:
    """What every lane of a batch, or every device, has for itself among the arguments."""
    marks = Marks(x)
    own = [part for i, value in enumerate(args.pos) for part in _own(marks.of(i), value)]
    return [*own, *args.kw.values()]


def lanes(x: Xform, args: Args) -> frozenset[int]:
    """The positions of arguments of which every lane has something for itself."""
    marks = Marks(x)
    return frozenset([i for i, value in enumerate(args.pos) if _own(marks.of(i), value)])


def _own(mark: Value | None, value: Value) -> list[Value]:
    if mark is None or _is_for_all(mark):
        return [] if mark is not None else [value]
    if type(mark) is Map and type(value) is Map:
        return [own for key, part in value.entries.items() for own in _own(mark.entries.get(key), part)]
    marks, parts = _items(mark), _items(value)
    if marks is None or parts is None or len(marks) != len(parts):
        return [value]
    return [own for one, part in zip(marks, parts) for own in _own(one, part)]


def _is_for_all(mark: Value) -> bool:
    """Whether a mark says that all lanes or devices have the same."""
    if type(mark) is ExtInst:
        axes = mark.attrs.get(SPLIT)
        return type(axes) is Tup and all(axis is NONE for axis in axes.items)
    return mark is NONE


def gives_one(x: Xform) -> bool:
    """Whether all that a transformed function gives is declared to be the same in every lane."""
    value = x.options.get(x.spec.results or "out_axes")
    parts = pytrees.children(value) if value is not None else None
    return value is not None and all(_is_for_all(part) for part in parts or [value])


class Marks:
    """What ``in_axes`` or ``in_specs`` says about each argument; absent, it says nothing.

    Equinox's transforms take a dict, too, with the names of parameters. Source: `equinox.filter_vmap`.
    """

    __slots__ = ("_every", "_items", "_named")

    def __init__(self, x: Xform) -> None:
        value = x.options.get(x.spec.axes or x.spec.specs)
        self._named = value if type(value) is Map and x.spec.filter else None
        items = iteration.known_items(value) if type(value) in (Tup, Seq) and value is not None else None
        self._items = items
        self._every = value if items is None else None

    def of(self, i: int, name: str = "") -> Value | None:
        """The mark of a positional argument, a pytree itself perhaps. name: of its parameter, where that is known."""
        if self._named is not None:
            return self._named.entries.get(name) if name and self._named.rest is None else UNKNOWN
        if self._items is None:
            return self._every
        return self._items[i] if i < len(self._items) else None

    def of_rest(self) -> Value | None:
        """The mark of arguments of which it is not known at which places they are."""
        return UNKNOWN if self._named is not None or self._items is not None else self._every


class _Excluded:
    """The arguments that a transform hands on as they are: those that ``excluded`` names by position or by name, those
    that are not differentiated, and all of them when it is not known which are static."""

    __slots__ = ("_known", "_names", "_only", "_positions")

    def __init__(self, x: Xform, given: int, known: bool) -> None:
        self._positions = frozenset[object]()
        self._names = frozenset[object]()
        self._known = known
        self._only = _differentiated(x, given) if x.spec.argnums else None
        if x.spec.excluded not in x.options:
            return
        value = x.options[x.spec.excluded]
        items = iteration.known_items(value)
        found = [i.const for i in items or () if type(i) is Py]
        self._known = known and items is not None and len(found) == len(items)
        self._positions = frozenset([i for i in found if type(i) is int])
        self._names = frozenset([i for i in found if type(i) is str])

    def has_position(self, i: int) -> bool:
        """Whether an argument without a name is left as it is."""
        return not self._known or i in self._positions or (self._only is not None and i not in self._only)

    def has_name(self, name: str) -> bool:
        """Whether an argument with a name is left as it is."""
        return not self._known or self._only is not None or name in self._names


def _differentiated(x: Xform, given: int) -> set[int]:
    value = x.options.get(x.spec.argnums)
    if value is None:
        return {0}
    found = constant_ints(value)
    return {n % given if n < 0 and given else n for n in found or ()}


def _spread(x: Xform, args: Args, nums: Collection[int], level: int, mark: Value | None) -> Value | None:
    """What `*` hands on as it arrives: nobody knows how where some of it perhaps goes to a static parameter."""
    held = args.more is not None and any(i >= len(args.pos) for i in nums)
    return UNKNOWN if held else _rest(x, args.more, level, mark)


def _rest(x: Xform, value: Value | None, level: int, mark: Value | None) -> Value | None:
    if value is None:
        return None
    if x.spec.kernel:
        return references(value, x.spec.modes, level, "")
    plain = mark is None or (type(mark) is Py and type(mark.const) is int)
    inside = _inside(x.spec, value, mark) if plain or not x.spec.axes else pytrees.with_rank(value, None)
    return pytrees.lift(inside, x.spec.modes, level, "", x.spec.filter, sized=not x.spec.specs)


def _one(
    m: Machine,
    f: Frame,
    at: int,
    x: Xform,
    sig: Signature | None,
    name: str,
    value: Value,
    level: int,
    mark: Value | None,
) -> Value:
    spec: Wrap = x.spec
    staged = bool(spec.modes & S)
    if mark is NONE and not staged:
        return pytrees.remade(value, level)
    if value is UNKNOWN and sig is not None and name:
        value = parameters.generic(m, sig.func, name, meant=spec.filter or spec.kernel)
    if _is_refused(m, f, at, x, name, value, mark):
        value = UNKNOWN
    why = f"parameter `{name}` of `{describe(x.target)}`" if name else ""
    if spec.kernel:
        return references(value, spec.modes, level, why)
    shared = bool(spec.specs)  # each device has a part of it
    lifted = pytrees.lift(_inside(spec, value, mark), spec.modes, level, why, spec.filter, sized=not shared)
    return lifted if staged or mark is None else _as_marked(mark, value, lifted)


def _inside(spec: Wrap, value: Value, mark: Value | None) -> Value:
    """An argument with as many axes as the function sees of it."""
    if spec.excluded or spec.sliced:  # `jax.numpy.vectorize` takes off as many axes as the signature leaves
        return pytrees.with_rank(value, None)
    return _one_lane(value, mark) if spec.axes and mark is not NONE else value


def _one_lane(value: Value, mark: Value | None) -> Value:
    """What one lane of a batch has of an argument that is mapped along an axis, or its parts along axes of their own."""
    axis = 0 if mark is None else mark.const if type(mark) is Py else None
    if type(axis) is int:
        return pytrees.with_rank(value, -1, axis=axis)
    marks, parts = _items(mark) if mark is not None else None, _items(value)
    if marks is not None and parts is not None and len(marks) == len(parts) and type(value) is Tup:
        lanes = [_lane_of_part(part, one) for one, part in zip(marks, parts)]
        return value.of(lanes)
    if type(mark) is Map and type(value) is Map and mark.rest is None:
        entries = {
            key: _lane_of_part(part, mark.entries.get(key, UNKNOWN)) for key, part in value.entries.items()
        }
        return Map(entries, value.rest, value.level, None, value.key)
    return pytrees.with_rank(value, -1, axis=None)


def _lane_of_part(part: Value, mark: Value) -> Value:
    return part if mark is NONE else _one_lane(part, mark)


def _is_refused(m: Machine, f: Frame, at: int, x: Xform, name: str, value: Value, mark: Value | None) -> bool:
    """Whether an argument is certainly no pytree of arrays, or one that cannot be taken apart."""
    spec: Wrap = x.spec
    if (spec.strict or spec.axes) and sorting.refuses(m, f, at, spec.name, Args([value])):
        return True
    if not spec.strict or spec.kernel or (not spec.modes & S and _may_keep(mark)):
        return False
    return boundaries.check_argument(m, f, at, x, name, value)


def _may_keep(mark: Value | None) -> bool:
    """Whether a mark lets something through untouched."""
    if mark is None:
        return False
    if mark is UNKNOWN or any(alt is NONE for alt in alternatives(mark)):
        return True
    parts = mark.attrs.values() if type(mark) is Inst else pytrees.children(mark)
    return any(_may_keep(part) for part in parts or ())


def _as_marked(mark: Value | None, before: Value, after: Value) -> Value:
    """The traced argument, but as it was where its mark is None, and either where the mark is not understood."""
    if mark is NONE:
        return before
    if mark is None or not _may_keep(mark):
        return after
    if type(mark) is Map and type(before) is Map and type(after) is Map:
        entries = {k: _as_marked(mark.entries.get(k), before.entries[k], v) for k, v in after.entries.items()}
        return Map(entries, after.rest, after.level, None, after.key)
    if type(mark) is Inst and type(before) is Inst and type(after) is Inst:
        attrs = {k: _as_marked(mark.attrs.get(k), before.attrs.get(k, v), v) for k, v in after.attrs.items()}
        out = Inst(after.cls, attrs, after.level, None, after.open)
        out.modes, out.why = after.modes, after.why
        return out
    return _items_as_marked(mark, before, after)


def _items_as_marked(mark: Value, before: Value, after: Value) -> Value:
    """As `_as_marked`, for tuples and lists that fit."""
    marks, old, new = _items(mark), _items(before), _items(after)
    if marks is None or old is None or new is None:
        return join(before, after)
    if type(before) is not type(after) or len(marks) != len(new):
        return join(before, after)
    parts = [_as_marked(*part) for part in zip(marks, old, new)]
    if isinstance(after, Seq):
        return Seq(after.kind, parts, None, after.level)
    return after.of(parts) if isinstance(after, Tup) else Tup(tuple(parts))


def _items(value: Value) -> Sequence[Value] | None:
    return value.items if isinstance(value, (Tup, Seq)) else None
