"""Pytrees that are gone through together and have unlike structures (layer: ``link``, room ``models``).

What it does: compares dicts, lists and plain tuples whose parts are all known, and the static fields of objects of one class,
from the outside inwards, until the first tree has a leaf. What it does not: speak of objects of several classes, of named
tuples, or of what `is_leaf` may take for a leaf.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.transforms import HigherOrder
from jitlint.infer.objects import is_cold
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import NO_CONST, UNKNOWN, Arr, Inst, Map, Py, Seq, Tup, Value, const_of
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import fitting, flattening, iteration
from jitlint.link.values.pytrees import NUMBERS

_DEPTH: Final = 6


def refuses(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> bool:
    """Whether a library function is to go through trees together that certainly do not fit; it is recorded."""
    tree, rest = named.get("tree"), named.get("rest")
    if spec.result != "tree_map" or tree is None or type(rest) is not Tup or "is_leaf" in named or m.guards:
        return False
    for other in rest.items:
        detail = difference(tree, other, _DEPTH)
        if detail:
            return fitting.report(m, f, at, spec.name, "trees", detail, other)
    return False


def difference(tree: Value, other: Value, depth: int = _DEPTH) -> str:
    """In what a tree certainly has another structure than the first one, or ""."""
    kind, others = _kind(tree), _kind(other)
    if not depth or kind in ("", "a leaf") or not others:
        return _of_objects(tree, other, depth) or _with_any_keys(tree, other, depth)
    if kind != others:
        return f"{kind} and {others}"
    if type(tree) is Map and type(other) is Map:
        odd = sorted(map(repr, tree.entries.keys() ^ other.entries.keys()))
        if odd:
            return f"only one of the dicts has {', '.join(odd)}"
        pairs = [(part, other.entries[key]) for key, part in tree.entries.items()]
    else:
        ours, theirs = iteration.known_items(tree) or [], iteration.known_items(other) or []
        if len(ours) != len(theirs):
            return f"{kind} of {len(ours)} and one of {len(theirs)}"
        pairs = list(zip(ours, theirs))
    return next(filter(None, (difference(a, b, depth - 1) for a, b in pairs)), "")


def _with_any_keys(tree: Value, other: Value, depth: int) -> str:
    """The same of a dict whose keys are known and one of which only the values are: with the same keys, the values have to fit."""
    if not depth or type(tree) is not Map or type(other) is not Map:
        return ""
    if _kind(tree) and other.rest is not None and not other.entries:
        pairs = [(part, other.rest) for part in tree.entries.values()]
    elif _kind(other) and tree.rest is not None and not tree.entries:
        pairs = [(tree.rest, part) for part in other.entries.values()]
    else:
        return ""
    return next(filter(None, (difference(a, b, depth - 1) for a, b in pairs)), "")


def _of_objects(tree: Value, other: Value, depth: int) -> str:
    """The same of two objects of one class: what is static belongs to the structure."""
    if not depth or type(tree) is not Inst or type(other) is not Inst or tree.cls is not other.cls:
        return ""
    cls, data = tree.cls, flattening.data_names(tree.cls)
    if is_cold(tree) or is_cold(other) or not _is_understood(cls):
        return ""
    for name in sorted(flattening.meta_names(cls)):
        one, two = const_of(tree.attrs.get(name, UNKNOWN)), const_of(other.attrs.get(name, UNKNOWN))
        if NO_CONST not in (one, two) and one != two:
            return f"the static field `{name}` of `{cls.name}` is {one!r} in one and {two!r} in the other"
    pairs = [(tree.attrs.get(name, UNKNOWN), other.attrs.get(name, UNKNOWN)) for name in sorted(data or ())]
    return next(filter(None, (difference(a, b, depth - 1) for a, b in pairs)), "")


def _is_understood(cls: ClassInfo) -> bool:
    """Whether it is known which fields of a class are its children."""
    if cls.extern or flattening.is_opaque(cls):
        return False
    return flattening.data_names(cls) is not None or cls.role in lexicon().captures.pytree_roles


def _kind(value: Value) -> str:
    """What a part of a pytree certainly is, or ""."""
    if type(value) is Map:
        return "a dict" if value.rest is None and not value.open else ""
    if type(value) is Tup:
        return "a tuple" if value.cls is None else ""
    if type(value) is Seq:
        whole = value.items is not None and value.rest is None
        return "a list" if whole and value.kind == "list" else ""
    return "a leaf" if _is_leaf(value) else ""


def _is_leaf(value: Value) -> bool:
    """A number that is written there, or an array whose axes are known: what a function made of a tree that nobody knows may count
    as one, and be none."""
    if type(value) is Arr:
        return value.rank is not None and fitting.is_sure(value)
    return type(value) is Py and value.kind in NUMBERS and value.const is not NO_CONST
