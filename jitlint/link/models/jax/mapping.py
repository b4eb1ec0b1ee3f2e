"""What maps demand of their arguments and results: the axes that are mapped (layer: ``link``, room ``models``).

What it does: compares what ``in_axes`` and ``out_axes`` say, or the specifications of `jax.shard_map`, with what is known of
arguments and results. What it does not: speak of values of which only a part is known, or of what is split over a mesh,
which is the business of `shardings`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeGuard

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import TransformMisuse
from jitlint.infer.grounds import SEEN
from jitlint.infer.objects import is_cold
from jitlint.infer.values import (
    NO_CONST,
    NONE,
    Arr,
    ExtInst,
    Inst,
    Map,
    Py,
    Seq,
    Tup,
    Value,
    Xform,
    alternatives,
)
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.jax import arrival
from jitlint.link.models.maps import lanes as in_lanes
from jitlint.link.models.maps import shardings, varying
from jitlint.link.tables import ir_walk
from jitlint.link.values import fitting, flattening, iteration, pytrees
from jitlint.link.values.library_objects import SEVERAL
from jitlint.link.values.questions.signatures import signature
from jitlint.syntax import ir

_DEPTH: Final = 4
_VMAP: Final = "jax.vmap"
_SIZE: Final = "axis_size"
_STREAMS: Final = "flax.nnx.Rngs"


def refuses(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """A mapped function is called: whether it certainly gets what cannot be mapped."""
    if _other_form(x):
        return True
    if x.spec.static_nums and x.spec.static_nums in x.options:
        return False  # how many entries these have may be said as well, or not
    if _has_other_count(m, f, at, x, args):
        return True
    if x.spec.specs:
        return shardings.refuses_split(m, f, at, x, args)
    if shardings.PLACES in x.options:
        return shardings.refuses_places(m, f, at, x, args)
    return bool(x.spec.axes) and _check_mapped(m, f, at, x, args)


def check_form(m: Machine, f: Frame, at: int, x: Xform) -> None:
    """What is to be mapped is said by one number or by a tuple, which has an entry for each argument."""
    form = _other_form(x)
    if form:
        report(m, f, at, x.spec.name, "axes-form", form)


def _other_form(x: Xform) -> str:
    axes = x.options.get(x.spec.axes) if x.spec.name == _VMAP else None
    known = type(axes) is Tup or (type(axes) is Inst and axes.cls.pytree and axes.cls.role != "")
    if known and isinstance(axes, (Inst, Tup)) and axes.cls is not None:
        return f"an object of `{axes.cls.name}`"  # specifications of one's own may be objects, too
    if type(axes) is Py and axes.kind in ("str", "float"):
        return f"a {axes.kind}"
    return "a dict" if type(axes) is Map else ""


def check_result(m: Machine, f: Frame, at: int, x: Xform, result: Value) -> None:
    """It has run: has what it gives the form and the axes that are spoken of."""
    wanted = _items_of(x, x.spec.results)
    if wanted is not None and is_no_pair(result, len(wanted)):
        detail = f"{len(wanted)} for {in_words(result)}"
        report(m, f, at, x.spec.name, "results-count", detail, x.spec.results)
    elif x.spec.specs:
        if not shardings.refuses_joining(m, f, at, x, result):
            varying.check_joined(m, f, at, x, result)
    elif x.spec.axes:
        _check_axes(m, f, at, x, x.options.get(x.spec.results), result)
        in_lanes.check_result(m, f, at, x, result)


def _check_axes(m: Machine, f: Frame, at: int, x: Xform, mark: Value | None, result: Value) -> None:
    """Record a place for the new axis that a result does not have, with that axis."""
    marks = pytrees.children(mark) if mark is not None else None
    parts = pytrees.children(result)
    if marks is not None and parts is not None and len(marks) == len(parts):
        for one, part in zip(marks, parts):
            _check_axes(m, f, at, x, one, part)
    axis = mark.const if type(mark) is Py else None
    if type(axis) is not int:
        return
    for leaf in leaves(result):
        rank = rank_of(leaf)
        if rank is not None and not -rank - 1 <= axis <= rank:
            report(m, f, at, x.spec.name, "no-result-axis", f"{axis} for {rank + 1}", x.spec.results, leaf)
            return


def _items_of(x: Xform, option: str) -> list[Value] | None:
    """The entries of an option that has one for each argument or result; None if that is not known."""
    value = x.options.get(option)
    return iteration.known_items(value) if type(value) in (Tup, Seq) and value is not None else None


def entries(x: Xform, args: Args) -> int:
    """How many entries say how arguments are mapped or split, where that is another number than that of the arguments;
    else 0."""
    if not x.spec.results or args.more is not None or args.kw_more is not None:
        return 0
    if args.kw and x.spec.name in lexicon().contracts.resolving:
        return 0
    items = _items_of(x, x.spec.axes or x.spec.specs)
    return len(items) if items is not None and len(items) != len(args.pos) else 0


def _has_other_count(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """Record that there are more or fewer entries than arguments."""
    number = entries(x, args)
    if number:
        option = x.spec.axes or x.spec.specs
        report(m, f, at, x.spec.name, "axes-count", f"{number} for {len(args.pos)}", option)
    return number > 0


def _check_mapped(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    if args.more is not None or args.kw_more is not None:
        return False
    if _has_other_keys(m, f, at, x, args) or _maps_nothing(m, f, at, x, args):
        return True
    mapped = list(_mapped(x, args))
    for name, value, axis in mapped:
        if _is_one_key(value) and not x.spec.specs and not fitting.asks_for_axes_of_keys(f):
            report(m, f, at, x.spec.name, "no-axis", "one PRNG key", name, value)
            return True
        if _is_unsplit(f, x, value):
            report(m, f, at, x.spec.name, "no-axis", "one `nnx.Rngs`", name, value)
            return True
        rank = rank_of(value)
        if rank is not None and rank <= axis:
            detail = "a number" if rank == 0 else "1 axis" if rank == 1 else f"{rank} axes"
            report(m, f, at, x.spec.name, "no-axis", detail, name, value)
            return True
    return _check_sizes(m, f, at, x, mapped)


def refuses_arrays(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """A function is called that a library maps over all arrays, unless it is told otherwise: whether one has no axis, or it is
    told of others."""
    if args.kw or args.kw_more is not None:
        return False  # it takes none by name
    if x.spec.axes in x.options:
        return _has_other_count(m, f, at, x, args) or _check_mapped(m, f, at, x, args)
    for i, value in enumerate(args.pos):
        number = type(value) is Arr and value.rank == 0 and value.kind is SEEN and not value.host
        if number and not _is_one_key(value):
            report(m, f, at, x.spec.name, "no-axis", "a number", str(i), value)
            return True
    return False


def _maps_nothing(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """Record that no argument is mapped, so that nothing says how large the batch is."""
    if not args.pos or args.kw or x.spec.filter or _SIZE in x.options:
        return False
    marks = arrival.Marks(x)
    found = all(_is_unmapped(marks.of(i)) for i in range(len(args.pos)))
    if found:
        report(m, f, at, x.spec.name, "nothing-mapped", "", x.spec.axes)
    return found


def _is_unmapped(mark: Value | None) -> bool:
    parts = pytrees.children(mark) if mark is not None else None
    return mark is NONE or (bool(parts) and all(_is_unmapped(part) for part in parts or []))


def lanes(x: Xform, args: Args) -> int | None:
    """How many elements a batch has, if that is known of one of the arguments."""
    if x.spec.static_nums and x.spec.static_nums in x.options:
        return None
    sizes = [size_of(value, axis) for _, value, axis in _mapped(x, args)]
    return next((size for size in sizes if size is not None), None)


def _check_sizes(m: Machine, f: Frame, at: int, x: Xform, mapped: list[tuple[str, Value, int]]) -> bool:
    sizes = {
        size: name for name, value, axis in reversed(mapped) if (size := size_of(value, axis)) is not None
    }
    if len(sizes) > 1:
        (one, first), (other, second) = list(reversed(sizes.items()))[:2]
        report(m, f, at, x.spec.name, "unequal-sizes", f"{one} and {other}", f"{first},{second}")
    return len(sizes) > 1


def _has_other_keys(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """Record a dict of axes for other keys than the argument has."""
    marks = arrival.Marks(x)
    for i, value in enumerate(args.pos):
        mark = marks.of(i)
        if _is_closed(mark) and _is_closed(value) and mark.entries.keys() != value.entries.keys():
            odd = sorted(map(repr, mark.entries.keys() ^ value.entries.keys()))
            report(m, f, at, x.spec.name, "axes-keys", ", ".join(odd), str(i))
            return True
    return False


def _is_closed(value: Value | None) -> TypeGuard[Map]:
    """Whether all keys of a dict are known."""
    return type(value) is Map and value.rest is None and not value.open


def _mapped(x: Xform, args: Args) -> Iterator[tuple[str, Value, int]]:
    """What is mapped along an axis that is known: position or name of the argument, with the way to a part of it; value,
    axis."""
    marks = arrival.Marks(x)
    for i, value in enumerate(args.pos):
        mark = marks.of(i)
        axis = 0 if mark is None else mark.const if type(mark) is Py else None
        if type(axis) is int:
            yield from ((f"{i}{path}", part, axis) for path, part in parts(value))
    for name, value in args.kw.items():
        yield from ((f"{name}{path}", part, 0) for path, part in parts(value))


def parts(value: Value, path: str = "", depth: int = _DEPTH) -> Iterator[tuple[str, Value]]:
    """The leaves of a pytree, as far as it is known, and where they are in it: ``['w'][0].scale``."""
    below = _named_children(value) if depth else None
    if below is None:
        yield path, value
        return
    for name, part in below:
        yield from parts(part, f"{path}{name}", depth - 1)


def _named_children(value: Value) -> list[tuple[str, Value]] | None:
    """The children of what is certainly no leaf, and how one gets to them."""
    if type(value) is Map and value.rest is None:
        return [(f"[{key!r}]", part) for key, part in value.entries.items()]
    if isinstance(value, (Tup, Seq)) and pytrees.children(value):
        return [(f"[{i}]", part) for i, part in enumerate(value.items or ())]
    if type(value) is not Inst or is_cold(value):
        return None
    names = flattening.child_names(value)
    return None if names is None else [(f".{name}", value.attrs[name]) for name in names]


def leaves(value: Value, depth: int = _DEPTH) -> Iterator[Value]:
    """The leaves of a pytree, as far as it is known."""
    return (part for _, part in parts(value, "", depth))


def size_of(value: Value, axis: int) -> int | None:
    """How many elements an array has along an axis, if that is known."""
    dims = value.dims if type(value) is Arr else None
    return dims[axis] if dims is not None and 0 <= axis < len(dims) else None


def rank_of(value: Value) -> int | None:
    """The number of axes of what is mapped, if it is one array or one number."""
    if len(alternatives(value)) != 1:
        return None
    if type(value) is Py:
        return 0 if value.kind in pytrees.NUMBERS and value.const is not NO_CONST else None
    return value.rank if type(value) is Arr and value.dtype != "key" else None


def _is_one_key(value: Value) -> bool:
    """Whether something is certainly a single key: made of a seed, taken out of a split, or with a number folded in. That
    of numbers has an axis, of two, which are no keys."""
    key = value.key if type(value) is Arr and value.kind is SEEN and value.rank == 0 else None
    if key is None:
        return False
    of_split = key.step[0] == "item" and key.parent is not None and key.parent.step[0] == "split"
    return of_split or key.step[0] in ("const", "fold")


def _is_unsplit(f: Frame, x: Xform, value: Value) -> bool:
    """Whether something is certainly an object with streams of keys that nobody has split for the elements of a batch."""
    if type(value) is not ExtInst or value.dotted != _STREAMS or SEVERAL in value.attrs:
        return False
    sig = signature(x.target)
    words = lexicon().contracts.splitting
    other = sig.func.fn.module if sig is not None else f.module
    modules = [f.module] if other is f.module else [f.module, other]
    parts = (part for module in modules for nodes in module.code() for part in nodes)
    return not any(ir_walk.last_name(part) in words for part in parts if isinstance(part, (ir.Attr, ir.Name)))


def is_no_pair(value: Value, wanted: int = 2) -> bool:
    """Whether something is certainly not a tuple of so many."""
    if type(value) is Tup and value.cls is None:
        return len(value.items) != wanted
    return value is NONE or type(value) is Map or (type(value) is Arr and value.kind is SEEN)


def in_words(value: Value) -> str:
    """What a value is, in words."""
    if type(value) is Tup:
        return f"a tuple of {len(value.items)}"
    if type(value) is Py and value is not NONE:
        return "a number"
    return "`None`" if value is NONE else "a dict" if type(value) is Map else "an array"


def report(
    m: Machine,
    f: Frame,
    at: int,
    transform: str,
    problem: str,
    detail: str,
    parameter: str = "",
    value: Value | None = None,
) -> None:
    """Record a transform that gets or gives what it cannot work with."""
    m.emit(
        f, TransformMisuse, at, value, transform=transform, problem=problem, parameter=parameter, detail=detail
    )  # fmt: skip
