"""Layers of libraries: which sizes they are made for, and which they give (layer: ``link``, room ``models``).

What it does: notes what a layer is made with, as far as that is known, and compares it with the array that the layer is called
with; as measured. Which parameter of which class means what is data (`lexicon.toml`). What it does not: follow parameters; of a
layer whose parameters somebody has replaced, or stacked, nothing is noted any more, and it fits everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Optional, Union

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.dims import Dims, shape_text
from jitlint.infer.events import ApiMisuse
from jitlint.infer.grounds import SEEN
from jitlint.infer.lattice import traced_modes
from jitlint.infer.objects import LEARNT, MADE, NOTE
from jitlint.infer.sizes import DEPTH
from jitlint.infer.values import NONE, TRUE, UNKNOWN, Arr, Ext, ExtInst, Func, L, Py, Seq, Tup, Value, py
from jitlint.link.engine import evaluator, world
from jitlint.link.engine.frame import Args, Frame, here_array, settle
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays.results import dtype_named
from jitlint.link.values import fitting, iteration, library_objects

_Padding = Union[str, tuple[int, int], None]
"""Of one axis: what is put before and behind, or the word for it."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A layer that is called with an array; notes: what it was made with."""

    m: Machine
    f: Frame
    at: int
    api: str
    notes: Mapping[str, Value]
    x: Arr

    @property
    def dims(self) -> Dims | None:
        """The sizes of the array, None if not even their number is known."""
        return fitting.dims_of(self.x)

    def const(self, role: str) -> object:
        """What was given in a role, None if that is not known or no constant."""
        value = self.notes.get(role)
        return value.const if type(value) is Py else None

    def number(self, role: str) -> int | None:
        """The integer that was given in a role."""
        const = self.const(role)
        return const if type(const) is int else None

    def each(self, role: str, count: int) -> list[int | None]:
        """The integers of a role, for so many axes: one for each of them, or one for all."""
        value = self.notes.get(role)
        if type(value) is Tup:
            found = [item.const if type(item) is Py else None for item in value.items]
            numbers = [const if type(const) is int else None for const in found]
            return numbers if len(numbers) == count else [None] * count
        return [self.number(role)] * count

    def refuse(
        self, how: str, detail: str, exception: str = "ValueError", level: Confidence | None = None
    ) -> Arr:
        """Record that the array does not fit; what the layer gives once it does."""
        self.m.emit(
            self.f, ApiMisuse, self.at, self.x, level, api=self.api, problem="unfit", parameter=how, detail=detail,
            exception=exception,
        )  # fmt: skip
        return self.array(None)

    def array(self, dims: Dims | None, dtype: str | None = None, modes: int = 0) -> Arr:
        """An array of these sizes, computed from the one that the layer is called with. modes: of what it is computed with."""
        x = self.x
        rank = len(dims) if dims is not None else None
        out = here_array(self.f, x.modes | modes, dtype, rank, x.why, x.traced, x.level)
        out.why = out.why or ("a layer of a traced function" if out.modes else "")
        out.dims = fitting.known(dims)
        settle(self.f, out)
        return out

    def computed(self, dims: Dims | None) -> Arr:
        """An array of these sizes that a layer with parameters gives: floats, if nobody asks for another dtype."""
        return self.array(dims, self.dtype("float" if self.x.dtype == "float" else None), self._learnt())

    def dtype(self, plain: str | None) -> str | None:
        """The dtype that a layer was asked to give. plain: what it is if nobody asked."""
        given = self.notes.get("dtype", NONE)
        if given is not NONE:
            return dtype_named(given) if self.api.startswith("flax.") else None
        return None if self.notes.get("param_dtype", NONE) is not NONE else plain

    def _learnt(self) -> int:
        """The modes that the parameters of the layer bring into what it computes."""
        own = self.notes.get(LEARNT.removeprefix(NOTE))
        return L if own is not None else learnt(self.f)

    def kept(self, dims: Dims | None) -> Arr:
        """An array of these sizes and the same numbers, or some between them."""
        return self.array(dims, "float" if self.x.dtype == "float" else None)


# Making


def made(m: Machine, dotted: str, args: Args) -> ExtInst:
    """A layer, or another object of such a library, with what is known of how it was made."""
    spec = lexicon().layers.parameters.get(dotted, ())
    if dotted in lexicon().layers.updates and args.pos:
        library_objects.forget_all(args.pos[0], DEPTH)
    out = ExtInst(dotted)
    if dotted in lexicon().layers.forms and dotted not in m.replaced and _is_plain(args):
        out.attrs[MADE] = TRUE
        out.attrs.update({f"{NOTE}{role}": value for role, value in _roles(spec, args).items()})
    return out


def is_layer(value: Value) -> bool:
    """Whether something is a layer that maps an array to an array."""
    return type(value) is ExtInst and value.dotted in lexicon().layers.forms


def _is_plain(args: Args) -> bool:
    """Whether a call hides none of its arguments, and asks for nothing that changes what sizes mean."""
    odd = lexicon().layers.odd
    return args.more is None and args.kw_more is None and not any(name in odd for name in args.kw)


def _roles(spec: tuple[str, ...], args: Args) -> dict[str, Value]:
    """What a call gives, by what it is for. spec: for each parameter its name, its role and what it is if nobody gives it."""
    out: dict[str, Value] = {name: args.kw[name] for name in lexicon().layers.dtypes if name in args.kw}
    for i, word in enumerate(spec):
        name, _, rest = word.partition(":")
        role, _, default = rest.partition("=")
        value = Tup(tuple(args.pos)) if name == "*" else args.get(i, name) if name else None
        if (value is None or value is NONE) and default:
            value = _constant(default)
        known = _known(role, value) if role and value is not None else None
        if known is not None:
            out[role] = known
    return out


def _constant(text: str) -> Py:
    words: dict[str, object] = {"True": True, "False": False}
    return py(int(text) if text.lstrip("-").isdigit() else words.get(text, text))


def _known(role: str, value: Value) -> Value | None:
    """What is worth noting of an argument: constants, and tuples of them; layers and functions that are parts."""
    if role in lexicon().layers.parts:
        parts = _parts(value)
        return None if parts is None else Tup(parts)
    if isinstance(value, (Tup, Seq)):
        items = iteration.known_items(value)
        known = [_known("", item) for item in items or ()]
        found = [item for item in known if item is not None]
        return Tup(tuple(found)) if items is not None and len(found) == len(items) else None
    return value if type(value) is Py and (type(value.const) in (str, bool) or value.kind == "int") else None


def _parts(value: Value) -> tuple[Value, ...] | None:
    items = iteration.known_items(value) if isinstance(value, (Tup, Seq)) else [value]
    if items is None:
        return None
    return tuple([item if type(item) in (ExtInst, Ext, Func) else UNKNOWN for item in items])


# Calling


def called(m: Machine, f: Frame, at: int, obj: ExtInst, args: Args) -> Value | None:
    """What a layer gives that is called with an array of known sizes; None for anything else."""
    name = lexicon().layers.forms.get(obj.dotted, "")
    if name in _CELLS:
        return _stepped(m, f, at, obj, args, name)
    form = _FORMS.get(name)
    x = args.pos[0] if args.pos else None
    if form is None or MADE not in obj.attrs or not _is_only_array(args):
        return None
    if type(x) is not Arr or not _is_array(x):
        return None
    notes = {name.removeprefix(NOTE): value for name, value in obj.attrs.items()}
    return form(_Call(m, f, at, obj.dotted, notes, x))


def _is_only_array(args: Args) -> bool:
    """Whether a layer gets an array and at most a flag or keys beside it; with a state it gives a pair, say."""
    flags = all(type(value) is Py and value.kind == "bool" for value in args.pos[1:])
    return flags and args.kw.keys() <= lexicon().layers.besides and args.more is None and args.kw_more is None


@contextmanager
def given(f: Frame, variables: Value | None) -> Iterator[None]:
    """While a module runs with variables, whose parameters may have a derivative."""
    around = f.world
    if variables is not None and traced_modes(variables) & L:
        f.world = around.but(marks=world.LEARNT)
    try:
        yield
    finally:
        f.world = around


def learnt(f: Frame) -> int:
    """The modes that parameters bring into what a module computes."""
    return L if f.world.modes & world.LEARNT else 0


def applied(m: Machine, f: Frame, at: int, obj: ExtInst, args: Args) -> Value | None:
    """What a layer gives that is handed its parameters first; None where more is asked for."""
    return called(m, f, at, obj, Args(args.pos[1:], args.kw, args.more, args.kw_more))


def pooled(m: Machine, f: Frame, at: int, dotted: str, args: Args) -> Value | None:
    """What a function gives that goes over an array with a window; None for anything else."""
    spec = lexicon().layers.pools.get(dotted)
    x = args.pos[0] if args.pos else None
    if spec is None or type(x) is not Arr or not _is_array(x) or not _is_plain(args):
        return None
    return _channels_last(_Call(m, f, at, dotted, _roles(spec, args), x))


def _is_array(x: Arr) -> bool:
    """Whether something is certainly an array of numbers, of JAX or of NumPy: a layer makes one of JAX of it."""
    return not x.weak and x.kind is SEEN and x.dtype != "key"


def _dense(c: _Call) -> Arr:
    """The last axis is another one."""
    dims, size = c.dims, c.number("in")
    if dims is None:
        return c.computed(None)
    if not dims:
        return c.refuse("layer-few", f"1 for {shape_text(())}", "")
    if size is not None and dims[-1] not in (None, size):
        return c.refuse("features", f"{size} for {shape_text(dims)}", "TypeError")
    return c.computed((*dims[:-1], c.number("out")))


def _general(c: _Call) -> Value | None:
    """The same, if one axis becomes others, and that is the last."""
    out = c.notes.get("out")
    if c.number("axis") != -1 or out is None or type(c.notes.get("in")) is Tup:
        return None
    made = _dense(c)
    if type(out) is not Tup or not made.dims:
        return made if type(out) is not Tup else None
    return c.computed((*made.dims[:-1], *c.each("out", len(out.items))))


def _product(c: _Call) -> Value | None:
    """A matrix is multiplied with what is hoped to be a vector."""
    dims, size, out = c.dims, c.number("in"), c.number("out")
    words = [type(c.const(role)) is str for role in ("in", "out")]
    if any(words) or not {"in", "out"} <= c.notes.keys() or dims is None:  # what is not known may be "scalar"
        return c.refuse("layer-axes", f"0 for {shape_text(dims)}") if words[0] and dims else None
    if not dims:
        return c.refuse("layer-few", f"1 for {shape_text(dims)}")
    if fitting.product((out, size), dims) is fitting.CLASH:
        return c.refuse("vector", f"{size} for {shape_text(dims)}", "TypeError")
    if len(dims) > 1 and c.const("bias") is True and None in (size, out, *dims[-2:]):
        # The bias is added along the axis of the rows: only a square of exactly this size gets through.
        return c.refuse("one-vector", f"1 for {shape_text(dims)}", "TypeError", Confidence.LIKELY)
    found = (*dims[:-2], out, *(dims[-1:] if len(dims) > 1 else ()))
    if c.const("bias") is True and fitting.together((found, (out,))) is fitting.CLASH:
        return c.refuse("vector", f"{size} for {shape_text(dims)}")
    return c.computed(found)


def _embedded(c: _Call) -> Value:
    """Each number becomes a row, if it is a whole one."""
    if c.x.dtype == "float" and fitting.is_array(c.x):
        return c.refuse("integers", "inputs")
    return c.array(None if c.dims is None else (*c.dims, c.number("out")), c.dtype("float"))


def _row(c: _Call) -> Value:
    """One number becomes a row; several are refused."""
    return c.refuse("layer-axes", f"0 for {shape_text(c.dims)}") if c.dims else _embedded(c)


def _normed(c: _Call) -> Value:
    """All sizes stay, of which one is that of the parameters, if there are some."""
    dims, size, axis = c.dims, c.number("in"), c.number("axis")
    has_some = any(c.const(role) is True for role in ("bias", "scale"))
    if not dims or size is None or axis is None or not has_some:
        return c.computed(dims)
    if -len(dims) <= axis < len(dims) and dims[axis] not in (None, size):
        last = axis in (-1, len(dims) - 1)
        how = "features" if last else "channels" if axis == 0 else "axis-size"
        return c.refuse(how, f"{size} for {shape_text(dims)}", "TypeError")
    return c.computed(dims)


def _whole(c: _Call) -> Value:
    """An array of one shape, and no other."""
    dims, shape = c.dims, c.notes.get("shape")
    count = len(shape.items) if type(shape) is Tup else 1
    wanted = c.each("shape", count)
    if dims is None or shape is None or None in wanted:
        return c.computed(dims)
    if len(dims) != count or any(a not in (None, b) for a, b in zip(dims, wanted)):
        return c.refuse("layer-shape", f"{shape_text(tuple(wanted))} for {shape_text(dims)}")
    return c.computed(tuple(wanted))


def _same(c: _Call) -> Value:
    """All sizes stay."""
    return c.array(c.dims, c.x.dtype)


def _channels_last(c: _Call) -> Value:
    """A window goes over the axes before the last; those before it are batches, of any number."""
    kernel = c.notes.get("kernel")
    space = len(kernel.items) if type(kernel) is Tup else 1 if c.number("kernel") is not None else None
    dims, size = c.dims, c.number("in")
    if dims is None:
        return c.kept(None)
    if space is not None and len(dims) <= space:
        return c.refuse("layer-few", f"{space + 1} for {shape_text(dims)}")
    if size is not None and dims and dims[-1] not in (None, size):
        return c.refuse("features", f"{size} for {shape_text(dims)}")
    if not dims:
        return c.kept(None)
    last = c.number("out") if "weights" in c.notes else dims[-1]
    give = c.computed if "weights" in c.notes else c.kept
    if space is None:
        return give((*[None] * (len(dims) - 1), last))
    first = len(dims) - 1 - space
    return give((*dims[:first], *_windows(c, dims[first:-1]), last))


def _channels_first(c: _Call) -> Value | None:
    """A window goes over the axes after the first; there are no batches."""
    dims, size, space = c.dims, c.number("in"), c.number("space")
    if dims is None or space is None:
        return None
    if len(dims) != space + 1:
        exception = "ValueError" if "weights" in c.notes else "AssertionError"
        return c.refuse("layer-axes", f"{space + 1} for {shape_text(dims)}", exception)
    if size is not None and dims[0] not in (None, size):
        return c.refuse("channels", f"{size} for {shape_text(dims)}")
    first = c.number("out") if "weights" in c.notes else dims[0]
    give = c.computed if "weights" in c.notes else c.kept
    return give((first, *_windows(c, dims[1:])))


def _windows(c: _Call, sizes: Dims) -> list[int | None]:
    """The sizes of the axes that a window has gone over; those that are spread by it are not known."""
    if "spreads" in c.notes:
        return [None] * len(sizes)
    roles = [c.each(role, len(sizes)) for role in ("kernel", "strides", "dilation")]
    return [_window(*axis) for axis in zip(sizes, _paddings(c, len(sizes)), *roles)]


def _window(
    size: int | None, padding: _Padding, kernel: int | None, stride: int | None, dilation: int | None
) -> int | None:
    if size is None or padding is None or not stride or stride < 0:
        return None
    if isinstance(padding, str):
        return -(-size // stride)
    if kernel is None or dilation is None:
        return None
    places = size + sum(padding) - ((kernel - 1) * dilation + 1)
    return places // stride + 1 if places >= 0 else None


def _paddings(c: _Call, count: int) -> list[_Padding]:
    """What is put around each axis."""
    const, value = c.const("padding"), c.notes.get("padding")
    if type(value) is Tup:
        found = [_padding(item) for item in value.items]
        return found if len(found) == count else [None] * count
    if const in ("SAME", "VALID"):
        one: _Padding = "SAME" if const == "SAME" else (0, 0)
        return [one] * count
    return [(const, const) if type(const) is int else None] * count


def _padding(item: Value) -> _Padding:
    pair = item.items if type(item) is Tup else (item, item)
    found = [part.const if type(part) is Py else None for part in pair]
    numbers = [const for const in found if type(const) is int]
    return (numbers[0], numbers[1]) if len(pair) == len(numbers) == 2 else None


def _chained(c: _Call) -> Value | None:
    """One layer after the other, as far as these are layers or functions."""
    parts = c.notes.get("parts")
    out: Optional[Value] = c.x
    for part in parts.items if type(parts) is Tup else (UNKNOWN,):
        if out is None or part is UNKNOWN:
            return None
        args = Args([out])
        out = (
            called(c.m, c.f, c.at, part, args)
            if type(part) is ExtInst
            else evaluator.call(c.m, c.f, c.at, part, args)
        )
    return out


def _applied(c: _Call) -> Value | None:
    """A function in the place of a layer."""
    parts = c.notes.get("parts")
    function = parts.items[0] if type(parts) is Tup and len(parts.items) == 1 else UNKNOWN
    return evaluator.call(c.m, c.f, c.at, function, Args([c.x])) if type(function) is Ext else None


# Cells


_CELLS: Final = ("gated", "remembering", "gated_pair", "remembering_pair")


def _stepped(m: Machine, f: Frame, at: int, obj: ExtInst, args: Args, form: str) -> Value | None:
    """What a recurrent cell gives that is called with an array and its state; None if too little is known of these."""
    if (
        MADE not in obj.attrs
        or len(args.pos) != 2
        or not _is_only_array(Args(args.pos[:1], args.kw, args.more, args.kw_more))
    ):
        return None
    x, state = args.pos if form in ("gated", "remembering") else reversed(args.pos)
    operands = (x, *_states(state, form))
    known = [part for part in operands if type(part) is Arr and _is_array(part)]
    whole = len(known) == len(operands)
    if not known or not (whole or any(part.modes for part in known)):
        return None
    notes = {name.removeprefix(NOTE): value for name, value in obj.attrs.items()}
    call = _Call(m, f, at, obj.dotted, notes, max(known, key=lambda part: part.modes.bit_count()))
    floats = whole and all(part.dtype == "float" for part in known)
    return _next_state(call, form, operands, floats)


def _next_state(c: _Call, form: str, operands: tuple[Value, ...], floats: bool) -> Value:
    """The state after a step, with the output where a cell gives both."""
    sizes = [fitting.dims_of(part) if type(part) is Arr else None for part in operands]
    dims = _one_step(c, sizes) if form in ("gated", "remembering") else _batched_step(c, sizes)
    states = [c.computed(dims) if floats else c.array(dims) for _ in operands[1:]]
    after = states[0] if len(states) == 1 else Tup(tuple(states))
    return Tup((after, c.array(dims, states[-1].dtype))) if form.endswith("pair") else after


def _states(state: Value, form: str) -> tuple[Value, ...]:
    """The arrays of a state: one, or two."""
    if form in ("gated", "gated_pair"):
        return (state,)
    return state.items if type(state) is Tup and len(state.items) == 2 else (UNKNOWN, UNKNOWN)


def _one_step(c: _Call, sizes: list[Dims | None]) -> Dims | None:
    """The sizes of the next state of a cell that multiplies matrices with one vector each."""
    wanted = [c.number("in"), c.number("out")]
    for size, dims in zip(wanted, sizes):
        if dims and size is not None and fitting.product((None, size), dims) is fitting.CLASH:
            c.refuse("vector", f"{size} for {shape_text(dims)}", "TypeError")
            return None
    vectors = all(dims is not None and len(dims) == 1 for dims in sizes)
    return (c.number("out"),) if vectors else None


def _batched_step(c: _Call, sizes: list[Dims | None]) -> Dims | None:
    """The sizes of the next state of a cell for any batch, put together with that of the array."""
    known = [dims for dims in sizes if dims]
    if len(known) < len(sizes) or {dims[-1] for dims in known[1:]} != {c.number("out")}:
        return None
    batch = fitting.together([dims[:-1] for dims in known])
    return None if batch is None or batch is fitting.CLASH else (*batch, c.number("out"))


_FORMS: Final[dict[str, Callable[[_Call], Value | None]]] = {
    "dense": _dense,
    "general": _general,
    "product": _product,
    "embedded": _embedded,
    "row": _row,
    "normed": _normed,
    "whole": _whole,
    "same": _same,
    "last": _channels_last,
    "first": _channels_first,
    "chained": _chained,
    "applied": _applied,
}
