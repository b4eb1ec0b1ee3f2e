"""Which objects are the same, equal to, or inside another one (layer: ``link``, room ``values``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import Truth
from jitlint.infer.values import (
    BOOL,
    FALSE,
    NO_CONST,
    TRUE,
    Arr,
    Bound,
    Class,
    Ext,
    Func,
    Inst,
    Map,
    Partial,
    Py,
    Seq,
    Tree,
    Tup,
    Value,
    Xform,
    alternatives,
    py,
)
from jitlint.link.engine.events import STAGED_OR_BATCHED, confidence_of, hurt
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values.arithmetic import NUMBER_KINDS


def identity(positive: bool, left: Value, right: Value) -> Value:
    """What ``is`` answers."""
    answers = {same_object(a, b) for a in alternatives(left) for b in alternatives(right)}
    if len(answers) == 1:
        answer = answers.pop()
        if answer is not None:
            return py(answer is positive)
    return BOOL


_OBJECTS: Final = (Arr, Tup, Seq, Map, Inst, Func, Class, Bound, Partial, Xform)


def same_object(a: Value, b: Value) -> bool | None:
    """Whether two values are one object; None when that is not known."""
    same = _SAME.get(type(a)) if type(a) is type(b) else None
    if same is not None:
        return same(a, b)
    none, other = (a, b) if type(a) is Py else (b, a)
    if type(none) is Py and none.kind in ("none", "bool"):
        return False if isinstance(other, _OBJECTS) else None
    return True if a is b and isinstance(a, (Seq, Map, Inst)) else None


def _same_constant(a: Py, b: Py) -> bool | None:
    if "static" in (a.kind, b.kind):
        return None
    if "none" in (a.kind, b.kind):
        return a.kind == b.kind
    if a.const is NO_CONST or b.const is NO_CONST or a.kind != b.kind:
        return None
    return a.const == b.const if a.kind in ("bool", "ellipsis") else None


def _same_function(a: Func, b: Func) -> bool | None:
    if a is b:
        return True
    return False if a.fn is not b.fn else None


def _same_library_object(a: Ext, b: Ext) -> bool | None:
    if a.dotted == b.dotted:
        return True
    modules = {"numpy", *lexicon().evidence.roots.values()}
    if a.dotted in modules and b.dotted in modules:
        return False
    return False if a.dotted.startswith("builtins.") or b.dotted.startswith("builtins.") else None


# Whether two objects of one type are the same one.
_SAME: Final[dict[type, Callable[[Any, Any], bool | None]]] = {
    Py: _same_constant,
    Func: _same_function,
    Ext: _same_library_object,
    Class: lambda a, b: a.info is b.info,
}


def compare_containers(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    """``==`` and ``!=`` of two containers: their elements are compared one by one."""
    if type(left) is not type(right):
        return BOOL
    a, b = known_parts(left), known_parts(right)
    if type(left) is Tup and len(a) != len(b):
        return FALSE if op == "==" else TRUE
    for x, y in zip(a, b):
        found = hurt(x, STAGED_OR_BATCHED) or hurt(y, STAGED_OR_BATCHED)
        if found is not None and x is not y and not _never_equal(x, y):
            m.emit(f, Truth, at, found, form="equality")
            return BOOL
    equal = _are_equal(a, b) if type(left) is Tup else None
    return BOOL if equal is None else py(equal is (op == "=="))


def _are_equal(left: Sequence[Value], right: Sequence[Value]) -> bool | None:
    """Whether as many numbers or texts are the same, if that is known."""
    found = [
        None
        if type(x) is not Py or type(y) is not Py or NO_CONST in (x.const, y.const)
        else x.const == y.const
        for x, y in zip(left, right)
    ]
    return False if False in found else None if None in found else True


def _never_equal(x: Value, y: Value) -> bool:
    return any(type(v) is Py and v.kind in ("none", "str") for v in (x, y))


def known_parts(value: Value) -> list[Value]:
    """What is in a tuple or dict, and in a list whose items are known."""
    if type(value) is Tup:
        return list(value.items)
    if type(value) is Map:
        return list(value.entries.values())
    return list(value.items or ()) if type(value) is Seq else []


def contains_key(container: Map, key: Value) -> bool | None:
    """Whether a dict has a key."""
    if type(key) is not Py or key.const is NO_CONST:
        return None
    if key.const in container.entries:
        return True
    return None if container.rest is not None else False


def contains_text(container: Py, item: Value) -> bool | None:
    """Whether one text is part of another one."""
    text, part = container.const, item.const if type(item) is Py else None
    return part in text if isinstance(text, str) and isinstance(part, str) else None


def array_contains(m: Machine, f: Frame, at: int, item: Value, container: Arr | Tree) -> bool | None:
    """``in`` an array: it compares, and asks for the truth."""
    is_array = type(container) is Arr
    if is_array and type(item) is Py and item.kind == "str":
        return False
    found = hurt(container, STAGED_OR_BATCHED)
    numeric = type(item) is Arr or (type(item) is Py and item.kind in NUMBER_KINDS)
    if found is not None and numeric and (not isinstance(container, Tree) or container.evidence == "array"):
        m.emit(f, Truth, at, found, form="in")
    elif is_array and hurt(item, STAGED_OR_BATCHED):
        m.emit(f, Truth, at, hurt(item, STAGED_OR_BATCHED), form="in")
    return None


def answered(m: Machine, f: Frame, at: int, answer: Value) -> None:
    """``in`` asks for the truth of what ``__contains__`` gives."""
    found = hurt(answer, STAGED_OR_BATCHED)
    if found is not None:
        m.emit(f, Truth, at, found, confidence_of(answer), form="contains")


def contains_element(
    m: Machine, f: Frame, at: int, item: Value, elements: list[Value], exact: bool
) -> bool | None:
    """Whether one of the elements is equal; ``exact``: they are all there are."""
    if any(e is item for e in elements[:1]):
        return True
    for element in elements:
        if _never_equal(item, element):
            continue
        found = hurt(item, STAGED_OR_BATCHED) or hurt(element, STAGED_OR_BATCHED)
        if found is not None:
            m.emit(f, Truth, at, found, confidence_of(item), form="in")
            return None
        if element is item:
            break
    return _contains_constant(item, elements) if exact else None


def _contains_constant(item: Value, elements: list[Value]) -> bool | None:
    if type(item) is not Py or item.const is NO_CONST:
        return None
    consts = [e.const for e in elements if type(e) is Py and e.const is not NO_CONST]
    if item.const in consts:
        return True
    return False if len(consts) == len(elements) else None
