"""What is certainly no array, nor a pytree of arrays: as an argument of a transform, or of a function of arrays (layer: ``link``, room ``values``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from jitlint.catalogue.dtypes import TEXT, plain_kind
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.objects import is_cold
from jitlint.infer.values import (
    Arr,
    At,
    Class,
    Ext,
    ExtInst,
    Func,
    Inst,
    Map,
    Mod,
    Partial,
    Py,
    Seq,
    Tup,
    Value,
    Xform,
)
from jitlint.link.engine.machine import Machine
from jitlint.link.values import flattening
from jitlint.link.values.questions import registering
from jitlint.link.values.questions.kinds import mro

_DEPTH: Final = 4


def refused(m: Machine, function: str, value: Value) -> str:
    """What a function of arrays gets that it does not make an array of, besides lists and tuples, or ""."""
    if type(value) is Inst:
        told = not_an_array(m, value)
        converts = becomes_array(value) and function not in lexicon().arrays.traces_arguments
        named = told if told.startswith("an object") else f"an object of `{told}`"
        return named if told and not converts else ""
    if type(value) is Py and value.kind in ("str", "bytes"):
        return f"a {value.kind}"
    if type(value) is Seq and value.kind in ("set", "frozenset", "range"):
        return f"a {value.kind}"
    if type(value) is Arr:
        return _refused_array(m, value, 0)
    # Of a table whose keys are not known, one element is not like another.
    return "a dict" if type(value) is Map and value.rest is None and value.entries else ""


def not_an_array(m: Machine, value: Value, depth: int = _DEPTH) -> str:
    """What a value is that JAX refuses as an array argument or output, or ""."""
    refused = _REFUSED.get(type(value))
    return "" if refused is None else refused(m, value, depth)


def _first_refused(m: Machine, parts: Iterable[Value], depth: int) -> str:
    if not depth:
        return ""
    return next((found for part in parts if (found := not_an_array(m, part, depth - 1))), "")


def _refused_constant(m: Machine, value: Py, depth: int) -> str:
    kind = plain_kind(value.kind)
    return kind if kind in ("str", "bytes", "dtype", "enum", "slice") else ""


def _refused_array(m: Machine, value: Arr, depth: int) -> str:
    return "an array of texts" if value.host and value.dtype == TEXT else ""


def _refused_sequence(m: Machine, value: Seq, depth: int) -> str:
    if value.kind in _NO_PYTREES:
        return _NO_PYTREES[value.kind]
    if value.kind != "list":
        return ""
    if value.items is not None:
        return _first_refused(m, value.items, depth)
    kind = _first_refused(m, [value.rest], depth) if value.rest is not None else ""
    if kind == "str":
        return TEXTS
    return kind if kind.endswith(HOLDS_FUNCTION) else ""  # layers of a model, which has some


def _refused_instance(m: Machine, value: Inst, depth: int) -> str:
    field = "" if is_cold(value) else _text_field(value)
    if field:
        return f"an object of `{value.cls.name}`, {WHOSE_FIELD} `{field}` is a text"
    return _refused_class(m, value, depth)


def _refused_class(m: Machine, value: Inst, depth: int) -> str:
    cls = value.cls
    if cls.role == CALLABLE_LEAVES and not value.open and not is_cold(value):
        held = [part for name, part in value.attrs.items() if name not in flattening.static_names(value)]
        kind = _first_refused(m, held, depth)
        if kind.endswith(HOLDS_FUNCTION) or kind == "function":
            return f"an object of `{cls.name}`, {HOLDS_FUNCTION}"
        return f"an object of `{cls.name}`, which holds a {kind}" if kind.isidentifier() else ""
    if cls.extern or cls.role not in ("", NO_LEAVES) or (value.open and cls.stands_for_others):
        return ""
    return "" if registering.is_registered(cls) or _subscribed(m, value) else str(cls.name)


def _text_field(value: Inst) -> str:
    """The field of a registered object that certainly is a text and one of its leaves, or ""."""
    cls = value.cls
    data = flattening.data_names(cls)
    if cls.role == _STRUCT and data is None:
        data = frozenset(value.attrs.keys() & cls.fields.keys() - flattening.meta_names(cls))
    if data is None or value.open or cls.extern or cls.role not in ("", _STRUCT):
        return ""
    texts = {name for name, part in value.attrs.items() if type(part) is Py and part.kind in ("str", "bytes")}
    return min(texts & data, default="")


def flag_in(value: Value, depth: int = _DEPTH) -> str:
    """The layer of a module whose fields are all leaves that certainly holds a truth value among them, or ""."""
    if type(value) is ExtInst:
        return value.dotted if value.dotted in lexicon().contracts.holds_flags else ""
    parts = _held(value) if depth else ()
    return next((found for part in parts if (found := flag_in(part, depth - 1))), "")


def _held(value: Value) -> Iterable[Value]:
    """The parts of a module whose fields are all leaves, or of a container."""
    if type(value) is Inst:
        if value.cls.role != CALLABLE_LEAVES or value.open or is_cold(value):
            return ()
        static = flattening.static_names(value)
        return [part for name, part in value.attrs.items() if name not in static]
    if type(value) is Seq and value.kind == "list":
        return value.items if value.items is not None else filter(None, [value.rest])
    if type(value) is Tup:
        return value.items
    return value.entries.values() if type(value) is Map else ()


TEXTS: Final = "a list of texts"
"""Of a list of unknown length, which may be empty."""
WHOSE_FIELD: Final = "whose field"
_STRUCT: Final = "struct"
"""The role of dataclasses that a library registers: their fields are leaves, if they do not say otherwise."""

HOLDS_FUNCTION: Final = "which holds a function"
NOT_ASKED: Final = "whose `__jax_array__` JAX does not call for an argument"

CALLABLE_LEAVES: Final = "eqx"
"""The role of modules whose fields are all leaves, functions as well, and which plain transforms refuse for that."""

NO_LEAVES: Final = "linen"
"""The role of modules that are no pytrees: what they hold is handed to them when they are applied."""


def _refused_object(m: Machine, value: ExtInst, depth: int) -> str:
    contracts = lexicon().contracts
    if value.dotted in contracts.holds_functions or value.dotted in contracts.pairs_functions:
        return f"an object of `{value.dotted}`, {HOLDS_FUNCTION}"
    return "object" if value.dotted == "builtins.object" else ""


_REFUSED: Final[dict[type, Callable[[Machine, Any, int], str]]] = {
    Py: _refused_constant,
    Arr: _refused_array,
    **dict.fromkeys((Func, Partial, Xform, Mod), lambda m, value, depth: "function"),
    Class: lambda m, value, depth: "class",
    Ext: lambda m, value, depth: _library_name(m, value.dotted),
    Seq: _refused_sequence,
    At: lambda m, value, depth: "an update reference (`x.at[...]`)",
    ExtInst: _refused_object,
    Inst: _refused_instance,
    Tup: lambda m, value, depth: _first_refused(m, value.items, depth),
    Map: lambda m, value, depth: _first_refused(m, value.entries.values(), depth),
}


_NO_PYTREES = {"set": "set", "frozenset": "frozenset", "range": "range", "iter": "an iterator"}


def _library_name(m: Machine, dotted: str) -> str:
    """What a known name of a library stands for when it is no array."""
    if m.catalogue.constant(dotted) == "dtype":
        return "dtype"
    numpy = m.catalogue.numpy(dotted) is not None
    known = m.catalogue.function(dotted) is not None or dotted in m.transforms.wraps
    return "function" if numpy or known or dotted in m.transforms.calls else ""


def _subscribed(m: Machine, value: Inst) -> bool:
    """Objects that convert themselves or describe an array, or whose class is registered by a call not followed."""
    names = {name for cls in mro(value.cls) for name in cls.namespace}
    if registering.is_forgotten(m, value.cls):
        return False
    if becomes_array(value) and "tree_flatten" not in names:
        return m.catalogue.view.behaves("traces-no-array-likes") is not True
    return bool(names & {"__array__", "tree_flatten"}) or {"shape", "dtype"} <= names | value.attrs.keys()


def becomes_array(value: Value) -> bool:
    """Whether it is an object of the project that says which array it stands for."""
    return type(value) is Inst and any("__jax_array__" in cls.namespace for cls in mro(value.cls))
