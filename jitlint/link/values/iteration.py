"""Iterating and unpacking abstract values, and assignment to targets (layer: ``link``, room ``values``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from jitlint.infer.about import About
from jitlint.infer.events import Convert
from jitlint.infer.grounds import GUESSED
from jitlint.infer.lattice import anonymous, join, joined, or_unknown, seq_element
from jitlint.infer.mappings import MAPPINGS
from jitlint.infer.values import (
    INT,
    STR,
    UNKNOWN,
    Arr,
    ExtInst,
    Inst,
    Map,
    Py,
    Scope,
    Seq,
    Tree,
    Tup,
    Union,
    Value,
    Xform,
    alternatives,
    py,
)
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.domain import Store
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import attributes, fitting, keys, paths, subscripts
from jitlint.link.values.questions import counting
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir


def known_items(value: Value) -> list[Value] | None:
    """The elements in order when all are known (tuples, lists, dict keys), else None."""
    t = type(value)
    a: Any = value
    if t is Tup:
        return list(a.items)
    if t is Seq:
        return None if a.items is None else list(a.items)
    if t is Map and a.rest is None and a.entries:
        return [py(k) for k in a.entries]
    return None


def element(m: Machine, f: Frame, at: int, iterable: Value, quiet: bool = False) -> Value:
    """What one turn of a loop over the value gets. A 0-d tracer is recorded unless ``quiet``, or another thing may be there."""
    out: Value | None = None
    quiet = quiet or type(iterable) is Union
    for alt in alternatives(iterable):
        one = _element_of(m, f, at, alt, quiet)
        out = one if out is None else join(out, one)
    return out if out is not None else UNKNOWN


def _element_of(m: Machine, f: Frame, at: int, value: Value, quiet: bool) -> Value:
    gives = _ELEMENTS.get(type(value))
    return UNKNOWN if gives is None else gives(m, f, at, value, quiet)


def _of_tuple(m: Machine, f: Frame, at: int, value: Tup, quiet: bool) -> Value:
    return anonymous(or_unknown(joined(list(value.items))))


def _of_sequence(m: Machine, f: Frame, at: int, value: Seq, quiet: bool) -> Value:
    counted = counting.element(f, at, value.items) if value.kind == "range" and value.items else None
    found = counted or seq_element(value)
    return found if found is not None else UNKNOWN


def _of_dict(m: Machine, f: Frame, at: int, value: Map, quiet: bool) -> Value:
    keys: list[Value] = [py(k) for k in value.entries]
    if keys and value.rest is None:
        return or_unknown(joined(keys))
    return or_unknown(joined([*keys, value.key if value.key is not None else UNKNOWN]))


def _of_array(m: Machine, f: Frame, at: int, value: Arr, quiet: bool) -> Value:
    if value.rank == 0 and value.modes and not quiet:
        m.emit(f, Convert, at, value, to="iter")
    row = Arr(
        value.modes | (f.world.here if not value.host else 0),
        value.dtype,
        value.rank - 1 if value.rank else None,
        value.why,
        value.level,
        value.traced,
        value.host,
        None,
        value.kind,
    )
    row.dims = value.dims[1:] if value.dims else None
    row.about = About(value.about.around, cells=value.about.cells)
    return row


def _of_tree(m: Machine, f: Frame, at: int, value: Tree, quiet: bool) -> Value:
    if value.evidence in MAPPINGS:
        return UNKNOWN
    if value.evidence == "":
        return _tree_element(value)
    evidence = "array" if value.evidence == "array" else ""
    return Tree(value.modes, value.why, value.level, value.traced, evidence, value.kind)


def _of_constant(m: Machine, f: Frame, at: int, value: Py, quiet: bool) -> Value:
    return STR if value.kind == "str" else UNKNOWN


def _of_instance(m: Machine, f: Frame, at: int, value: Inst, quiet: bool) -> Value:
    method = find_method(value, "__iter__")
    if method is None:
        return UNKNOWN
    return _next_of(m, f, at, evaluator.call(m, f, at, method, Args([value])), quiet)


_ELEMENTS: Final[dict[type, Callable[[Machine, Frame, int, Any, bool], Value]]] = {
    Tup: _of_tuple,
    Seq: _of_sequence,
    Map: _of_dict,
    Arr: _of_array,
    Tree: _of_tree,
    Py: _of_constant,
    Inst: _of_instance,
}


def _next_of(m: Machine, f: Frame, at: int, iterator: Value, quiet: bool) -> Value:
    """What an iterator gives. One of the project's own has ``__next__``; its ``__iter__`` gives itself."""
    parts: list[Value] = []
    for alt in alternatives(iterator):
        if type(alt) is Inst:
            method = find_method(alt, "__next__")
            parts.append(UNKNOWN if method is None else evaluator.call(m, f, at, method, Args([alt])))
        else:
            parts.append(_element_of(m, f, at, alt, quiet))
    return or_unknown(joined(parts))


def _tree_element(tree: Tree) -> Value:
    """Iterating an unknown pytree may give keys of a dict: only weakly traced."""
    return Tree(tree.modes, tree.why, tree.level, GUESSED)


def assign_name(m: Machine, f: Frame, name: str, value: Value) -> None:
    """Bind a name where the function's scope rules put it."""
    fn = f.scope.fn
    if fn is not None:
        if name in fn.node.global_names:
            _store_outer(m, f, fn.module.scope, name, value, "global")
            return
        if name in fn.node.nonlocal_names:
            _store_nonlocal(m, f, name, value)
            return
    if type(value) is Arr and value.dtype == "key" and value.key is None:
        value = keys.named(m, value)
    paths.forget_paths(f.scope, name)
    if (fn is None and f.cls is None) or (f.scope.watched is not None and name in f.scope.watched):
        m.domains.on_store(f, Store(f.at, "name", f.scope, name, value))
    old = f.scope.vars.get(name)
    if type(old) is Xform and old.target is value and f.token is f.scope.token:
        old.called = True  # the plain function takes the place of its transformed self again
    f.scope.vars[name] = value


def _store_nonlocal(m: Machine, f: Frame, name: str, value: Value) -> None:
    scope = scopes.holder(f.scope.parent, name)
    if scope is not None:
        _store_outer(m, f, scope, name, value, "nonlocal")


def _store_outer(m: Machine, f: Frame, scope: Scope, name: str, value: Value, target: str) -> None:
    old = scope.vars.get(name)
    m.domains.on_store(f, Store(f.at, target, scope, name, value, old))
    if value is UNKNOWN and old is not None and target == "global":
        return  # a setter called with who knows what: what holds by default is the better guess
    paths.forget_paths(scope, name)
    scope.vars[name] = value if old is None else join(old, value)


def bind(m: Machine, f: Frame, target: ir.Node | None, value: Value) -> None:
    """Assign a value to any target: name, attribute, subscript, tuple, list, starred."""
    if type(target) is ir.Name:
        assign_name(m, f, target.id, value)
    elif type(target) is ir.Tuple or type(target) is ir.List:
        _unpack(m, f, target, value)
    elif type(target) is ir.Attr:
        obj = evaluator.evaluate(m, f, target.obj)
        m.domains.on_target(f, target.obj.at, None)
        if obj is UNKNOWN or type(obj) is ExtInst:
            paths.store_part(m, f, target, value)
        key = paths.path_key(target)
        if key:
            f.scope.vars.pop(key, None)
            paths.forget_tests(f, key)
        attributes.store(m, f, target.at, obj, target.name, value)
    elif type(target) is ir.Sub:
        obj = evaluator.evaluate(m, f, target.obj)
        m.domains.on_target(f, target.obj.at, None)
        if obj is UNKNOWN:
            paths.store_part(m, f, target, value)
        index = evaluator.evaluate(m, f, target.index)
        subscripts.store(m, f, target.at, obj, index, value, "setitem")
    elif type(target) is ir.Starred:
        bind(
            m, f, target.value, Seq("list", None, element(m, f, target.at, value, quiet=True), f.world.level)
        )


def _unpack(m: Machine, f: Frame, target: ir.Tuple | ir.List, value: Value) -> None:
    targets = target.elts
    star = next((i for i, e in enumerate(targets) if type(e) is ir.Starred), None)
    slots = [[] for _ in targets]  # type: list[list[Value]]
    if star is None:
        _check_parts(m, f, target.at, value, len(targets))
    for alt in _fitting(value, len(targets)) if star is None else alternatives(value):
        for slot, part in zip(slots, _unpacked(m, f, target.at, alt, len(targets), star)):
            slot.append(part)
    for sub_target, parts in zip(targets, slots):
        node = sub_target.value if type(sub_target) is ir.Starred else sub_target
        bind(m, f, node, or_unknown(joined(parts)))


def _fitting(value: Value, count: int) -> Sequence[Value]:
    """The alternatives with so many parts, or all if there is none: those with another number are not there when this runs."""
    alts = alternatives(value)
    fitting = [alt for alt in alts if type(alt) is not Tup or len(alt.items) == count]
    return fitting or alts


def _unpacked(m: Machine, f: Frame, at: int, value: Value, count: int, star: int | None) -> list[Value]:
    items = known_items(value) if type(value) is not Map else None
    level = f.world.level
    if items is None and star is not None and type(value) is Arr:
        items = _rows(m, f, at, value)
    if items is not None:
        if star is None:
            if len(items) == count:
                return items
        elif len(items) >= count - 1:
            tail = count - star - 1
            middle = items[star : len(items) - tail]
            return [*items[:star], Seq("list", middle, None, level, f.token), *items[len(items) - tail :]]
    if type(value) is Arr and value.key is not None and star is None:
        return [keys.item(m, value, i) for i in range(count)]
    one = _any_unpacked(m, f, at, value)
    return [Seq("list", None, one, level, f.token) if i == star else one for i in range(count)]


_MOST_ROWS: Final = 16
"""So many rows of an array are told from each other."""


def _rows(m: Machine, f: Frame, at: int, array: Arr) -> list[Value] | None:
    """The rows of an array, or the keys in one, if it is known how many there are."""
    count = array.dims[0] if array.dims else None
    if count is None or count > _MOST_ROWS:
        return None
    if array.key is not None:
        return [keys.item(m, array, i) for i in range(count)]
    return [_of_array(m, f, at, array, True) for _ in range(count)]


def _check_parts(m: Machine, f: Frame, at: int, value: Value, count: int) -> None:
    """Record what has no parts, or, as an array, more or fewer rows than there are names for them."""
    number = fitting.is_number(value) and f.world.level > 0  # what a transform, or a library, hands over
    if number or (fitting.is_sure(value) and fitting.rank_of(value) == 0):
        fitting.report(m, f, at, "=", "apart", "", value)
        return
    arrays = alternatives(value)
    rows = [a.dims[0] if type(a) is Arr and a.dims and fitting.is_sure(a) else None for a in arrays]
    if None not in rows and count not in rows:  # one that may fit is the one that is there
        fitting.report(m, f, at, "=", "rows", f"{rows[0]} and {count}", arrays[0])


def _any_unpacked(m: Machine, f: Frame, at: int, value: Value) -> Value:
    """What any of the targets gets."""
    if type(value) is Tree and value.evidence not in MAPPINGS:
        return Tree(value.modes, value.why, value.level, value.traced)
    if type(value) is Py:
        return INT if value.kind == "static" else UNKNOWN
    return element(m, f, at, value, quiet=True)
