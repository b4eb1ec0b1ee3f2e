"""Calls of NumPy functions as seen from a tracer (layer: ``link``, room ``models``)."""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.dtypes import TEXT
from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.schema import EXCEPTION_LETTERS, ApiFunction, NumpyFunction
from jitlint.infer.dims import Dims
from jitlint.infer.events import ArrayStore, SilentAnswer
from jitlint.infer.grounds import SEEN
from jitlint.infer.lattice import parts
from jitlint.infer.values import NONE, STATIC, UNKNOWN, Arr, Ext, ExtInst, Map, Py, S, Seq, Tree, Tup, Value
from jitlint.link.engine.domain import Change
from jitlint.link.engine.events import confidence_of, emit_numpy, emit_static, here_why, hurt, tracer_inside
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import arrays, making
from jitlint.link.models.arrays.results import (
    Bound,
    bind,
    described,
    dtype_kind,
    dtype_named,
    dtype_on_host,
    nested_rank,
)
from jitlint.link.values import fitting
from jitlint.link.values.library_objects import made
from jitlint.link.values.questions import about, longest

FOR_EACH: Final = "numpy.vectorize"
_EACH: Final = "each"
_SHUFFLED: Final = "shuffled"
ARRAY_CONVERSION: Final = EXCEPTION_LETTERS["A"]


def call_numpy(m: Machine, f: Frame, at: int, fn: NumpyFunction, args: Args) -> Value:
    """A NumPy call. Without tracers it gives host arrays or static values."""
    if _writes(m, f, at, fn.name, args):
        return NONE
    values = [*args.pos, *args.kw.values()]
    if args.pos and type(args.pos[0]) is Map:
        return UNKNOWN
    if fn.behaviour == "works" and _refused_elsewhere(m, f, at, fn, values[1:]):
        return UNKNOWN
    for value in values:
        direct = hurt(value, 7)
        found = direct or tracer_inside(value)
        if found is not None:
            return _of_tracer(m, f, at, fn, value, found, direct is not None)
    if fn.behaviour == "raises" and any(_is_key(m, f, at, fn, value) for value in values):
        return UNKNOWN
    return _of_host(m, f, fn, args)


def _is_key(m: Machine, f: Frame, at: int, fn: NumpyFunction, value: Value) -> bool:
    """Whether NumPy is to convert a key, which has a data type that only JAX knows."""
    return fitting.is_typed_key(m, value) and fitting.report(m, f, at, fn.name, "key", "", value)


def _of_tracer(
    m: Machine, f: Frame, at: int, fn: NumpyFunction, value: Value, found: Value, direct: bool
) -> Value:
    """What a function makes of a tracer, or of a value with a tracer somewhere inside."""
    if fn.behaviour == "raises" or (not direct and fn.in_list):
        emit_numpy(m, f, at, value, fn.name)
        return UNKNOWN
    if fn.behaviour == "works" and fn.result == "array" and isinstance(found, (Arr, Tree)):
        level = max(f.world.base, found.level)
        return Arr(found.modes | f.world.here, None, None, found.why, level, found.traced)
    if fn.behaviour == "false":
        m.emit(f, SilentAnswer, at, found, confidence_of(value), what=fn.name)
    return STATIC if fn.result == "static" else UNKNOWN


def _of_host(m: Machine, f: Frame, fn: NumpyFunction, args: Args) -> Value:
    """What a function makes of values that are not traced."""
    if fn.result == "static":
        return Py("dtype") if fn.name == "numpy.dtype" else STATIC
    if fn.result == "none":
        return NONE
    if fn.result == "opaque":
        return _opaque(f, fn.name, args)
    if fn.result == "list":
        kind = "list" if "split" in fn.name else "tuple"
        return Seq(kind, None, Arr(0, host=True), f.world.level)
    first = args.pos[0] if args.pos else NONE
    if fn.behaviour == "works" and f.world.here & S and type(first) is Arr and not first.host:
        return Arr(f.world.here, None, None, here_why(f, fn.name), f.world.base)
    if first is UNKNOWN or type(first) is Tree:
        return UNKNOWN
    return _host_array(m, fn, args, first)


def _host_array(m: Machine, fn: NumpyFunction, args: Args, first: Value) -> Arr:
    out = Arr(0, dtype_named(args.kw.get("dtype")), None, "", 0, SEEN, True)
    _measure(m, fn.name, args, out)
    if _is_text(fn, first, out):
        out.dtype = TEXT
    out.about = longest.told(fn.name, args, about.of_call(fn.name, args))
    return out


def _is_text(fn: NumpyFunction, value: Value, out: Arr) -> bool:
    """Whether an array is made of a list or tuple that holds texts, and nothing else."""
    if out.dtype is not None or lexicon().arrays.sizes.get(f"jax.{fn.name}") != "nested":
        return False
    if not isinstance(value, (Seq, Tup)) or (type(value) is Seq and value.kind not in ("list", "tuple")):
        return False
    held = parts(value)
    return bool(held) and all(type(part) is Py and part.kind == "str" for part in held)


def _opaque(f: Frame, name: str, args: Args) -> Value:
    """An object of NumPy; what goes through elements as a signature says, or through some of its arguments, is not known."""
    plain = name != FOR_EACH or (len(args.pos) == 1 and not args.kw)
    return made(f, name) if plain else UNKNOWN


def for_each(m: Machine, f: Frame, at: int, obj: ExtInst, args: Args) -> Value:
    """A function that goes through the elements of its arguments is called: they, and the result, are arrays of NumPy."""
    values = [*args.pos, *args.kw.values()]
    if any(emit_numpy(m, f, at, value, obj.dotted) for value in values):
        return UNKNOWN
    sizes = fitting.together([fitting.dims_of(value) for value in values])
    if not values or args.more is not None or sizes is None or sizes is fitting.CLASH:
        return UNKNOWN
    out = Arr(0, None, None, "", 0, SEEN, True)
    _take(out, sizes)
    return out


def _measure(m: Machine, name: str, args: Args, out: Arr) -> None:
    """Note the axes of a host array, their sizes and the kind of its numbers: as its twin in `jax.numpy` makes them, whose
    parameters it has, or as it is drawn."""
    if name.startswith("numpy.random."):
        short = name.rpartition(".")[2]
        words, counts = lexicon().arrays, bool(args.pos) and type(args.pos[0]) is Py
        whole = short in words.draws_integers or (short in words.draws_places and counts)
        out.dtype = "int" if whole else out.dtype
        _take(out, _drawn(short, args))
        return
    twin = m.catalogue.function(f"jax.{name}")
    if twin is not None and args.more is None and args.kw_more is None:
        _measure_as(m, twin, bind(twin, args), out)
    elif args.pos and dtype_kind(Ext(name)):
        out.rank = nested_rank(args.pos[0])


def _measure_as(m: Machine, twin: ApiFunction, bound: Bound, out: Arr) -> None:
    rank, form = m.catalogue.rank(twin.name), lexicon().arrays.sizes.get(twin.name, "")
    asked = next((value for param, value in bound if param.name == "dtype"), NONE)
    out.dtype = dtype_on_host(m, twin, bound) if asked is NONE else dtype_named(asked)
    if rank is not None:
        out.rank = rank.of(described(bound, None))
    if form:
        _take(out, making.dims_of(form, {param.name: value for param, value in bound}))
    if out.dims is None:
        arrays.measure(m, twin, bound, None, out)


def _take(out: Arr, dims: Dims | None) -> None:
    """Note sizes that do not contradict what is known."""
    if dims is not None and out.rank in (None, len(dims)):
        out.rank, out.dims = len(dims), fitting.known(dims)


def _drawn(short: str, args: Args) -> Dims | None:
    """The sizes of what a random generator of NumPy draws: they are its ``size``, each is an argument of its own, or those
    of what is shuffled."""
    place = lexicon().arrays.drawn.get(short)
    if place is None or args.more is not None or args.kw_more is not None:
        return None
    if place == _SHUFFLED:
        return making.dims_of(place, {"x": args.pos[0]}) if args.pos else None
    if place == _EACH:
        return making.shape_of(Tup(tuple(args.pos))) if args.pos else None
    size = args.get(int(place), "size")
    return None if size is UNKNOWN or size is NONE else making.shape_of(size)


def _writes(m: Machine, f: Frame, at: int, name: str, args: Args) -> bool:
    """Record a call that writes into a JAX array: its first argument, or ``out=``."""
    out = args.kw.get("out")
    first = args.pos[0] if args.pos else None
    short = name.rpartition(".")[2]
    if out is not None or short in lexicon().arrays.in_place_functions:
        how = short if short == "at" else "in-place"  # which does not ask whether it may
        m.domains.on_change(f, Change(at, out or first or NONE, how))
    if type(out) is Arr and not out.host and not out.weak:
        m.emit(f, ArrayStore, at, out, op="out", what=name)
        return True
    short = name.rpartition(".")[2]
    first = args.pos[0] if args.pos else None
    if short not in lexicon().arrays.in_place_functions or type(first) is not Arr or first.host or first.weak:
        return False
    m.emit(f, ArrayStore, at, first, op="method", what=name)
    return True


def _refused_elsewhere(m: Machine, f: Frame, at: int, fn: NumpyFunction, values: list[Value]) -> bool:
    """Record a tracer among the later arguments of a function that takes one as its first."""
    if not fn.elsewhere:
        return False
    for value in values:
        if fn.elsewhere == ARRAY_CONVERSION:
            if hurt(value, 7) is not None and emit_numpy(m, f, at, value, fn.name):
                return True
        elif emit_static(m, f, at, fn.name, "", value, fn.elsewhere):
            return True
    return False
