"""Calls of JAX's array functions and methods by catalogue entry (layer: ``link``, room ``models``)."""

from __future__ import annotations

import functools
from typing import Any

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.schema import ApiFunction, Parameter, Result
from jitlint.infer.events import ApiMisuse, ArrayStore
from jitlint.infer.grounds import GUESSED, SEEN
from jitlint.infer.lattice import join, reshaped, seq_element, traced_modes, why_of
from jitlint.infer.values import (
    NONE,
    TRUE,
    UNKNOWN,
    Arr,
    Inst,
    Py,
    S,
    Seq,
    Tree,
    Tup,
    Union,
    Value,
    alternatives,
)
from jitlint.link.engine.events import (
    STAGED_OR_BATCHED,
    confidence_of,
    emit_static,
    here_why,
    hurt,
    tracer_inside,
)
from jitlint.link.engine.frame import Args, Frame, result_level, settle
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import binding, results, shapes, unfit
from jitlint.link.models.arrays import operands as operands_of
from jitlint.link.values import callbacks, fitting, pytrees
from jitlint.link.values.questions import about, drawing, no_arrays, truths


def _as_arrays(m: Machine, f: Frame, at: int, bound: results.Bound) -> None:
    """Objects that can become arrays do so."""
    if f.world.level:
        for _, value in bound:
            if type(value) is Inst:
                callbacks.run_implied(m, f, at, value, ("__jax_array__",))


def call_api(
    m: Machine, f: Frame, at: int, fn: ApiFunction, args: Args, receiver: Arr | None = None
) -> Value:
    """A call of a JAX function or array method with a catalogue entry."""
    bound = results.bind(fn, args)
    _as_arrays(m, f, at, bound)
    given = {p.name for p, v in bound if v is not NONE}
    whole = args.more is None and args.kw_more is None
    operands = _Operands(receiver)
    blamed = _check_arguments(m, f, at, fn, bound, given if whole else None, operands)
    blamed = operands_of.check(m, f, at, fn, bound, whole) or blamed
    blamed = blamed or binding.check(m, f, at, fn, args, bound, receiver)
    blamed = blamed or unfit.check(m, f, at, fn, bound, receiver, whole)
    _writes(m, f, at, fn, bound)
    switches = {p.name: truths.static_truth(v) for p, v in bound} if fn.conditions else {}
    result = fn.result_given(given, switches)
    uncured = whole and result.cures is not None and not any(c in given for c in result.cures)
    if uncured and operands.are_traced(f):
        _emit_data_dependent(m, f, at, fn, result, operands)
        return UNKNOWN
    if blamed:
        return _once_cured(_array_of(m, f, at, fn, result, bound, operands, whole))
    if result.kind in ("structure", "total"):
        like = next((v for p, v in bound if p.name in result.arguments), UNKNOWN)
        leaf = Arr(operands.modes | f.world.here, None, None, operands.why, result_level(f, [like]))
        return pytrees.rebuild(like, leaf) if result.kind == "structure" else _total(like, leaf)
    return _array_of(m, f, at, fn, result, bound, operands, whole)


class _Operands:
    """What the operands of a call are together. ground: for a tracer or, of the receiver of a method, for an array."""

    __slots__ = ("ground", "modes", "receiver", "why")

    def __init__(self, receiver: Arr | None) -> None:
        self.receiver = receiver
        self.modes = 0
        self.why = ""
        self.ground = GUESSED
        if receiver is not None:
            self.modes = receiver.modes
            self.why = receiver.why
            self.ground = receiver.traced if receiver.modes else receiver.kind

    def take(self, value: Value) -> None:
        part = traced_modes(value)
        if part:
            self.modes |= part
            self.why = self.why or why_of(value)
            self.ground = min(self.ground, getattr(tracer_inside(value), "traced", SEEN))

    def are_traced(self, f: Frame) -> bool:
        """Whether a call certainly runs while JAX traces it."""
        return bool(f.world.here) or (bool(self.modes & STAGED_OR_BATCHED) and self.ground is not GUESSED)


def _once_cured(out: Value) -> Value:
    """What a refused call will give when its arguments are static: an array of some shape, to which the same is refused."""
    return pytrees.with_rank(out, None) if type(out) is Arr else UNKNOWN


def _check_arguments(
    m: Machine,
    f: Frame,
    at: int,
    fn: ApiFunction,
    bound: results.Bound,
    given: set[str] | None,
    operands: _Operands,
) -> bool:
    """Whether an argument is refused. given: the parameters that have one, if that is known."""
    blamed = False
    for param, value in bound:
        if param.must_be_static:
            blamed = _static(m, f, at, fn, param, value) or blamed
            continue
        _list_argument(m, f, at, fn, param, value)
        condition = fn.traced_needs(param.name, given) if given is not None else None
        if condition is not None:
            blamed = _needs_cure(m, f, at, fn, param, value, condition) or blamed
        operands.take(value)
    return blamed


def _emit_data_dependent(
    m: Machine, f: Frame, at: int, fn: ApiFunction, result: Result, operands: _Operands
) -> None:
    """The shape of the result depends on numbers that are not known while JAX traces."""
    here = f.world.here
    ground = SEEN if here else operands.ground
    m.emit(
        f,
        ApiMisuse,
        at,
        Arr(operands.modes | here, None, None, operands.why, f.world.level, ground),
        api=fn.name,
        problem="data-dependent-shape",
        parameter="",
        exception="",
        cure=result.cures[0] if result.cures else "",
    )


def _array_of(
    m: Machine,
    f: Frame,
    at: int,
    fn: ApiFunction,
    result: Result,
    bound: results.Bound,
    operands: _Operands,
    whole: bool,
) -> Value:
    """What a call gives, traced as its operands and the world around it are."""
    receiver, here = operands.receiver, f.world.here
    modes, why = operands.modes, operands.why
    own = receiver is not None and (receiver.host or receiver.weak)
    if not own:
        modes, why = modes | here, why or here_why(f, fn.name.rpartition(".")[2])
    values = [value for _, value in bound] if receiver is None else [receiver, *[v for _, v in bound]]
    level = result_level(f, values)
    out = results.value_of(
        m, results.Made(fn, result, bound, receiver, modes, why, level, f.world.level, whole)
    )
    if result.kind == "same":
        return out
    if type(out) is Arr:
        if out.dims is None and whole:
            measure(m, fn, bound, receiver, out)
        if own and receiver is not None:
            out.traced, out.host = operands.ground if modes else SEEN, receiver.host and not modes
            out.kind = out.kind if modes else receiver.kind
        else:
            _give_ground(out, operands, here)
    about.note(f, at, fn.name, bound, receiver, out)
    drawing.note(m, f, at, fn.name, out)
    if type(out) is Seq and whole:
        out = _cut(fn, bound, receiver, out)
    return out if own else settle(f, out)


def _cut(fn: ApiFunction, bound: results.Bound, receiver: Arr | None, out: Seq) -> Seq:
    """What an array is cut into, one by one if it is known how many there are."""
    found = shapes.pieces(fn, bound, receiver)
    array = receiver if receiver is not None else bound[0][1] if bound else None
    if found is None or type(out.rest) is not Arr or type(array) is not Arr:
        return out
    items: list[Value] = []
    for dims in found:
        item = reshaped(out.rest, array.dtype, len(dims))
        item.dims = fitting.known(dims)
        items.append(item)
    return Seq(out.kind, items, None, out.level, out.token)


def measure(m: Machine, fn: ApiFunction, bound: results.Bound, receiver: Arr | None, out: Arr) -> None:
    """Note the sizes of what a call gives, and the number of its axes."""
    dims = unfit.sizes(m, fn, bound, receiver) or shapes.sizes(m, fn, bound, receiver, out.rank)
    out.dims = fitting.known(dims)
    out.rank = len(dims) if out.rank is None and dims is not None else out.rank


def _give_ground(out: Arr, operands: _Operands, here: int) -> None:
    receiver = operands.receiver
    if operands.modes or here:
        if receiver is not None or not here & S:
            out.traced = operands.ground  # a method of what may be NumPy's stages nothing
    elif receiver is not None:
        out.kind = receiver.kind


def _total(like: Value, leaf: Arr) -> Value:
    """A sum over devices: arrays of the same shapes, of some dtype. One of Python numbers, or of NumPy arrays, is computed at
    once."""
    if type(like) is Py and like.kind in ("int", "float"):
        return Py(like.kind)
    if type(like) is Arr:
        if like.host and not like.modes:
            return like
        out = Arr(leaf.modes, None, like.rank, leaf.why, leaf.level, leaf.traced)
        out.dims = like.dims
        return out
    if type(like) is Union:
        return functools.reduce(join, [_total(alt, leaf) for alt in like.alts])
    children = pytrees.children(like)
    if children:
        return pytrees.with_children(like, [_total(part, leaf) for part in children])
    return pytrees.rebuild(like, leaf)


def check_static(
    m: Machine, f: Frame, at: int, fn: ApiFunction, args: Args, name: str = "", skip: str = ""
) -> None:
    """Record tracers in arguments (but ``skip``) that must be static; for calls that have a model of their own."""
    for param, value in results.bind(fn, args):
        if param.must_be_static and param.name != skip:
            emit_static(m, f, at, name or fn.name, param.name, value, param.exception)


def _writes(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> None:
    """Record a call that would write into its first argument, as its NumPy model does."""
    inplace = next((v for p, v in bound if p.name == "inplace"), TRUE)
    writes = any(p.name == "inplace" for p in fn.parameters)
    if writes and inplace is TRUE and bound and type(bound[0][1]) is Arr:
        m.emit(f, ArrayStore, at, bound[0][1], op="method", what=fn.name)


def _static(m: Machine, f: Frame, at: int, fn: ApiFunction, param: Parameter, value: Value) -> bool:
    if param.name == "out" and not all(isinstance(alt, (Arr, Tree)) for alt in alternatives(value)):
        return False  # mostly None, handed on
    if param.name == "out":
        m.emit(f, ArrayStore, at, tracer_inside(value), op="out", what=fn.name)
        return True
    return emit_static(m, f, at, fn.name, param.name, value, param.exception)


def check_layer(m: Machine, f: Frame, at: int, name: str, static: tuple[str, ...], args: Args) -> None:
    """Parameters of a library layer's constructor that must be static."""
    for i, parameter in enumerate(static):
        value = args.get(i, parameter)
        if value is not None:
            emit_static(m, f, at, name, parameter, value, "TypeError")


def _list_argument(m: Machine, f: Frame, at: int, fn: ApiFunction, param: Parameter, value: Value) -> None:
    if not param.refuses_list or param.kind.startswith("var") or not fn.name.startswith("jax."):
        return
    if param.role == "consumed-key":
        return  # other words are due
    if (type(value) is Seq and value.kind == "list") or (type(value) is Tup and value.cls is None):
        keeps_a_place = type(value) is Seq and seq_element(value) is None  # for what somebody fills in later
        m.emit(
            f, ApiMisuse, at, None, Confidence.POSSIBLE if keeps_a_place else None, api=fn.name, problem="list-argument",
            parameter=param.name, exception="TypeError",
        )  # fmt: skip
    elif not param.optional:
        _no_array(m, f, at, fn, param, value)


def _no_array(m: Machine, f: Frame, at: int, fn: ApiFunction, param: Parameter, value: Value) -> None:
    """Something of which no array is made. An object in traced code has come through a boundary, which speaks of it; that
    its class is not registered somewhere is likely and no more."""
    is_object = type(value) is Inst
    what = "" if is_object and f.world.level else no_arrays.refused(m, fn.name, value)
    if what:
        converts = no_arrays.becomes_array(value)
        m.emit(
            f, ApiMisuse, at, None, Confidence.LIKELY if is_object else None, api=fn.name, problem="list-argument",
            parameter=param.name, detail=f"{what}, {no_arrays.NOT_ASKED}" if converts else what,
            exception="ValueError" if converts else "TypeError",
        )  # fmt: skip


def _needs_cure(
    m: Machine, f: Frame, at: int, fn: ApiFunction, param: Parameter, value: Value, condition: Any
) -> bool:
    found = hurt(value, STAGED_OR_BATCHED)
    if found is None or (condition.scalar and not (type(found) is Arr and found.rank == 0)):
        return False
    cure = condition.cure[0] if condition.cure else ""
    if cure:
        m.emit(
            f,
            ApiMisuse,
            at,
            found,
            confidence_of(value),
            api=fn.name,
            problem="data-dependent-shape",
            parameter=param.name,
            exception=condition.exception,
            cure=cure,
        )
    else:
        m.emit(
            f,
            ApiMisuse,
            at,
            found,
            confidence_of(value),
            api=fn.name,
            problem="static-argument",
            parameter=param.name,
            exception=condition.exception,
            cure="",
        )
    return True
