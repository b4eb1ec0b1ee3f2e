"""Methods of containers called on a pytree of unknown structure (layer: ``link``, room ``models``).

The call says what the pytree is: a dict, a list or a record. Its parts keep the modes of the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from jitlint.infer.lattice import join, traced_modes, why_of
from jitlint.infer.values import NONE, UNKNOWN, Tree, Tup, Value, alternatives
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.values import library_objects
from jitlint.link.values.boxes import make_seq

TreeMethod = Callable[[Frame, Tree, Args], Value]


def call_pytree_method(f: Frame, tree: Tree, name: str, args: Args) -> Value | None:
    """The result of ``tree.name(*args)``; None when the method is not one of a container."""
    method = _METHODS.get(name) if tree.evidence != "array" else None
    return None if method is None else method(f, tree, args)


def _inside(tree: Tree) -> Tree:
    return Tree(tree.modes, tree.why, tree.level, tree.traced)


def _items(f: Frame, tree: Tree, args: Args) -> Value:
    return make_seq(f, "iter", None, Tup((UNKNOWN, _inside(tree))))


def _keys(f: Frame, tree: Tree, args: Args) -> Value:
    return make_seq(f, "iter", None, UNKNOWN)


def _values(f: Frame, tree: Tree, args: Args) -> Value:
    return make_seq(f, "iter", None, _inside(tree))


def _get(f: Frame, tree: Tree, args: Args) -> Value:
    return join(library_objects.entry(tree, args.get(0, "")), args.get(1, "") or NONE)


def _pop(f: Frame, tree: Tree, args: Args) -> Value:
    inside, default = library_objects.entry(tree, args.get(0, "")), args.get(1, "")
    return inside if default is None else join(inside, default)


def _copy(f: Frame, tree: Tree, args: Args) -> Value:
    return Tree(tree.modes, tree.why, tree.level, tree.traced, tree.evidence, tree.kind)


def _changed(f: Frame, tree: Tree, args: Args) -> Value:
    """A dict or list changes in place; a record's method of that name may return anything."""
    return UNKNOWN


def _replace(f: Frame, tree: Tree, args: Args) -> Value:
    """A copy with some fields replaced: its leaves have the modes of both."""
    new = [alt for value in args.kw.values() for alt in alternatives(value)]
    modes = tree.modes
    for value in new:
        modes |= traced_modes(value)
    why = tree.why or next(filter(None, map(why_of, new)), "")
    level = tree.level if modes == tree.modes else f.world.level
    return Tree(modes, why, level, tree.traced, tree.evidence)


_METHODS: Final[dict[str, TreeMethod]] = {
    "_asdict": _copy,
    "_replace": _replace,
    "append": _changed,
    "copy": _copy,
    "extend": _changed,
    "get": _get,
    "items": _items,
    "keys": _keys,
    "pop": _pop,
    "replace": _replace,
    "setdefault": _pop,
    "update": _changed,
    "values": _values,
}
