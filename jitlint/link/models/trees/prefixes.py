"""Trees beside a tree: `jax.tree.map` takes the structure of the first, and what lies at its leaves in the others (layer: ``link``, room ``models``).

What it does: says what a further tree has where the first one has a leaf. That may be a whole container, for the first
tree need only be a prefix of the others (measured). What it does not: report trees that do not fit.
"""

from __future__ import annotations

import functools

from jitlint.infer.grounds import GUESSED
from jitlint.infer.lattice import join, seq_element
from jitlint.infer.sizes import DEPTH
from jitlint.infer.values import NONE, UNKNOWN, Arr, Inst, Map, Py, Seq, Tree, Tup, Value
from jitlint.link.values import flattening, pytrees


def leaf_beside(first: Value, other: Value, depth: int = DEPTH) -> Value:
    """What the function of `jax.tree.map` gets of a further tree."""
    t = type(first)
    if t is Arr or t is Py:
        return other
    if t is not type(other) or depth == 0:
        return _somewhere(other)
    pairs = _pairs(first, other)
    if pairs is None:
        return _somewhere(other)
    found = [leaf_beside(a, b, depth - 1) for a, b in pairs if a is not NONE]
    return functools.reduce(join, found) if found else UNKNOWN


def _pairs(first: Value, other: Value) -> list[tuple[Value, Value]] | None:
    """The parts of two containers of one kind that lie beside each other; None when that is not known."""
    if type(first) is Tup and type(other) is Tup:
        return list(zip(first.items, other.items)) if len(first.items) == len(other.items) else None
    if type(first) is Map and type(other) is Map:
        return _values(first, other)
    if type(first) is Inst and type(other) is Inst:
        return _fields(first, other)
    if type(first) is not Seq or type(other) is not Seq:
        return None
    if first.items is not None and other.items is not None and len(first.items) == len(other.items):
        return list(zip(first.items, other.items))
    elements = seq_element(first), seq_element(other)
    return None if elements[0] is None or elements[1] is None else [(elements[0], elements[1])]


def _values(first: Map, other: Map) -> list[tuple[Value, Value]] | None:
    """The values of two dicts that have the same keys, of which some may not be known."""
    pairs = [(part, other.entries.get(key, other.rest)) for key, part in first.entries.items()]
    if first.rest is not None:
        pairs += [(first.rest, part) for key, part in other.entries.items() if key not in first.entries]
        pairs.append((first.rest, other.rest))
    found = [(a, b) for a, b in pairs if b is not None]
    return found if first.rest is not None or len(found) == len(pairs) else None


def _somewhere(other: Value) -> Value:
    """A leaf of a tree, where it is not known how deep the first one goes: perhaps a container, if nothing is traced."""
    found = pytrees.leaf(other)
    if type(other) is Tree and type(found) is Arr and not found.modes:
        found.kind = GUESSED
    return found


def _fields(first: Inst, other: Inst) -> list[tuple[Value, Value]] | None:
    """The fields of two objects of one class that are data."""
    if first.cls is not other.cls or not flattening.is_pytree(first.cls):
        return None
    static = flattening.static_names(first)
    return [(p, other.attrs[k]) for k, p in first.attrs.items() if k not in static and k in other.attrs]
