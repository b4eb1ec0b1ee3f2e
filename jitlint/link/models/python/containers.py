"""Methods of lists, sets, iterators, dicts, tuples (layer: ``link``, room ``models``).

A change is recorded precisely only where `boxes.owned` allows it; elsewhere the box is widened. Text and
pytrees have their own modules; arrays are the catalogue's business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.changes import forget_length, lose
from jitlint.infer.lattice import join, joined, or_unknown, parts, seq_element
from jitlint.infer.values import (
    INT,
    NO_CONST,
    NONE,
    SETS,
    STR,
    UNKNOWN,
    Inst,
    Map,
    Py,
    Seq,
    SliceVal,
    Tree,
    Tup,
    Value,
    const_of,
    py,
)
from jitlint.link.engine.domain import Change, Store
from jitlint.link.engine.events import emit_convert
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.python.any_attribute import set_anywhere
from jitlint.link.models.python.python_sequences import advance, sort_items
from jitlint.link.models.python.pytree_methods import call_pytree_method
from jitlint.link.models.python.text_methods import call_text_method
from jitlint.link.values import attributes, hashing, operators, paths, subscripts
from jitlint.link.values.boxes import (
    add_items,
    argument,
    const_int,
    copy_box,
    make_map,
    make_seq,
    owned,
    pairs_of,
    put,
    put_all,
    spread,
)
from jitlint.syntax import ir

BoxMethod = Callable[[Machine, Frame, int, Any, Args], Value]


def call_method(m: Machine, f: Frame, at: int, obj: Value, name: str, args: Args) -> Value | None:
    """The result of ``obj.name(*args)``; None when this kind of value has no such method here."""
    t = type(obj)
    a: Any = obj
    if t is Seq:
        handler = (_SET_METHODS if a.kind in SETS else _SEQ_METHODS).get(name) or _COMMON.get(name)
    elif t is Map:
        handler = _MAP_METHODS.get(name) or _COMMON.get(name)
    elif t is Tup:
        handler = _TUP_METHODS.get(name) or _COMMON.get(name)
    elif t is Tree:
        return call_pytree_method(f, a, name, args)
    elif t is SliceVal and name == "indices":
        return Tup((INT, INT, INT))
    elif t is Py:
        return call_text_method(m, f, at, a, name, args)
    else:
        handler = None
    result = handler(m, f, at, obj, args) if handler is not None else None
    if t in (Seq, Map) and name in lexicon().containers.changing:
        m.domains.on_change(f, Change(at, obj, name))
    return result


# Lists, deques, iterators


def _insert(m: Machine, f: Frame, at: int, box: Seq, values: list[Value], index: int | None) -> Value:
    for value in values:
        m.domains.on_store(f, Store(at, "append", box, None, value))
    add_items(f, box, [v for v in values if not m.tells_nothing(f, v)], index)
    return NONE


def _append(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    return _insert(m, f, at, box, [or_unknown(argument(args, 0))], _length(box))


def _appendleft(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    return _insert(m, f, at, box, [or_unknown(argument(args, 0))], 0)


def _length(box: Seq) -> int | None:
    return None if box.items is None else len(box.items)


def _extend(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    items, rest = spread(m, f, at, or_unknown(argument(args, 0)))
    if items is not None:
        return _insert(m, f, at, box, items, _length(box)) if items else NONE
    return _insert(m, f, at, box, [] if rest is None else [rest], None)


def _insert_at(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    index = argument(args, 0)
    emit_convert(m, f, at, or_unknown(index), "index", "list insertion")
    return _insert(m, f, at, box, [or_unknown(argument(args, 1))], const_int(index))


def _pop(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    index = argument(args, 0)
    if index is not None and emit_convert(m, f, at, index, "index", "list index"):
        return or_unknown(seq_element(box))
    place = -1 if index is None else const_int(index)
    items = box.items
    if items is not None and place is not None and -len(items) <= place < len(items):
        value = items[place]
        if owned(f, box):
            del items[place]
        else:
            forget_length(box)
        return value
    value = subscripts.picked(or_unknown(seq_element(box)))
    forget_length(box)
    return value


def _popleft(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    return _pop(m, f, at, box, Args([py(0)]))


def _search(m: Machine, f: Frame, at: int, box: Value, args: Args) -> Value:
    """``index`` and ``count`` compare with ``==`` as ``in`` does."""
    operators.compare(m, f, at, "in", or_unknown(argument(args, 0)), box)
    return INT


def _remove(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    operators.compare(m, f, at, "in", or_unknown(argument(args, 0)), box)
    forget_length(box)
    return NONE


def _copy(m: Machine, f: Frame, at: int, box: Seq | Map, args: Args) -> Value:
    return copy_box(f, box)


def _sort(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    items, rest = sort_items(m, f, at, box.items, box.rest, args)
    if items is not None and owned(f, box):
        box.items = items
    elif items is not None:
        box.items = [or_unknown(seq_element(box))] * len(items)
    else:
        box.items, box.rest = None, rest
    return NONE


def _reverse(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    if box.items is not None and len(box.items) > 1:
        anywhere = or_unknown(seq_element(box))
        box.items = box.items[::-1] if owned(f, box) else [anywhere] * len(box.items)
    return NONE


def _clear(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    if owned(f, box):
        box.items, box.rest = [], None
    else:
        forget_length(box)
    return NONE


def _advance(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    return advance(f, box, None)


def _nothing(m: Machine, f: Frame, at: int, box: Value, args: Args) -> Value:
    return NONE


_SEQ_METHODS: Final[dict[str, BoxMethod]] = {
    "append": _append,
    "appendleft": _appendleft,
    "clear": _clear,
    "close": _nothing,
    "copy": _copy,
    "count": _search,
    "extend": _extend,
    "extendleft": _extend,
    "index": _search,
    "insert": _insert_at,
    "pop": _pop,
    "popleft": _popleft,
    "remove": _remove,
    "reverse": _reverse,
    "rotate": _reverse,
    "send": _advance,
    "sort": _sort,
    "__next__": _advance,
}


# Sets


def _add(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    value = or_unknown(argument(args, 0))
    if hashing.hashed(m, f, at, value, "set member"):
        return NONE
    return _insert(m, f, at, box, [value], _length(box))


def _discard(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    hashing.hashed(m, f, at, or_unknown(argument(args, 0)), "membership")
    forget_length(box)
    return NONE


def _set_update(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    for source in args.pos:
        _extend(m, f, at, box, Args([source]))
    return NONE


def _combined(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    """A new set that holds some of the elements of both."""
    found = [seq_element(box)]
    for source in args.pos:
        items, rest = spread(m, f, at, source)
        found.append(rest if items is None else joined(items))
    return make_seq(f, "set", None, joined([value for value in found if value is not None]))


def _part(m: Machine, f: Frame, at: int, box: Seq, args: Args) -> Value:
    """A new set that holds some of the elements of this one."""
    return make_seq(f, "set", None, seq_element(box))


def _undecided(m: Machine, f: Frame, at: int, box: Value, args: Args) -> Value:
    return Py("bool")


_SET_METHODS: Final[dict[str, BoxMethod]] = {
    "add": _add,
    "clear": _clear,
    "copy": _copy,
    "difference": _part,
    "difference_update": _nothing,
    "discard": _discard,
    "intersection": _part,
    "intersection_update": _nothing,
    "isdisjoint": _undecided,
    "issubset": _undecided,
    "issuperset": _undecided,
    "pop": _pop,
    "remove": _discard,
    "symmetric_difference": _combined,
    "symmetric_difference_update": _set_update,
    "union": _combined,
    "update": _set_update,
}


# Dicts


def _present(box: Map, key: Value) -> Value | None:
    """What is under a key; None when it is surely absent."""
    if type(key) is Py and key.const is not NO_CONST:
        found = box.entries.get(key.const)
        return box.rest if found is None else found
    if not box.entries and box.rest is None:
        return None
    return subscripts.any_item(box)


def _exactly(box: Map, key: Value) -> bool:
    return type(key) is Py and key.const is not NO_CONST and key.const in box.entries


def _get(m: Machine, f: Frame, at: int, box: Map, args: Args) -> Value:
    key = or_unknown(argument(args, 0))
    default = args.get(1, "") or NONE
    hashing.hashed(m, f, at, key, "dict key")
    found = _present(box, key)
    if found is None:
        return default
    return found if _exactly(box, key) else subscripts.picked(join(found, default))


def _map_pop(m: Machine, f: Frame, at: int, box: Map, args: Args) -> Value:
    key = or_unknown(argument(args, 0))
    default = args.get(1, "")
    hashing.hashed(m, f, at, key, "dict key")
    found = _present(box, key)
    if found is None:
        return or_unknown(default)
    if _exactly(box, key):
        lose(box, key, strong=owned(f, box))
        return found
    return found if default is None else join(found, default)


def _setdefault(m: Machine, f: Frame, at: int, box: Map, args: Args) -> Value:
    key = or_unknown(argument(args, 0))
    hashing.hashed(m, f, at, key, "dict key")
    if _exactly(box, key):
        return box.entries[const_of(key)]
    default = args.get(1, "") or NONE
    found = _present(box, key)
    put(m, f, at, box, key, default)
    return default if found is None else or_unknown(_present(box, key))


def _items(m: Machine, f: Frame, at: int, box: Map, args: Args) -> Value:
    pairs = pairs_of(m, f, at, box)
    if box.rest is None:
        return make_seq(f, "iter", pairs)
    return make_seq(f, "iter", None, joined(pairs))


def _keys(m: Machine, f: Frame, at: int, box: Map, args: Args) -> Value:
    keys: list[Value] = [py(key) for key in box.entries]
    return make_seq(f, "iter", keys if box.rest is None else None, joined([*keys, or_unknown(box.key)]))


def _values(m: Machine, f: Frame, at: int, box: Map, args: Args) -> Value:
    return make_seq(f, "iter", list(box.entries.values()) if box.rest is None else None, joined(parts(box)))


def _update(m: Machine, f: Frame, at: int, box: Map, args: Args) -> Value:
    if box.key is STR and box.rest is UNKNOWN:
        _set_attributes(m, f, at, args)
    for source in args.pos:
        put_all(m, f, at, box, source)
    for key, value in args.kw.items():
        put(m, f, at, box, py(key), value)
    if args.kw_more is not None:
        put(m, f, at, box, STR, args.kw_more)
    return NONE


def _set_attributes(m: Machine, f: Frame, at: int, args: Args) -> None:
    """``obj.__dict__.update(fields)`` sets attributes of the object."""
    node = m.texts.table(f).calls.get(at)
    fields = node.func.obj if node is not None and type(node.func) is ir.Attr else None
    obj = paths.peek(m, f, fields.obj) if type(fields) is ir.Attr and fields.name == "__dict__" else None
    if type(obj) is not Inst:
        return
    for source in (*args.pos, Map(dict(args.kw), args.kw_more)):
        for name, value in source.entries.items() if type(source) is Map else ():
            attributes.store(m, f, at, obj, str(name), value)
        if type(source) is not Map or source.rest is not None:
            m.domains.on_store(f, Store(at, "attribute", obj, None, UNKNOWN))
            set_anywhere(obj, UNKNOWN)


def _popitem(m: Machine, f: Frame, at: int, box: Map, args: Args) -> Value:
    if box.entries and box.rest is None and owned(f, box) and not args.pos:
        key, value = box.entries.popitem()
        return Tup((py(key), value))
    return or_unknown(joined(pairs_of(m, f, at, box)))


def _map_clear(m: Machine, f: Frame, at: int, box: Map, args: Args) -> Value:
    if owned(f, box):
        box.entries, box.rest, box.key = {}, None, None
    for key in list(box.entries):
        lose(box, py(key), strong=owned(f, box))
    return NONE


_MAP_METHODS: Final[dict[str, BoxMethod]] = {
    "clear": _map_clear,
    "copy": _copy,
    "get": _get,
    "items": _items,
    "keys": _keys,
    "move_to_end": _nothing,
    "pop": _map_pop,
    "popitem": _popitem,
    "setdefault": _setdefault,
    "update": _update,
    "values": _values,
}


# Tuples


def _replace(m: Machine, f: Frame, at: int, tup: Tup, args: Args) -> Value:
    if tup.cls is None:
        return UNKNOWN
    names = list(tup.cls.fields)
    if len(names) != len(tup.items):
        return UNKNOWN
    known = [args.kw.get(name, old) for name, old in zip(names, tup.items)]
    if args.kw_more is not None:
        known = [join(value, args.kw_more) for value in known]
    return tup.of(known)


def _asdict(m: Machine, f: Frame, at: int, tup: Tup, args: Args) -> Value:
    if tup.cls is None:
        return UNKNOWN
    return make_map(f, dict(zip(tup.cls.fields, tup.items)))


_TUP_METHODS: Final[dict[str, BoxMethod]] = {
    "_asdict": _asdict,
    "_replace": _replace,
    "count": _search,
    "index": _search,
}


# What the syntax also reaches


def _dunder_len(m: Machine, f: Frame, at: int, box: Value, args: Args) -> Value:
    return INT


def _dunder_iter(m: Machine, f: Frame, at: int, box: Value, args: Args) -> Value:
    items, rest = spread(m, f, at, box)
    return make_seq(f, "iter", items, rest)


def _dunder_contains(m: Machine, f: Frame, at: int, box: Value, args: Args) -> Value:
    return operators.compare(m, f, at, "in", or_unknown(argument(args, 0)), box)


def _dunder_getitem(m: Machine, f: Frame, at: int, box: Value, args: Args) -> Value:
    return subscripts.get(m, f, at, box, or_unknown(argument(args, 0)))


def _dunder_setitem(m: Machine, f: Frame, at: int, box: Value, args: Args) -> Value:
    if len(args.pos) == 2:
        subscripts.store(m, f, at, box, args.pos[0], args.pos[1], "setitem")
    return NONE


_COMMON: Final[dict[str, BoxMethod]] = {
    "__contains__": _dunder_contains,
    "__getitem__": _dunder_getitem,
    "__iter__": _dunder_iter,
    "__len__": _dunder_len,
    "__setitem__": _dunder_setitem,
}
