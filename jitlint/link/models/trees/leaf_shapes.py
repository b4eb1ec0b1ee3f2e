"""Sizes and dtypes that the leaves of one pytree have from another (layer: ``link``, room ``models``).

A derivative has the types of what it is taken by, and a loop gives back what it was given: JAX refuses everything else.
Source: `jax.grad`, `jax.lax.scan`.
"""

from __future__ import annotations

from jitlint.catalogue.dtypes import exact_of, is_weak
from jitlint.infer.lattice import reshaped
from jitlint.infer.objects import seen_as
from jitlint.infer.sizes import DEPTH
from jitlint.infer.values import BEHIND, FRESH, Arr, Inst, L, Map, Py, Seq, Value
from jitlint.link.engine.frame import Frame, result_level
from jitlint.link.values import flattening, pytrees


def derivative_by(f: Frame, value: Value, modes: int, around: int = 0) -> Value:
    """A derivative by a value: floats in its structure and of its sizes. modes: of what it is computed from. around: those of
    derivatives around it that follow it."""
    leaf = Arr((modes & ~(L | BEHIND)) | around, "float", None, "", result_level(f, [value]))
    return shaped_as(pytrees.rebuild(value, leaf), value)


def shaped_as(value: Value, model: Value, depth: int = DEPTH) -> Value:
    """A value whose arrays certainly have the axes, sizes and dtypes that another one of the same structure has."""
    if type(value) is Arr:
        return _array_shaped_as(value, model)
    if depth == 0 or type(value) is not type(model):
        return value
    if isinstance(value, (Map, Seq)) and isinstance(model, (Map, Seq)) and value.rest is not None:
        return _rest_shaped_as(value, model, depth)
    if type(value) is Inst and type(model) is Inst:
        return _instance_shaped_as(value, model, depth)
    mine, theirs = pytrees.children(value), pytrees.children(model)
    if mine is None or theirs is None or len(mine) != len(theirs) or not _have_same_keys(value, model):
        return value
    return pytrees.with_children(value, [shaped_as(a, b, depth - 1) for a, b in zip(mine, theirs)])


def _have_same_keys(value: Value, model: Value) -> bool:
    return type(value) is not Map or type(model) is not Map or value.entries.keys() == model.entries.keys()


def _rest_shaped_as(value: Map | Seq, model: Map | Seq, depth: int) -> Value:
    """The same for what is said of all elements of a dict or list together."""
    if value.rest is None or model.rest is None:
        return value
    rest = shaped_as(value.rest, model.rest, depth - 1)
    if type(value) is Seq:
        return Seq(value.kind, None, rest, FRESH)
    others = isinstance(value, Map) and isinstance(model, Map) and (value.entries or model.entries)
    return value if others or not isinstance(value, Map) else Map({}, rest, FRESH, None, value.key)


def _array_shaped_as(value: Arr, model: Value) -> Arr:
    rank = model.rank if type(model) is Arr else 0 if _is_number(model) else None
    dtype = _dtype_as(value, model) if type(model) is Arr else value.dtype
    if value.dtype == "key" or (rank is None and dtype is value.dtype):
        return value
    out = reshaped(value, dtype, value.rank if rank is None else rank)
    out.dims = model.dims if type(model) is Arr and rank is not None else value.dims
    return out


def _dtype_as(value: Arr, model: Arr) -> str | None:
    """The dtype of the model where it is exact: one that is not weak is kept by all that keeps the kind of numbers."""
    exact = exact_of(model.dtype)
    return (
        model.dtype
        if value.dtype == model.dtype and exact is not None and not is_weak(exact)
        else value.dtype
    )


def _is_number(value: Value) -> bool:
    return type(value) is Py and value.kind in pytrees.NUMBERS


def _instance_shaped_as(value: Inst, model: Inst, depth: int) -> Value:
    if value.cls is not model.cls or not flattening.is_pytree(value.cls):
        return value
    static = flattening.static_names(value)
    attrs = {
        name: shaped_as(part, model.attrs[name], depth - 1)
        if name not in static and name in model.attrs
        else part
        for name, part in value.attrs.items()
    }
    return seen_as(value, attrs)
