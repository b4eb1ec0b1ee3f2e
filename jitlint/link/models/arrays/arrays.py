"""Calls of JAX's array functions and methods by catalogue entry (layer: ``link``, room ``models``)."""

from __future__ import annotations

import functools
from typing import Any

from jitlint.catalogue.schema import ApiFunction, Parameter, Result
from jitlint.infer.events import ApiMisuse, ArrayStore
from jitlint.infer.grounds import GUESSED, SEEN
from jitlint.infer.lattice import join, seq_element, traced_modes, why_of
from jitlint.infer.values import (
    NONE,
    STATIC,
    TRUE,
    UNKNOWN,
    Arr,
    Ext,
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
from jitlint.link.values import bounds, pytrees, truths

FULL_REDUCTIONS = frozenset(
    "sum mean max min prod any all std var ptp median nansum nanmean nanmax nanmin amax amin count_nonzero".split()
)
COUNTING = frozenset(
    {"sum", "nansum", "prod", "nanprod", "cumsum", "nancumsum", "cumprod", "nancumprod", "trace"}
)
"""Reductions that turn booleans into integers."""

INDEX_REDUCTIONS = frozenset({"argmax", "argmin"})
REAL_PARTS = frozenset({"real", "imag", "abs", "absolute", "angle"})
"""Of complex numbers these give real ones."""

SHAPED = frozenset({"zeros", "ones", "empty", "full"})
SAME_RANK = frozenset(
    "abs exp log sqrt sin cos tan tanh where maximum minimum clip square sign floor ceil round isnan isfinite isinf "
    "logical_and logical_or logical_not add subtract multiply divide power greater less equal not_equal zeros_like "
    "ones_like full_like relu sigmoid softplus gelu astype negative logical_xor bitwise_and bitwise_or".split()
)
DTYPE_KINDS = (
    ("bool", "bool"),
    ("uint", "int"),
    ("int", "int"),
    ("bfloat", "float"),
    ("float", "float"),
    ("complex", "complex"),
)


def dtype_kind(value: Value | None) -> str | None:
    """The dtype class that a ``dtype=`` argument names, or None."""
    if value is None:
        return None
    name = ""
    if type(value) is Ext:
        name = value.dotted.rpartition(".")[2]
    elif type(value) is Py and isinstance(value.const, str):
        name = value.const
    for prefix, kind in DTYPE_KINDS:
        if name.startswith(prefix):
            return kind
    return None


def _bound(fn: ApiFunction, args: Args) -> list[tuple[Parameter, Value]]:
    names = list(args.kw)
    params = fn.bind(len(args.pos), names)
    values = [*args.pos, *args.kw.values()]
    return [(p, v) for p, v in zip(params, values) if p is not None]


def call_api(m: Machine, f: Frame, at: int, fn: ApiFunction, args: Args, receiver: Any = None) -> Value:
    """A call of a JAX function or array method with a catalogue entry."""
    bound = _bound(fn, args)
    given = {p.name for p, v in bound if v is not NONE}
    blamed = False
    modes = receiver.modes if receiver is not None else 0
    why = receiver.why if receiver is not None else ""
    ground = GUESSED if receiver is None else receiver.traced if receiver.modes else receiver.kind
    unknown = args.more is not None or args.kw_more is not None
    for param, value in bound:
        if param.must_be_static:
            blamed = _static(m, f, at, fn, param, value) or blamed
            continue
        _list_argument(m, f, at, fn, param, value)
        condition = fn.traced_needs(param.name, given)
        if condition is not None and not unknown:
            blamed = _needs_cure(m, f, at, fn, param, value, condition) or blamed
        part = traced_modes(value)
        if part:
            modes |= part
            why = why or why_of(value)
            found = tracer_inside(value)
            ground = min(ground, getattr(found, "traced", SEEN))
    _writes(m, f, at, fn, bound)
    switches = {p.name: truths.static_truth(v) for p, v in bound} if fn.conditions else {}
    result = fn.result_given(given, switches)
    traced = bool(f.world.here) or (bool(modes & STAGED_OR_BATCHED) and ground is not GUESSED)
    if result.cures is not None and traced and not unknown and not any(c in given for c in result.cures):
        probe = Arr(modes | f.world.here, None, None, why, f.world.level, SEEN if f.world.here else ground)
        cure = result.cures[0] if result.cures else ""
        m.emit(
            f,
            ApiMisuse,
            at,
            probe,
            api=fn.name,
            problem="data-dependent-shape",
            parameter="",
            exception="",
            cure=cure,
        )
        return UNKNOWN
    if blamed:
        return UNKNOWN
    where = fn.name.rpartition(".")[2]
    if result.kind in ("structure", "total"):
        like = next((v for p, v in bound if p.name in result.arguments), UNKNOWN)
        leaf = Arr(modes | f.world.here, None, None, why, result_level(f, [like]))
        return pytrees.rebuild(like, leaf) if result.kind == "structure" else _total(like, leaf)
    if receiver is not None and (receiver.host or receiver.weak):
        out = _value(m, f, fn, result, bound, receiver, modes, why, where)
        if type(out) is Arr:
            out.traced, out.host = ground if modes else SEEN, receiver.host and not modes
        return out
    out = _value(m, f, fn, result, bound, receiver, modes | f.world.here, why or here_why(f, where), where)
    if type(out) is Arr and result.kind != "same":
        if modes | f.world.here and (receiver is not None or not f.world.here & S):
            out.traced = ground  # a method of what may be NumPy's stages nothing
        elif receiver is not None:
            out.kind = receiver.kind
    return settle(f, out) if result.kind != "same" else out


def _total(like: Value, leaf: Arr) -> Value:
    """A sum over devices: one of Python numbers is computed at once, as is one of NumPy arrays."""
    if type(like) is Py and like.kind in ("int", "float"):
        return Py(like.kind)
    if type(like) is Arr and like.host and not like.modes:
        return like
    if type(like) is Union:
        parts = [_total(alt, leaf) for alt in like.alts]
        return functools.reduce(join, parts)
    children = pytrees.children(like)
    if children:
        return pytrees.with_children(like, [_total(part, leaf) for part in children])
    return pytrees.rebuild(like, leaf)


def check_static(
    m: Machine, f: Frame, at: int, fn: ApiFunction, args: Args, name: str = "", skip: str = ""
) -> None:
    """Record tracers in arguments (but ``skip``) that must be static; for calls that have a model of their own."""
    for param, value in _bound(fn, args):
        if param.must_be_static and param.name != skip:
            emit_static(m, f, at, name or fn.name, param.name, value, param.exception)


def _writes(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: list[tuple[Parameter, Value]]) -> None:
    """Record a call that would write into its first argument, as its NumPy model does."""
    inplace = next((v for p, v in bound if p.name == "inplace"), TRUE)
    writes = any(p.name == "inplace" for p in fn.parameters)
    if writes and inplace is TRUE and bound and type(bound[0][1]) is Arr:
        m.emit(f, ArrayStore, at, bound[0][1], op="method", what=fn.name)


def _static(m: Machine, f: Frame, at: int, fn: ApiFunction, param: Parameter, value: Value) -> bool:
    if param.name == "out" and value is not NONE:
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
    if (type(value) is Seq and value.kind == "list") or (type(value) is Tup and value.cls is None):
        m.emit(
            f,
            ApiMisuse,
            at,
            None,
            api=fn.name,
            problem="list-argument",
            parameter=param.name,
            exception="TypeError",
            cure="",
        )


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


def _value(
    m: Machine,
    f: Frame,
    fn: ApiFunction,
    result: Result,
    bound: list[tuple[Parameter, Value]],
    receiver: Any,
    modes: int,
    why: str,
    name: str,
) -> Value:
    kind = result.kind
    level = result_level(f, [v for _, v in bound] if receiver is None else [receiver, *[v for _, v in bound]])
    if kind == "static":
        return STATIC
    if kind == "none":
        return NONE
    if kind == "opaque":
        return UNKNOWN
    if kind == "tree":
        return Tree(modes, why, level)
    if kind == "same":
        return next(
            (v for p, v in bound if p.name in result.arguments), receiver if receiver is not None else UNKNOWN
        )
    if kind in ("list", "sequence", "tuple"):
        items = [Arr(modes, _plain_dtype(k), None, why, level) for k in result.arguments]
        if kind != "tuple":
            return Seq(
                "list" if kind == "list" else "tuple",
                None,
                items[0] if items else Arr(modes, None, None, why, level),
                f.world.level,
            )
        return Tup(tuple(items))
    if kind == "callable":
        return UNKNOWN
    if kind in ("key", "keys"):
        return Arr(modes, "key", 0 if kind == "key" else 1, why, level)
    dtype = _plain_dtype(kind)
    by_name = {p.name: v for p, v in bound}
    if kind == "like":
        dtype = _like(result, by_name, receiver)
        if dtype == "complex" and name in REAL_PARTS:
            dtype = "float"
        if dtype == "bool" and name in COUNTING:
            dtype = "int"
    given = by_name.get("dtype")
    if given is not None and given is not NONE:
        dtype = dtype_kind(given)
    elif name in SHAPED and name != "full":
        dtype = "float"
    elif name in ("array", "asarray") and dtype == "int" and bound and type(bound[0][1]) is Py:
        dtype = "number"
    out = Arr(modes, dtype, _rank(name, bound, by_name, receiver), why, level)
    if name in bounds.MAKERS and receiver is None:
        out.dims = bounds.dims_of(name, by_name)
    return out


def _plain_dtype(kind: str) -> str | None:
    return kind if kind in ("bool", "int", "float", "key") else None


def _like(result: Result, by_name: dict[str, Value], receiver: Any) -> str | None:
    kinds: set[str | None] = set()
    for name in result.arguments:
        value = receiver if name == "self" else by_name.get(name)
        if value is None:
            continue
        if type(value) is Arr:
            kinds.add(value.dtype)
        elif type(value) is Py:
            if value.kind in pytrees.NUMBERS:
                kinds.add(value.kind)
        else:
            kinds.add(_element_dtype(value))
    return _widest(kinds)


def _element_dtype(value: Value) -> str | None:
    """The dtype of an array made of a nested list; numbers in a list are not weakly typed."""
    if type(value) is Arr:
        return value.dtype
    if type(value) is Py:
        return value.kind if value.kind in pytrees.NUMBERS else None
    if type(value) is Tup:
        return _widest({_element_dtype(item) for item in value.items})
    element = seq_element(value) if type(value) is Seq else None
    return None if element is None else _widest({_element_dtype(a) for a in alternatives(element)})


def _widest(kinds: set[str | None]) -> str | None:
    if None in kinds or not kinds:
        return None
    for kind in ("complex", "float", "int", "number", "bool", "key"):
        if kind in kinds:
            return kind
    return None


def _rank(
    name: str, bound: list[tuple[Parameter, Value]], by_name: dict[str, Value], receiver: Any
) -> int | None:
    if name in FULL_REDUCTIONS or name in INDEX_REDUCTIONS:
        axis = by_name.get("axis", NONE)
        keep = by_name.get("keepdims")
        if axis is NONE and keep is None:
            return 0
        source = receiver if receiver is not None else bound[0][1] if bound else None
        rank = getattr(source, "rank", None)
        single = type(axis) is Py and axis.kind == "int" and keep is None
        return rank - 1 if rank and single else None
    if name in SHAPED:
        return shape_rank(by_name.get("shape"))
    if name in ("arange", "linspace"):
        return 1
    if name in SAME_RANK:
        ranks: list[int] = []
        for source in ([receiver] if receiver is not None else []) + [
            v for p, v in bound if not p.must_be_static
        ]:
            if type(source) is Arr and source.rank is not None:
                ranks.append(source.rank)
            elif type(source) is Py and source.kind in pytrees.NUMBERS:
                ranks.append(0)
            else:
                return None
        return max(ranks) if ranks else None
    if name in ("array", "asarray", "stack"):
        return nested_rank(bound[0][1]) if bound else None
    return None


def shape_rank(shape: Value | None) -> int | None:
    if type(shape) is Tup:
        return len(shape.items)
    if type(shape) is Seq and shape.items is not None:
        return len(shape.items)
    return 1 if type(shape) is Py and shape.kind == "int" else None


def nested_rank(value: Value) -> int | None:
    """The number of axes that an array made of numbers, arrays or nested lists has."""
    if type(value) is Py:
        return 0 if value.kind in pytrees.NUMBERS else None
    if type(value) is Arr:
        return value.rank
    if type(value) is Tup or type(value) is Seq:
        element = seq_element(value) if type(value) is Seq else value.items[0] if value.items else None
        if element is None:
            return 1
        inner = nested_rank(element)
        return None if inner is None else inner + 1
    return None
