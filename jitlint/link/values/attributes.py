"""Attribute reads and stores on abstract values (layer: ``link``, room ``values``)."""

from __future__ import annotations

import functools
from typing import Any

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.dtypes import plain_kind
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.changes import reached, set_perhaps
from jitlint.infer.events import ArrayStore
from jitlint.infer.grounds import GUESSED, weaken
from jitlint.infer.keys import descends
from jitlint.infer.lattice import anonymous, join
from jitlint.infer.objects import forget_notes, is_cold
from jitlint.infer.values import (
    FRESH,
    INT,
    STATIC,
    STR,
    UNKNOWN,
    Arr,
    At,
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
    Union,
    Value,
    Xform,
    alternatives,
    py,
)
from jitlint.link.engine import evaluator, imports, reading
from jitlint.link.engine.domain import Load, Store
from jitlint.link.engine.events import STAGED_OR_BATCHED
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import (
    bounds,
    callbacks,
    classes,
    fields,
    flattening,
    library_objects,
    operators,
)
from jitlint.link.values.keys import keys_of
from jitlint.link.values.questions import behind, counting, filling, lacking
from jitlint.link.values.questions.kinds import find_method, is_plain_enum, metaclass_method, mro
from jitlint.link.values.questions.ownership import outlives


def get(m: Machine, f: Frame, at: int, obj: Value, name: str) -> Value:
    """``obj.name``."""
    getter = _GETTERS.get(type(obj))
    return getter(m, f, at, obj, name) if getter is not None else UNKNOWN


def peek(m: Machine, f: Frame, obj: Value, name: str) -> Value | None:
    """The value of an attribute that is simply stored, without events; None when it is not."""
    if type(obj) is Inst:
        return obj.attrs.get(name)
    if type(obj) is Mod:
        return obj.info.scope.vars.get(name)
    if type(obj) is Tup and obj.cls is not None and name in obj.cls.fields:
        return obj.items[list(obj.cls.fields).index(name)]
    if type(obj) is Tree:
        return Tree(obj.modes, obj.why, obj.level, GUESSED)
    return None


def _union(m: Machine, f: Frame, at: int, obj: Union, name: str) -> Value:
    out: Value | None = None
    alts = [alt for alt in obj.alts if type(alt) is not Py or alt.kind != "none"]
    before = f.confidence
    for alt in alts:
        if type(alt) is Arr and any(type(other) is not Arr for other in alts):
            f.confidence = weaken(before, 2)  # another kind of object may have what an array lacks
        value = get(m, f, at, alt, name)
        f.confidence = before
        out = value if out is None else join(out, value)
    return out if out is not None else UNKNOWN


def known_rank(array: Arr) -> int | None:
    """The number of axes as the program sees it. That of a key depends on its kind: a raw one has an axis of its own."""
    return None if array.dtype == "key" else array.rank


def shape_of(value: Value) -> Value:
    """A shape: as many static integers as the rank says."""
    rank = known_rank(value) if type(value) is Arr else None
    if type(value) is Arr and rank is not None and rank <= 6:
        sizes = value.dims if value.dims is not None else (None,) * rank
        return Tup(counting.sizes(value.about, sizes))
    return Seq("tuple", None, INT, FRESH)


def _array(m: Machine, f: Frame, at: int, obj: Arr, name: str) -> Value:
    if name in ("shape", "at"):
        return shape_of(obj) if name == "shape" else At(obj)
    kind = m.catalogue.array_attribute(name)
    if kind == "static":
        return _counted(name, obj)
    if kind == "array":
        dtype = "float" if obj.dtype == "complex" and name in ("real", "imag") else obj.dtype
        modes = obj.modes | (0 if obj.host else f.world.here)
        traced = obj.traced if obj.modes else obj.kind
        out = Arr(modes, dtype, obj.rank, obj.why, obj.level, traced, obj.host, None, obj.kind)
        return bounds.turned(name, obj, out)
    if obj.host:
        return Method(obj, name)
    if not obj.softness and f.confidence is not Confidence.POSSIBLE:  # surely an array
        imports.note(m, f, at, f"jax.Array.{name}")
    if kind is not None and kind.startswith(("concrete-only:", "missing:", "foreign:")):
        lacking.check(m, f, at, obj, name, kind)
    return Method(obj, name) if m.catalogue.array_method(name) is not None else UNKNOWN


def _counted(name: str, array: Arr | None = None) -> Value:
    """What is known of an array while it is traced."""
    rank = known_rank(array) if name == "ndim" and array is not None else None
    if rank is not None:
        return py(rank)
    if name in lexicon().arrays.counting_attributes:
        return INT
    return operators.dtype_value(array) if name == "dtype" else STATIC


def _tree(m: Machine, f: Frame, at: int, obj: Tree, name: str) -> Value:
    if name == "shape":
        return Seq("tuple", None, INT, FRESH)
    if name == "at":
        return At(obj if obj.evidence == "ref" else obj.leaf())
    if name in lexicon().containers.of_trees:
        return Method(obj, name)
    kind = m.catalogue.array_attribute(name)
    if obj.evidence == "ref" and name in ("value", "raw_value"):
        return obj.leaf()
    if obj.evidence == "ref" and kind != "static":
        return UNKNOWN  # some parts and views of a reference are references, too
    if kind == "static":
        return _counted(name)
    if kind == "array" and name in ("T", "mT", "real", "imag"):
        leaf = obj.leaf()
        leaf.modes |= f.world.here
        return leaf
    array = _array_that_has(obj, name, kind)
    if array is not None:
        return _array(m, f, at, array, name)
    if m.catalogue.array_method(name) is not None:
        return Method(obj, name)
    return Tree(obj.modes, obj.why, obj.level, GUESSED) if obj.modes else UNKNOWN


def _array_that_has(obj: Tree, name: str, kind: str | None) -> Arr | None:
    """The array that an unknown pytree must be to have an attribute that a tracer lacks."""
    if (
        obj.evidence == "array"
        and kind is not None
        and kind.startswith(("concrete-only", "missing", "foreign"))
    ):
        return obj.leaf()
    if name == "block_until_ready" and obj.modes & STAGED_OR_BATCHED and not obj.weak:
        return Arr(obj.modes, None, None, obj.why, obj.level)
    return None


def note_load(m: Machine, f: Frame, name: str, obj: Inst | None) -> None:
    """An attribute is read, of an object that is perhaps not known. What is only guessed to run reads nothing."""
    if f.confidence is not Confidence.POSSIBLE:
        cls, born = (None, 0) if obj is None else (obj.cls, obj.born)
        m.loads.add((name, f.world.level, cls, born))


def _instance(m: Machine, f: Frame, at: int, obj: Inst, name: str) -> Value:
    value = obj.attrs.get(name)
    note_load(m, f, name, obj)
    if obj.cls.watched and f.world.level:
        callbacks.run_protocol(m, f, at, obj, "__getattribute__", [STR])
    if value is not None:
        again = classes.set_up_again(m, f, obj, name, value) if f.world.here and obj.cls.role else None
        if again is not None:
            return again
        if obj.cls.described:
            callbacks.run_implied(m, f, at, class_lookup(obj, name), ("__get__",), obj, Class(obj.cls))
        if obj.level < f.world.floor:
            m.domains.on_load(f, Load(at, "attribute", obj, name, value))
        return value
    found = class_lookup(obj, name)
    if obj.open and isinstance(found, (Arr, Py, Tup, Seq, Map)) and name in fields.ordered_fields(obj.cls):
        return UNKNOWN  # a field that has a default, of any object
    if found is not None:
        if obj.cls.scope.level < f.world.floor:
            m.domains.on_load(f, Load(at, "class", obj.cls, name, found))
        reading.note(m, found)
        return bind_descriptor(m, f, at, found, obj)
    common = behind.of_every_object(obj, name)
    if common is not None:
        return common
    if f.world.level:
        callbacks.run_protocol(m, f, at, obj, "__getattr__", [STR])
    wrapped = behind.wrapped(obj, name)
    if wrapped is not None and wrapped is not obj:
        return get(m, f, at, wrapped, name)
    given = classes.inherited(m, f, at, obj, name)
    if given is UNKNOWN and obj.modes:
        return Tree(obj.modes, obj.why, obj.level, GUESSED)
    return given


def class_lookup(obj: Inst | Tup, name: str) -> Value | None:
    """A class attribute through the project's bases."""
    if obj.cls is None:
        return None
    for cls in mro(obj.cls):
        found = cls.namespace.get(name)
        if found is not None:
            return UNKNOWN if filling.is_mark(obj.cls, cls, name, found) else found
    return None


def bind_descriptor(m: Machine, f: Frame, at: int, found: Value, recv: Value) -> Value:
    """What a class attribute becomes when it is read through an instance."""
    if type(found) is Func or type(found) is Xform:
        return Bound(found, recv)
    if type(found) is Descr:
        return _bind_wrapped(m, f, at, found, recv)
    if type(found) is Inst and any("__get__" in cls.namespace for cls in mro(found.cls)):
        return _described(m, f, at, found, recv)
    if type(found) is Union:
        return functools.reduce(join, [bind_descriptor(m, f, at, alt, recv) for alt in found.alts])
    return found


def _bind_wrapped(m: Machine, f: Frame, at: int, found: Descr, recv: Value) -> Value:
    """A property, class method or static method that is read through an instance."""
    if found.kind == "staticmethod":
        return found.func
    if found.kind == "classmethod":
        cls = recv.cls if isinstance(recv, (Inst, Tup)) else None
        return Bound(found.func, recv if cls is None else Class(cls))
    if found.kind not in ("property", "cached_property"):
        return found
    if found.kind == "cached_property" and flattening.is_filled(f, found, recv):
        return UNKNOWN
    result = evaluator.call(m, f, at, found.func, Args([recv]))
    if type(found.func) is Func and found.kind == "property":
        m.domains.on_property(f, at, found.func, result)
    elif type(found.func) is Func and type(recv) is Inst:
        m.domains.on_store(f, Store(at, "cached_property", recv, found.func, result))
        if recv.level == f.world.level and recv.token is not None and not is_cold(recv):
            recv.attrs[found.func.fn.name] = result  # from now on it is an attribute like any other
    return result


def _described(m: Machine, f: Frame, at: int, descriptor: Inst, recv: Value) -> Value:
    """What a descriptor of the project gives: it may compute something, and keep it."""
    getter = find_method(descriptor, "__get__")
    if type(getter) is not Func or type(recv) is not Inst:
        return UNKNOWN
    return evaluator.call(m, f, at, getter, Args([descriptor, recv, Class(recv.cls)]))


def _tuple(m: Machine, f: Frame, at: int, obj: Tup, name: str) -> Value:
    if obj.cls is not None:
        fields = list(obj.cls.fields)
        if name in fields and len(fields) == len(obj.items):
            return obj.items[fields.index(name)]
        found = class_lookup(obj, name)
        if found is not None:
            return bind_descriptor(m, f, at, found, obj)
        if name == "_fields":
            return Tup(tuple(Py("str", n) for n in fields))
        if name == "__class__":
            return Class(obj.cls)
    return Method(obj, name)


def _method(m: Machine, f: Frame, at: int, obj: Value, name: str) -> Value:
    return Method(obj, name)


def _python(m: Machine, f: Frame, at: int, obj: Py, name: str) -> Value:
    if obj.kind in ("str", "bytes", "slice"):
        return INT if obj.kind == "slice" else Method(obj, name)
    return STATIC if plain_kind(obj.kind) in ("static", "enum", "dtype", "int", "float", "bool") else UNKNOWN


def _module(m: Machine, f: Frame, at: int, obj: Mod, name: str) -> Value:
    value = imports.attribute(m, f, obj.info, name)
    if obj.info.scope.level < f.world.floor:
        m.domains.on_load(f, Load(at, "name", obj.info.scope, name, value))
    reading.note(m, value)
    return value


def _ext(m: Machine, f: Frame, at: int, obj: Ext, name: str) -> Value:
    arrays = lexicon().arrays
    if name in arrays.constants and obj.dotted in arrays.constant_modules:
        return library_objects.constant(name, arrays.constants[name])
    dotted = f"{obj.dotted}.{name}"
    if dotted.startswith("jax.") and (obj.dotted == "jax" or not m.catalogue.view.removed(obj.dotted)):
        imports.note(m, f, at, dotted)  # of what is in something that has gone, nothing more is said
    return Ext(m.catalogue.canonical(dotted))


def _ext_instance(m: Machine, f: Frame, at: int, obj: ExtInst, name: str) -> Value:
    value = obj.attrs.get(name)
    return value if value is not None else Method(obj, name)


def _class(m: Machine, f: Frame, at: int, obj: Class, name: str) -> Value:
    info = obj.info
    for cls in mro(info):
        found = cls.namespace.get(name)
        if found is not None:
            if cls.scope.level < f.world.floor:
                m.domains.on_load(f, Load(at, "class", cls, name, found))
            reading.note(m, found)
            return _class_attribute(obj, name, found)
    if name == "__name__":
        return STR
    if name == "__dataclass_fields__":
        return fields.descriptions(info)
    if name in ("_make", "_fields") or (name == "create" and info.role == "struct"):
        return Method(obj, name)
    if name == "__new__":
        return UNKNOWN if info.extern else Ext("builtins.object.__new__")
    found = metaclass_method(info, name)
    return Bound(found, obj) if type(found) is Func else UNKNOWN


def _class_attribute(obj: Class, name: str, found: Value) -> Value:
    """What a member of a class is when it is read through the class."""
    if type(found) is Descr:
        if found.kind == "classmethod":
            return Bound(found.func, obj)
        return found.func if found.kind == "staticmethod" else UNKNOWN
    if type(found) is Func:
        return found
    if is_plain_enum(obj.info):
        return Py("enum", f"{obj.info.qualname}.{name}")
    return UNKNOWN if filling.is_replaced(obj.info, found, of_class=True) else found


def _function(m: Machine, f: Frame, at: int, obj: Func, name: str) -> Value:
    if name == "__wrapped__" and obj.wraps is not None:
        return obj.wraps
    if name == "__name__":
        return Py("str", obj.fn.name)
    return STR if name in ("__doc__", "__qualname__", "__module__") else UNKNOWN


def _bound(m: Machine, f: Frame, at: int, obj: Bound, name: str) -> Value:
    if name == "__self__":
        return obj.recv
    if name == "__func__":
        return obj.func
    inner = get(m, f, at, obj.func, name)
    return Method(obj, name) if type(inner) is Method else inner


def _partial(m: Machine, f: Frame, at: int, obj: Partial, name: str) -> Value:
    return obj.func if name == "func" else UNKNOWN


def _xform(m: Machine, f: Frame, at: int, obj: Xform, name: str) -> Value:
    if name in ("__wrapped__", "fun", "__func__"):
        return obj.target
    return Method(obj, name)


def _at(m: Machine, f: Frame, at: int, obj: At, name: str) -> Value:
    return Method(obj, name)


def _super(m: Machine, f: Frame, at: int, obj: Super, name: str) -> Value:
    recv: Value = obj.recv
    chain = mro(recv.cls) if isinstance(recv, (Inst, Tup)) and recv.cls is not None else mro(obj.cls)
    after = chain[chain.index(obj.cls) + 1 :] if obj.cls in chain else []
    for cls in after:
        found = cls.namespace.get(name)
        if found is not None:
            return bind_descriptor(m, f, at, found, recv)
    return Method(obj, name)


def store(m: Machine, f: Frame, at: int, obj: Value, name: str, value: Value) -> None:
    """``obj.name = value``."""
    alts = alternatives(obj)
    several = "" if len(alts) == 1 else "one of several"
    for alt in alts:
        forget_notes(alt)
        if type(alt) is Inst:
            store_in_instance(m, f, at, alt, name, value, several)
        elif isinstance(alt, (Mod, Class)):
            _store_shared(m, f, at, alt, name, value)
        elif type(alt) is Ext:
            m.replace(f, f"{alt.dotted}.{name}")
        elif isinstance(alt, (ExtInst, Tree)):
            m.domains.on_store(f, Store(at, "library", alt, name, value, None, several))
            library_objects.keep(alt, name, value)
        elif type(alt) is Tup and alt.cls is not None and len(alts) == 1:
            m.domains.on_store(f, Store(at, "field", alt, name, value))
        elif type(alt) is Arr and _refuses(m, alt, name):
            # an object takes what an array refuses: it may be meant
            meant = any(type(a) is not Arr or a.host for a in alts)
            m.emit(f, ArrayStore, at, alt, Confidence.POSSIBLE if meant else None, op="attribute", what=name)


def _store_shared(m: Machine, f: Frame, at: int, owner: Mod | Class, name: str, value: Value) -> None:
    into = owner.info.scope.vars if isinstance(owner, Mod) else owner.info.namespace
    of = owner.info.scope if isinstance(owner, Mod) else owner.info
    old = into.get(name)
    m.domains.on_store(f, Store(at, "module" if isinstance(owner, Mod) else "class", of, name, value, old))
    into[name] = value if old is None else old if m.tells_nothing(f, value) else join(old, value)


def _refuses(m: Machine, arr: Arr, name: str) -> bool:
    """A concrete array takes new names."""
    return not arr.host and not arr.weak and bool(arr.modes or m.catalogue.array_attribute(name))


def store_in_instance(
    m: Machine, f: Frame, at: int, inst: Inst, name: str, value: Value, several: str
) -> None:
    """several: said if the object may be another one, or is set whether or not its class lets others do so."""
    found = class_lookup(inst, name)
    if type(found) is Descr and found.kind == "property":
        if found.setter is not None:
            evaluator.call(m, f, at, found.setter, Args([inst, value]))
        return
    _tell_descriptor(m, f, at, found, inst, value)
    before = inst.attrs.get(name) or found
    m.domains.on_store(f, Store(at, "attribute", inst, name, value, before, several))
    if f.world.level:
        callbacks.run_protocol(m, f, at, inst, "__setattr__", [STR, value])
    if outlives(inst, value):
        value = UNKNOWN  # blamed at the store; what others read later is no tracer of theirs
    for one in reached(inst):
        set_perhaps(one, name, value, found)
    old = inst.attrs.get(name)
    if old is not None and (several or inst.token is not f.token):
        both, old_keys = join(old, value), keys_of(old)
        follows = any(key is not one and descends(key, one) for key in keys_of(value) for one in old_keys)
        value = anonymous(both) if follows else both  # a key, or the one that was made of it
    inst.attrs[name] = value


def _tell_descriptor(m: Machine, f: Frame, at: int, found: Value | None, inst: Inst, value: Value) -> None:
    """What the class has under the name may answer when it is set, and then answers later loads."""
    if type(found) is Inst:
        callbacks.run_implied(m, f, at, found, ("__set__",), inst, value)
        inst.cls.described = inst.cls.described or find_method(found, "__set__") is not None


_GETTERS: dict[type, Any] = {
    Union: _union,
    Arr: _array,
    Tree: _tree,
    Inst: _instance,
    Tup: _tuple,
    Seq: _method,
    Map: _method,
    Descr: _method,
    Py: _python,
    Mod: _module,
    Ext: _ext,
    ExtInst: _ext_instance,
    Class: _class,
    Func: _function,
    Bound: _bound,
    Partial: _partial,
    Xform: _xform,
    At: _at,
    Super: _super,
}
