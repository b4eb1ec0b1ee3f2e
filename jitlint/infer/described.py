"""What a value is, in words and as one status (layer: ``infer``). For people who ask; no analysis rests on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jitlint.base.diagnostic import Confidence
from jitlint.base.text import shorten
from jitlint.catalogue.dtypes import plain_kind
from jitlint.infer.dims import shape_text
from jitlint.infer.mappings import COLLECTIONS, PARAMETERS
from jitlint.infer.places import Step
from jitlint.infer.values import (
    NO_CONST,
    UNKNOWN,
    Arr,
    Bound,
    Class,
    Descr,
    Ext,
    ExtInst,
    Func,
    Inst,
    Map,
    Method,
    Mod,
    Partial,
    Py,
    Seq,
    Super,
    Tree,
    Tup,
    Value,
    Xform,
    alternatives,
)

_LONGEST = 40
_CODE = frozenset({Func, Bound, Class, Mod, Ext, Method, Partial, Xform, Descr, Super})
_AXES = {0: " scalar", 1: " array with 1 axis"}


@dataclass(frozen=True, slots=True)
class Seen:
    """A value that was seen at an origin. status: traced, static, mixed (some of its leaves are traced) or unknown.

    kind: what it is, in words. code: it is a function, a class or a module. in_trace: the code there was running under
    a transform. The rest is as in `Place`.
    """

    module: str
    at: int
    status: str
    kind: str
    code: bool
    why: str
    in_trace: bool
    function: str
    steps: tuple[Step, ...]
    ground: str
    confidence: Confidence


def is_code(value: Value) -> bool:
    """Whether it is something that is called or looked into, and no data."""
    return type(value) in _CODE


def why_traced(value: Value) -> str:
    """What made it a tracer, if it says so itself."""
    for alternative in alternatives(value):
        if type(alternative) in (Arr, Tree, Inst):
            found: Any = alternative
            if found.modes:
                return str(found.why)
    return ""


def words(value: Value) -> str:
    """What a value is: "float array of shape (8, 3)", "float array with 2 axes", "dict", "Python int", "3"."""
    kinds = dict.fromkeys(_words(alternative) for alternative in alternatives(value))
    return " or ".join(kinds)


def _words(value: Any) -> str:
    t = type(value)
    if value is UNKNOWN:
        return ""
    if t is Arr:
        return _array(value)
    if t is Tree:
        known = {
            "map": "dictionary",
            COLLECTIONS: "variables of a module",
            PARAMETERS: "parameters of a module",
            "seq": "sequence",
            "array": "array",
            "flag": "value",
            "ref": "reference",
        }
        return known.get(value.evidence, "pytree")
    if t is Py:
        if value.const is not NO_CONST and value.kind != "enum":
            return shorten(repr(value.const), _LONGEST)
        return {"none": "None", "static": "Python value"}.get(value.kind, f"Python {plain_kind(value.kind)}")
    if t is Tup:
        return value.cls.qualname if value.cls is not None else "tuple"
    if t is Seq:
        return str(value.kind).replace("iter", "iterator")
    if t is Map:
        return "dict"
    if t is Inst:
        return f"object of `{value.cls.qualname}`"
    return _code(value)


def _array(value: Arr) -> str:
    if value.dtype == "key":
        return "PRNG key"
    dtype = f"{value.dtype} " if value.dtype not in (None, "number") else ""
    maker = "NumPy " if value.host else ""
    if value.rank is None:
        return f"{maker}{dtype}array"
    if value.dims and len(value.dims) == value.rank:
        return f"{maker}{dtype}array of shape {shape_text(value.dims)}"
    return f"{maker}{dtype}{_AXES.get(value.rank, f' array with {value.rank} axes').lstrip()}"


def _code(value: Any) -> str:
    t = type(value)
    if t is Ext or t is ExtInst:
        return f"`{value.dotted}`"
    if t is Func:
        return f"function `{value.fn.qualname}`"
    if t is Xform:
        return f"function under `jax.{value.spec.name}`" if "." not in value.spec.name else "function"
    if t is Class:
        return f"class `{value.info.qualname}`"
    if t is Mod:
        return f"module `{value.info.name}`"
    return "method" if t is Bound or t is Method else "Python value"
