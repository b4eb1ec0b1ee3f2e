"""Subscripts: reads, stores and the bookkeeping of containers (layer: ``link``, room ``values``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer import changes
from jitlint.infer.events import ArrayStore, BadIndex
from jitlint.infer.followed import FOLLOWED
from jitlint.infer.grounds import RULED, SEEN, weaken
from jitlint.infer.lattice import anonymous, join, modes_among, seq_element, traced_modes
from jitlint.infer.mappings import MAPPINGS
from jitlint.infer.values import (
    FRESH,
    NO_CONST,
    NONE,
    STR,
    UNKNOWN,
    Arr,
    At,
    Class,
    Ext,
    ExtInst,
    Inst,
    Map,
    Partial,
    Py,
    Seq,
    SliceVal,
    Tree,
    Tup,
    Union,
    Value,
    alternatives,
    const_of,
)
from jitlint.link.engine import evaluator, events
from jitlint.link.engine.domain import Store
from jitlint.link.engine.events import (
    STAGED_OR_BATCHED,
    confidence_of,
    emit_convert,
    emit_numpy,
    hurt,
    tracer_inside,
)
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import array_references, bounds, boxes, hashing, keys, library_objects
from jitlint.link.values.fitting import asks_for_dtype, known, shape_of
from jitlint.link.values.questions import counting, outside
from jitlint.link.values.questions.kinds import arrays_outdone, find_method
from jitlint.syntax import ir


def get(m: Machine, f: Frame, at: int, obj: Value, index: Value, node: object = None) -> Value:
    """``obj[index]``."""
    out: Value | None = None
    alts = _taking(alternatives(obj), index)
    confidence = f.confidence
    outdone = arrays_outdone(alts)
    for alt in alts:  # which one arrives is not known
        other = alt in outdone or (
            len(alts) > 1 and type(alt) is Arr and bounds.are_too_many(alt, index_parts(index))
        )
        f.confidence = weaken(confidence, 2) if other else confidence
        if type(alt) is Arr and type(index) is Py and index.kind == "str" and type(node) is not ir.Const:
            one: Value = UNKNOWN  # a name chosen elsewhere: then the value is hardly an array on this path
        else:
            one = _get_one(m, f, at, alt, index)
        out = one if out is None else join(out, one)
    f.confidence = confidence
    return out if out is not None else UNKNOWN


def _taking(alts: Sequence[Value], index: Value) -> list[Value]:
    """The values of which one has such an element; Python refuses the others, so none of these arrives here."""
    named = len(alts) > 1 and type(index) is Py and index.kind == "str"
    placed = type(index) is Arr and any(type(a) is Arr or type(a) is Tree for a in alts)
    refused = (Seq, Tup, Py) if named else (Map,) if placed else ()
    return [a for a in alts if type(a) not in refused and not (type(a) is Py and a.kind == "none")]


def _get_one(m: Machine, f: Frame, at: int, obj: Value, index: Value) -> Value:
    get = _GETS.get(type(obj))
    return UNKNOWN if get is None else get(m, f, at, obj, index)


def _get_from_dict(m: Machine, f: Frame, at: int, obj: Map, index: Value) -> Value:
    if hashing.hashed(m, f, at, index, "dict key"):
        return any_item(obj)
    return _map_item(obj, index)


def _get_from_constant(m: Machine, f: Frame, at: int, obj: Py, index: Value) -> Value:
    if obj.kind == "str":
        emit_convert(m, f, at, index, "index", "string index")
        return STR
    return UNKNOWN


def _get_from_instance(m: Machine, f: Frame, at: int, obj: Inst | Tup, index: Value) -> Value:
    method = find_method(obj, "__getitem__")
    if method is None:
        return _sequence(m, f, at, obj, index) if type(obj) is Tup else UNKNOWN
    return evaluator.call(m, f, at, method, Args([obj, index]))


def _get_place(m: Machine, f: Frame, at: int, obj: At, index: Value) -> Value:
    if type(obj.arr) is Tree:
        return obj.arr  # a part of a reference is a reference, too
    return At(obj.arr, index, check_index(m, f, at, obj.arr, index, update=True))


def _get_from_library(m: Machine, f: Frame, at: int, obj: Ext, index: Value) -> Value:
    if m.catalogue.constant(obj.dotted) == "indexer":
        return _built(m, f, at, obj.dotted, index)
    if f.world.floor:
        m.domains.on_library(f, at, f"{obj.dotted}.__getitem__", Args([index]))
    # `Union[T, dict]` is no longer `Union`: an alias of it must not be read as one
    return UNKNOWN if obj.dotted in lexicon().types.special_forms else obj


def _get_alias(m: Machine, f: Frame, at: int, obj: Class, index: Value) -> Value:
    return obj


def _get_from_partial(m: Machine, f: Frame, at: int, obj: Partial, index: Value) -> Value:
    return evaluator.call(m, f, at, obj, Args([index]))


def _built(m: Machine, f: Frame, at: int, name: str, index: Value) -> Value:
    """``jnp.mgrid[0:n]`` and its kin build arrays out of slices, whose limits are static."""
    for part in index_parts(index):
        limits = (part.lo, part.hi, part.step) if type(part) is SliceVal else ()
        if any(bound is not None and events.emit_static(m, f, at, name, "", bound) for bound in limits):
            return UNKNOWN
    return Arr(f.world.here, None, None, events.here_why(f, name), f.world.level)


def index_parts(index: Value) -> list[Value]:
    """What stands between the brackets, one by one."""
    if type(index) is Tup:
        return list(index.items)
    return [index]


def check_index(m: Machine, f: Frame, at: int, arr: Value, index: Value, update: bool = False) -> bool:
    """Record what a JAX array refuses as an index. Answers whether something was recorded."""
    if type(arr) is Arr and bounds.are_too_many(arr, index_parts(index)):
        m.emit(f, BadIndex, at, arr if arr.modes else None, problem="count")
        return True
    for part in index_parts(index):
        for alt in alternatives(part):
            if type(alt) is Seq and part is not index:
                continue  # a list inside an index tuple is converted
            before = f.confidence
            if type(part) is Union and isinstance(alt, (Py, Seq)):
                f.confidence = weaken(before, 2)  # which of the alternatives arrives is not known
            refused = _check_part(m, f, at, arr, alt, part, update)
            f.confidence = before
            if refused:
                return True
    return False


def _check_part(m: Machine, f: Frame, at: int, arr: Value, part: Value, whole: Value, update: bool) -> bool:
    if type(part) is Arr:
        return _check_array_part(m, f, at, arr, part, whole, update)
    if type(part) is SliceVal:
        for bound in (part.lo, part.hi, part.step):
            found = hurt(bound, STAGED_OR_BATCHED) if bound is not None else None
            if bound is not None and found is not None:
                m.emit(f, BadIndex, at, found, confidence_of(bound), problem="slice")
                return True
        if type(arr) is Arr and any(
            type(b) is Py and b.kind == "float" for b in (part.lo, part.hi, part.step)
        ):
            m.emit(f, BadIndex, at, problem="slice-float")
            return True
    problem = _plain_problem(arr, part, whole) if type(arr) is Arr else ""
    if problem:
        m.emit(f, BadIndex, at, tracer_inside(part) if problem == "list" else None, problem=problem)
    return problem != ""


def _check_array_part(
    m: Machine, f: Frame, at: int, arr: Value, part: Arr, whole: Value, update: bool
) -> bool:
    if part.dtype == "bool":
        found = hurt(part, STAGED_OR_BATCHED)
        if found is None:
            return False
        m.emit(f, BadIndex, at, found, confidence_of(whole), problem="mask-update" if update else "mask")
        return True
    is_array = type(arr) is Arr or (type(arr) is Tree and arr.evidence == "array")
    if part.dtype == "float" and is_array and not (part.weak or part.host or asks_for_dtype(f)):
        m.emit(f, BadIndex, at, part if part.modes else None, problem="float")
        return True
    return False


def _plain_problem(arr: Arr, part: Value, whole: Value) -> str:
    """What is wrong with an index of an array that is no array itself."""
    if type(part) is Py:
        if part.kind == "float":
            return "float"
        # who asks for a name knows better than a guess what this is
        known = not arr.weak and arr.kind <= RULED and (arr.dtype or arr.rank is not None)
        return "string" if part.kind == "str" and known else ""
    if type(part) is Seq and part.kind == "list" and not arr.weak and part is whole:
        return "list"
    return ""


def _array(m: Machine, f: Frame, at: int, arr: Arr, index: Value) -> Value:
    traced = tracer_inside(index)
    if arr.host:
        if traced is None:
            return bounds.part_on_host(arr, index_parts(index))
        if emit_numpy_index(m, f, at, index):
            return UNKNOWN
    elif check_index(m, f, at, arr, index):
        return UNKNOWN
    if arr.dims is not None:
        outside.check(m, f, at, arr, index)
    modes = arr.modes | (f.world.here if not arr.host or traced is not None else 0)
    why, level = arr.why, arr.level
    ground = arr.traced if arr.modes else arr.kind
    if traced is not None:
        t: Any = traced
        modes |= t.modes
        why = why or t.why
        ground = min(ground, t.traced) if arr.modes else t.traced
        level = max(level, t.level)
    parts = index_parts(index)
    shape = shape_of(arr)
    modes |= modes_among(parts) & FOLLOWED
    dims = bounds.after(shape, parts)
    out = Arr(modes, arr.dtype, None if dims is None else len(dims), why, max(level, f.world.base), ground)
    about = counting.part_of(arr.about, parts, shape[0] if shape else None)
    out.kind, out.dims, out.about = arr.kind, known(dims), about
    if arr.key is not None:
        out.key = keys.part(m, arr, parts)
    return out


def emit_numpy_index(m: Machine, f: Frame, at: int, index: Value) -> bool:
    """A NumPy array indexed by a tracer converts it."""
    for part in index_parts(index):
        if type(part) is SliceVal:
            for bound in (part.lo, part.hi, part.step):
                if bound is not None and emit_convert(m, f, at, bound, "index", "slice"):
                    return True
        elif emit_numpy(m, f, at, part, "NumPy array index"):
            return True
    return False


def _tree(m: Machine, f: Frame, at: int, tree: Tree, index: Value) -> Value:
    if type(index) is Py and index.kind == "str":
        return library_objects.entry(tree, index)
    if check_index(m, f, at, tree, index):
        return UNKNOWN
    if tree.evidence == "ref":
        # whatever a reference holds, or one of several references
        kind = tree.kind if type(index) is Py and index.kind == "int" else SEEN
        return Arr(tree.modes, None, None, tree.why, tree.level, tree.traced, kind=kind)
    if isinstance(index, (Arr, Tree, SliceVal, Tup)) and (
        tree.evidence == "array" or tracer_inside(index) is not None
    ):
        arr = tree.leaf()
        if type(index) is not Tup:  # no container has an index of several parts
            arr.kind = tree.kind
        return _array(m, f, at, arr, index)
    return Tree(
        tree.modes, tree.why, tree.level, tree.traced, "array" if tree.evidence == "array" else "", tree.kind
    )


def _sequence(m: Machine, f: Frame, at: int, obj: Seq | Tup, index: Value) -> Value:
    items = None if obj.items is None else list(obj.items)
    kind = obj.kind if type(obj) is Seq else "tuple"
    if type(index) is SliceVal:
        for bound in (index.lo, index.hi, index.step):
            if bound is not None and emit_convert(m, f, at, bound, "index", f"{kind} slice"):
                break
        return _sliced(obj, items, index)
    if type(index) is Py and type(index.const) is int and items is not None:
        if -len(items) <= index.const < len(items):
            return items[index.const]
        return UNKNOWN
    emit_convert(m, f, at, index, "index", f"{kind} index")
    return picked(any_item(obj))


def _sliced(obj: Seq | Tup, items: list[Value] | None, index: SliceVal) -> Value:
    kind = obj.kind if type(obj) is Seq else "tuple"
    limits: list[int | None] = []
    for bound in (index.lo, index.hi, index.step):
        if bound is None:
            limits.append(None)
        elif type(bound) is Py and type(bound.const) is int:
            limits.append(bound.const)
        else:
            items = None
    if items is None or (len(limits) == 3 and limits[2] == 0):
        return Seq(kind, None, any_item(obj), FRESH)
    part = items[slice(*limits)]
    return Tup(tuple(part)) if kind == "tuple" else Seq(kind, part, None, FRESH)


def picked(value: Value) -> Value:
    """What is taken out of somewhere in a container: where some of it is traced and some is not, nothing is known of that."""
    alts = value.alts if type(value) is Union else ()
    return UNKNOWN if len({bool(traced_modes(alt)) for alt in alts if alt is not NONE}) > 1 else value


def any_item(value: Value) -> Value:
    """The join of everything that a container may hold."""
    a: Any = value
    out: Value | None = None
    t = type(value)
    if t is Tup:
        for item in a.items:
            out = item if out is None else join(out, item)
    elif t is Seq:
        out = seq_element(a)
    elif t is Map:
        for item in a.entries.values():
            out = item if out is None else join(out, item)
        if a.rest is not None:
            out = a.rest if out is None else join(out, a.rest)
    elif t is Tree:
        return Tree(a.modes, a.why, a.level, a.traced)
    elif t is Union:
        for alt in a.alts:
            one = any_item(alt)
            out = one if out is None else join(out, one)
    return anonymous(out) if out is not None else UNKNOWN


def _map_item(obj: Map, index: Value) -> Value:
    if type(index) is Py and index.const is not NO_CONST:
        found = obj.entries.get(index.const)
        if found is not None:
            return found
        return picked(anonymous(obj.rest)) if obj.rest is not None else UNKNOWN
    if type(index) is Union and all(type(a) is Py and a.const is not NO_CONST for a in index.alts):
        out: Value | None = None
        for alt in index.alts:
            one = _map_item(obj, alt)
            out = one if out is None else join(out, one)
        return out if out is not None else UNKNOWN
    return picked(any_item(boxes.entries_for(obj, index)))


def update_map(target: Map, source: Value) -> None:
    """``target.update(source)`` and ``{**source}``."""
    for alt in alternatives(source):
        if type(alt) is Map:
            if alt.rest is not None:
                changes.put_anywhere(target, alt.key, alt.rest)
            target.entries.update(alt.entries)
        else:
            changes.put_anywhere(target, None, any_item(alt))


def store(m: Machine, f: Frame, at: int, obj: Value, index: Value, value: Value, op: str) -> None:
    """``obj[index] = value`` (op setitem) or ``obj[index] += ...`` (op augmented)."""
    alts = alternatives(obj)
    confidence = f.confidence
    if len(alts) > 1 and any(isinstance(a, (Map, Seq, Inst)) or (type(a) is Arr and a.host) for a in alts):
        f.confidence = weaken(confidence, 2)  # a container takes what an array refuses: it may be meant
    for alt in alts:
        _store_one(m, f, at, alt, index, value, op, certain=len(alts) == 1)
    f.confidence = confidence


def _store_one(
    m: Machine, f: Frame, at: int, obj: Value, index: Value, value: Value, op: str, certain: bool
) -> None:
    store = _STORES.get(type(obj))
    if store is not None:
        store(m, f, at, obj, index, value, op, certain)


def _store_in_array(
    m: Machine, f: Frame, at: int, obj: Arr, index: Value, value: Value, op: str, certain: bool
) -> None:
    if not obj.host:
        m.emit(f, ArrayStore, at, obj, op=op, what="")
        return
    m.domains.on_store(f, Store(at, "element", obj, index, value))
    if not emit_numpy_index(m, f, at, index):
        emit_numpy(m, f, at, value, "NumPy array element")


def _store_in_tree(
    m: Machine, f: Frame, at: int, obj: Tree, index: Value, value: Value, op: str, certain: bool
) -> None:
    if obj.modes & STAGED_OR_BATCHED and not obj.weak and _must_be_array(obj, index):
        m.emit(f, ArrayStore, at, obj, op=op, what="")
    else:
        m.domains.on_store(f, Store(at, "element", obj, index, value))


def _store_in_dict(
    m: Machine, f: Frame, at: int, obj: Map, index: Value, value: Value, op: str, certain: bool
) -> None:
    if type(index) is Class:
        index.info.hand_over()  # a table says what to do with its instances
    hashing.hashed(m, f, at, index, "dict key")
    old = obj.entries.get(index.const) if type(index) is Py else None
    m.domains.on_store(f, Store(at, "element", obj, index, value, old))
    if not m.tells_nothing(f, value):
        changes.put(obj, index, value, strong=certain and obj.token is f.token)


def _store_in_sequence(
    m: Machine, f: Frame, at: int, obj: Seq, index: Value, value: Value, op: str, certain: bool
) -> None:
    if emit_convert(m, f, at, index, "index", "list assignment"):
        return
    m.domains.on_store(f, Store(at, "element", obj, index, value))
    changes.put_at(obj, const_of(index), value, strong=certain and obj.token is f.token)


def _store_in_place(
    m: Machine, f: Frame, at: int, obj: At, index: Value, value: Value, op: str, certain: bool
) -> None:
    m.emit(f, ArrayStore, at, hurt(obj.arr, STAGED_OR_BATCHED), op=op, what="")


def _store_in_library(
    m: Machine, f: Frame, at: int, obj: Ext, index: Value, value: Value, op: str, certain: bool
) -> None:
    m.domains.on_library(f, at, f"{obj.dotted}.__setitem__", Args([index, value]))


def _store_in_instance(
    m: Machine, f: Frame, at: int, obj: Inst, index: Value, value: Value, op: str, certain: bool
) -> None:
    method = find_method(obj, "__setitem__")
    if method is not None:
        evaluator.call(m, f, at, method, Args([obj, index, value]))


def _must_be_array(tree: Tree, index: Value) -> bool:
    """Stores through integers, slices, tuples or arrays are made to arrays, not to dicts."""
    if tree.evidence == "array":
        return True
    if tree.evidence in ("seq", "ref") or tree.evidence in MAPPINGS:
        return False
    return isinstance(index, (SliceVal, Tup, Arr)) or (type(index) is Py and index.kind == "int")


_GETS: Final[dict[type, Callable[[Machine, Frame, int, Any, Value], Value]]] = {
    Arr: _array,
    Tree: _tree,
    Tup: _get_from_instance,
    Seq: _sequence,
    Map: _get_from_dict,
    Py: _get_from_constant,
    Inst: _get_from_instance,
    At: _get_place,
    Ext: _get_from_library,
    Class: _get_alias,
    Partial: _get_from_partial,
}

_STORES: Final[dict[type, Callable[[Machine, Frame, int, Any, Value, Value, str, bool], None]]] = {
    Arr: _store_in_array,
    Tree: _store_in_tree,
    Map: _store_in_dict,
    Seq: _store_in_sequence,
    At: _store_in_place,
    Ext: _store_in_library,
    Inst: _store_in_instance,
    ExtInst: array_references.store,
}
