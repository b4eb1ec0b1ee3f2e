"""Answers isinstance, callable and hasattr about abstract values (layer: ``link``, room ``values``).

A tracer is an instance of `jax.Array` and `jax.core.Tracer`, never of a Python or NumPy type: measured.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from typing import Any, Final, TypeGuard

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.objects import has_call
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import (
    Arr,
    At,
    B,
    Bound,
    Class,
    Descr,
    Ext,
    ExtInst,
    Func,
    Inst,
    Map,
    Method,
    Partial,
    Py,
    S,
    Seq,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    Xform,
    alternatives,
)
from jitlint.link.engine.machine import Machine

_CALLABLE_TYPES = (Func, Bound, Class, Partial, Xform, Method)


def mro(cls: ClassInfo) -> tuple[ClassInfo, ...]:
    """The class and its project bases, depth first without repetitions."""
    found = cls.linear
    if found is None:
        out = [cls]
        for base in cls.bases:
            if type(base) is Class:
                out.extend([c for c in mro(base.info) if c not in out])
        found = cls.linear = tuple(out)
    return found


def member(info: ClassInfo, name: str) -> Value | None:
    """What a class, or the nearest of its bases that has it, holds under a name."""
    return next((cls.namespace[name] for cls in mro(info) if name in cls.namespace), None)


def function_of(value: Value | None) -> FuncInfo | None:
    """The function that a class holds, plain or behind `classmethod` and the like."""
    func = value.func if type(value) is Descr else value
    return func.fn if type(func) is Func else None


def methods(info: ClassInfo) -> Iterator[FuncInfo]:
    """The functions that a class and its bases hold."""
    found = (function_of(value) for cls in mro(info) for value in cls.namespace.values())
    yield from (fn for fn in found if fn is not None)


def converts(default: Value | None) -> bool:
    """Whether a field makes something of what it is given: ``eqx.field(converter=jnp.asarray)``."""
    return type(default) is ExtInst and "converter" in default.attrs


def is_enumeration(info: ClassInfo) -> bool:
    """Whether a class is an enumeration by one of its own bases."""
    return any(type(base) is Ext and base.dotted.startswith("enum.") for base in info.bases)


def is_plain_enum(cls: ClassInfo) -> bool:
    """Whether the members are nothing but enum members: no integers, no text."""
    bases = [base for c in mro(cls) for base in c.bases if type(base) is not Class]
    return bool(bases) and all(type(b) is Ext and b.dotted in ("enum.Enum", "enum.Flag") for b in bases)


def find_method(value: Inst | Tup, name: str) -> Value | None:
    """A method of the class of an instance or a named tuple, found through its project bases."""
    if value.cls is None:
        return None
    for cls in mro(value.cls):
        found = cls.namespace.get(name)
        if found is not None:
            return found
    return None


def metaclass_method(info: ClassInfo, name: str) -> Value | None:
    """What a class has of its metaclass, in this project."""
    meta = info.metaclass
    return None if meta is None else member(meta, name)


def is_sequence(value: Value | None) -> TypeGuard[Seq | Tup]:
    """Whether a value stands for its elements: a list, or a tuple that is not called itself."""
    return type(value) is Seq or (type(value) is Tup and is_callable(value) is not True)


def is_callable(value: Value) -> bool | None:
    """What `callable` answers."""
    a: Any = value
    t = type(value)
    if t in _CALLABLE_TYPES:
        return True
    if t is Ext and a.dotted in lexicon().types.modules:
        return False
    if t in (Unknown, Ext, ExtInst):
        return None
    if t is Tree:
        return None if a.weak else False
    if t is Inst or t is Tup:
        return _is_called(a)
    if t is Py and a.kind == "static":
        return None
    return False


def _is_called(value: Inst | Tup) -> bool | None:
    """Whether objects of a class are called; a plain tuple is not."""
    if value.cls is None:
        return False
    if has_call(value.cls):
        return True
    return None if value.cls.extern or (type(value) is Inst and value.open) else False


def is_concrete(value: Value) -> bool | None:
    """Whether a value is known while tracing, what `jax.core.is_concrete` answers."""
    if type(value) is Arr:
        return None if value.weak or (value.modes and not value.modes & (S | B)) else not value.modes
    if type(value) is Tree:
        return False if value.evidence == "array" and value.modes and not value.weak else None
    return True if type(value) is Py and value.kind in ("int", "float", "bool", "complex") else None


_OF_ARRAYS: Final = ("shape", "dtype", "ndim", "at", "__array__")


def has_attribute(m: Machine, value: Value, name: str) -> bool | None:
    """What `hasattr` answers."""
    if type(value) is Arr:
        return _array_has(m, value, name)
    if type(value) is Tree and value.evidence == "array" and name in _OF_ARRAYS:
        return True
    if type(value) is Inst:
        return _instance_has(value, name)
    if type(value) is Py:
        return _constant_has(value, name)
    if type(value) in (Tup, Seq, Map):
        return _container_has(m, value, name)
    if type(value) is Ext and value.dotted.partition(".")[0] == "jax":
        known = _jax_has(m, f"{value.dotted}.{name}")
        return False if known is None and name in _OF_ARRAYS and _is_function(m, value.dotted) else known
    return False if type(value) in (Func, Bound) and name in _OF_ARRAYS else None


_OF_CONTAINERS: Final = frozenset(
    name for kind in (list, tuple, dict, set, frozenset, range, deque) for name in dir(kind)
)


def _container_has(m: Machine, value: Value, name: str) -> bool | None:
    """A tuple, a list or a dict has none of what arrays have, unless it is of a class that gives names to its items."""
    cls = value.cls if type(value) is Tup else None
    if name in _OF_CONTAINERS or (
        cls is not None and any(name in (*c.fields, *c.namespace) for c in mro(cls))
    ):
        return None
    of_arrays = m.catalogue.array_attribute(name) or m.catalogue.array_method(name)
    return None if of_arrays is None else False


def _constant_has(value: Py, name: str) -> bool | None:
    if value.kind == "none" and not name.startswith("__"):
        return False
    plain = value.kind in ("int", "float", "bool", "str", "none")
    return False if plain and name in _OF_ARRAYS else None


def _instance_has(inst: Inst, name: str) -> bool | None:
    if name in inst.attrs or any(name in c.namespace or name in c.fields for c in mro(inst.cls)):
        return True
    return None if inst.open or inst.cls.extern else False


def _array_has(m: Machine, arr: Arr, name: str) -> bool | None:
    kind = m.catalogue.array_attribute(name)
    if kind is not None and kind.startswith(("missing", "foreign")):
        return bool(arr.host)
    if kind is not None and kind.startswith("concrete-only") and arr.modes:
        return None if arr.weak else False
    return kind is not None or m.catalogue.array_method(name) is not None


def _jax_has(m: Machine, dotted: str) -> bool | None:
    """Whether JAX has a name, None when nobody knows."""
    if m.catalogue.view.removed(dotted) is not None:
        return False
    there = m.catalogue.view.there(dotted)
    if there is not None:
        return there
    name, tables = m.catalogue.canonical(dotted), m.transforms
    known = name in tables.wraps or name in tables.calls or name in tables.arrays
    return True if known or m.catalogue.function(name) is not None else None


def _is_function(m: Machine, dotted: str) -> bool:
    return m.catalogue.function(m.catalogue.canonical(dotted)) is not None


def arrays_outdone(alts: Collection[Value]) -> list[Value]:
    """The arrays among some values whose index may be meant for another one: a container takes what an array refuses, and
    an array of JAX what one of NumPy refuses."""
    arrays = [alt for alt in alts if type(alt) is Arr]
    if len(alts) > 1 and any(isinstance(alt, (Map, Seq, Tup, Inst)) for alt in alts):
        return [*arrays]
    on_device = any(not array.host for array in arrays)
    return [array for array in arrays if array.host and on_device]


def is_foreign(m: Machine, classes: Value) -> bool:
    """Whether what is asked for may be any class of another library: no array of JAX, no type of Python."""
    if type(classes) is Tup:
        return any(is_foreign(m, c) for c in classes.items)
    if type(classes) is not Ext:
        return False
    name = classes.dotted
    types = lexicon().types
    known = name in m.transforms.arrays or any(
        name in asked for asked in (types.containers, types.callables, types.functions)
    )
    return not known and name.partition(".")[0] not in types.familiar


def is_array_class(m: Machine, cls: Ext) -> bool:
    """Whether it is known which arrays are instances of a class."""
    return cls.dotted in m.transforms.arrays or cls.dotted in lexicon().types.host_arrays


def isinstance_of(m: Machine, value: Value, classes: Value) -> bool | None:
    """What ``isinstance(value, classes)`` answers, for one alternative of the value."""
    if type(value) is Union:
        answers = {isinstance_of(m, a, classes) for a in value.alts}
        return answers.pop() if len(answers) == 1 else None
    if type(classes) is Tup:
        answers = {isinstance_of(m, value, c) for c in classes.items}
    elif type(classes) is Union:
        answers = {isinstance_of(m, value, c) for c in alternatives(classes)}
    else:
        return _instance_of_one(m, value, classes)
    if True in answers:
        return True
    return None if None in answers or not answers else False


def _instance_of_one(m: Machine, value: Value, cls: Value) -> bool | None:
    if type(value) is ExtInst:
        return True if type(cls) is Ext and cls.dotted == value.dotted else None
    if type(value) is Unknown:
        return None
    if type(cls) is Class:
        described = _described(m, cls.info)
        return (
            _instance_of_class(value, cls.info)
            if described is None
            else _instance_of_library_class(m, value, described)
        )
    return _instance_of_library_class(m, value, cls.dotted) if type(cls) is Ext else None


def _described(m: Machine, info: ClassInfo) -> str | None:
    """The public name of a class of arrays that the project itself defines, as JAX does: what makes its instances cannot be read."""
    name = m.catalogue.canonical(f"{info.module.name}.{info.qualname}")
    return name if name in m.transforms.arrays else None


def _instance_of_class(value: Value, info: ClassInfo) -> bool | None:
    """Instances of a class of the project."""
    own = value.cls if isinstance(value, (Inst, Tup)) else None
    if own is not None:
        if info in mro(own):
            return True
        if type(value) is Inst and value.open and own in mro(info):
            return None
        return None if any(c.extern for c in mro(own)) else False
    return None if type(value) is Tree or type(value) is Ext or _is_static(value) else False


def _instance_of_library_class(m: Machine, value: Value, name: str) -> bool | None:
    types = lexicon().types
    if name == "builtins.type":
        return _instance_of_type(value)
    if name in m.transforms.arrays:
        return _instance_of_array(value, name)
    if name in types.host_arrays:
        return _instance_of_host_array(value)
    if name in types.python:
        return _instance_of_python(value, types.python[name])
    if name in types.containers:
        return _instance_of_container(value, types.containers[name])
    if name in types.callables:
        return is_callable(value)
    if name in types.functions:
        return _instance_of_function(value)
    if name in types.partials:
        return _instance_of_partial(value)
    if isinstance(value, (Arr, Py)) and name.startswith(tuple(types.no_arrays)):
        return False
    of_jax = type(value) is Arr and (bool(value.modes) or not value.host)
    return False if of_jax and name.startswith(tuple(types.no_jax_arrays)) else None


def _is_static(value: Value) -> bool:
    return type(value) is Py and value.kind == "static"


def _tracer_is_another(tree: Tree) -> bool | None:
    """What is certainly a tracer is an instance of no other type."""
    return None if tree.weak or not tree.modes else False


def _instance_of_type(value: Value) -> bool | None:
    if type(value) is Tree:
        return _tracer_is_another(value)
    if type(value) is Class:
        return True
    return None if type(value) is Ext or _is_static(value) else False


def _instance_of_function(value: Value) -> bool | None:
    if type(value) is Func:
        return None if value.fn.disguised else True
    if type(value) is Tree:
        return _tracer_is_another(value)
    known = isinstance(value, (Class, Inst, Tup, Bound, Partial, Method, Arr, Map, Seq))
    return False if known else None


def _instance_of_partial(value: Value) -> bool | None:
    if type(value) is Partial:
        return type(value.func) is not Ext or None  # of a library, it may be what its decorator is
    known = isinstance(value, (Class, Arr, Map, Seq)) or (type(value) is Func and not value.fn.disguised)
    return False if known else None


def _instance_of_host_array(value: Value) -> bool | None:
    if type(value) is Arr:
        return value.host and not value.modes
    if type(value) is Tree:
        return _tracer_is_another(value)
    return None if _is_static(value) else False


def _instance_of_python(value: Value, kinds: Collection[str]) -> bool | None:
    if type(value) is Py:
        return None if value.kind == "static" else value.kind in kinds
    return _tracer_is_another(value) if type(value) is Tree else False


def _instance_of_array(value: Value, name: str) -> bool | None:
    t = type(value)
    a: Any = value
    if t is Arr:
        if name in lexicon().types.tracers:
            return bool(a.modes)
        return not a.host or bool(a.modes)
    if t is Tree:
        if a.modes and not a.weak and a.evidence in ("", "array", "flag"):
            return True
        return True if a.evidence == "array" and name not in lexicon().types.tracers else None
    if t is Py:
        return None if a.kind == "static" else False
    return None if t in (Ext, At) else False


def _instance_of_container(value: Value, kinds: tuple[str, ...]) -> bool | None:
    t = type(value)
    a: Any = value
    if t is Tup:
        return "tuple" in kinds
    if t is Seq:
        return a.kind in kinds
    if t is Map:
        return "dict" in kinds
    if t is Py:
        return None if a.kind == "static" else a.kind in kinds
    if t is Tree:
        return None if a.evidence != "array" else False
    if t is Inst:
        return None if a.cls.extern else False
    return None if t is Ext else False


def constant_strings(value: Value) -> list[str]:
    """The strings of a constant list or tuple of strings."""
    items: list[Value] = []
    if type(value) is Tup:
        items = list(value.items)
    elif type(value) is Seq and value.items is not None:
        items = value.items
    elif type(value) is Py:
        items = [value]
    return [i.const for i in items if type(i) is Py and isinstance(i.const, str)]


def is_thread_local(cls: ClassInfo) -> bool:
    """State of a thread is context that libraries set and reset around a trace."""
    return any(type(base) is Ext and base.dotted == "threading.local" for c in mro(cls) for base in c.bases)
