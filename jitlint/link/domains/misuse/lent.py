"""Writes into NumPy arrays that look into the buffer of a JAX array (layer: ``link``, room ``domains``).

NumPy is lent the buffer, and may only read it. A view of such an array, or one that a function was handed, is not followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ArrayStore
from jitlint.infer.values import Arr, Map, Tup, Value
from jitlint.link.engine.domain import Change, Library, Store
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.machine import Machine

_LENT: Final = Slot[dict[int, tuple[Arr, str]]]()
"""The arrays that this activation was lent, by identity, and what lent them."""


def heard(f: Frame, library: Library) -> None:
    """A function that lends buffers is called."""
    args = library.args
    if len(args.pos) != 1 or args.kw or args.more is not None or args.kw_more is not None:
        return  # another dtype asks for a copy
    before = _LENT.of(f) or {}
    found = {
        id(given): (given, library.dotted)
        for source, given in _pairs(args.pos[0], library.result, 2)
        if _is_of_jax(source) or id(source) in before
    }
    if found:
        _LENT.put(f, before | found)


def stored(m: Machine, f: Frame, store: Store) -> None:
    """An element is assigned."""
    if store.kind == "element":
        _write(m, f, store.at, store.owner)
        if store.old is not None:  # what comes in its place may be like it, and is then the same value here
            (_LENT.of(f) or {}).pop(id(store.old), None)


def changed(m: Machine, f: Frame, change: Change) -> None:
    """An array changes itself."""
    if change.how == "in-place" or change.how in lexicon().arrays.host_in_place_methods:
        _write(m, f, change.at, change.box)


def _write(m: Machine, f: Frame, at: int, value: object) -> None:
    lent = (_LENT.of(f) or {}).get(id(value))
    if lent is not None and lent[0] is value:
        m.emit(f, ArrayStore, at, op="lent", what=lent[1])


def _is_of_jax(value: Value) -> bool:
    return type(value) is Arr and not value.host and not value.modes and not value.weak


def _pairs(source: Value, given: Value, depth: int) -> Iterator[tuple[Value, Arr]]:
    """The leaves of a tree with the arrays that were made of them."""
    if type(given) is Arr:
        if given.host:
            yield source, given
    elif depth and type(source) is Map and type(given) is Map:
        for key in source.entries.keys() & given.entries.keys():
            yield from _pairs(source.entries[key], given.entries[key], depth - 1)
    elif depth and type(source) is Tup and type(given) is Tup:
        for one, other in zip(source.items, given.items):
            yield from _pairs(one, other, depth - 1)
