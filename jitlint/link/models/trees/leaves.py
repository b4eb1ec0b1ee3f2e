"""What `jax.tree.map` takes for leaves, and which of them are looked at one by one (layer: ``link``, room ``models``).

What it does: asks an ``is_leaf`` about each container, as JAX does, and takes apart what is surely none, so that the function
that is mapped gets what it will get; tells trees whose leaves are of several kinds, objects among them. Where the answer is not known, what is mapped is guessed and nothing is known of the
result. What it does not: say what such a function does with a traced value; that it is called is noted where it is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jitlint.infer.sizes import DEPTH
from jitlint.infer.values import (
    FRESH,
    NONE,
    UNKNOWN,
    Arr,
    Ext,
    ExtInst,
    Func,
    Inst,
    Map,
    Partial,
    Py,
    Seq,
    Tree,
    Tup,
    Union,
    Value,
)
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import flattening, keys, pytrees

MAX_SPLIT = 16
"""Children of a tree that `jax.tree.map` is followed into one by one."""

MAX_NODES = 64
"""Containers of one tree that are asked about."""

MAX_CHILDREN = 32

_CONTAINERS = (Tup, Seq, Map)


class Told:
    """The answers of one ``is_leaf`` about the containers of a tree."""

    __slots__ = ("asks", "at", "f", "left", "m")

    def __init__(self, m: Machine, f: Frame, at: int, asks: Value) -> None:
        self.m = m
        self.f = scopes.in_world(f, f.world, f.steps)
        self.f.token = object()
        self.at = at
        self.asks = asks
        self.left = MAX_NODES

    def is_leaf(self, node: Value) -> bool | None:
        """Whether it takes this container for a leaf; None when that is not known."""
        if type(self.asks) not in (Func, Partial, Ext):
            return None
        out = evaluator.call(self.m, self.f, self.at, self.asks, Args([node]))
        return out.const if type(out) is Py and isinstance(out.const, bool) else None

    def takes_none(self, tree: Value) -> bool:
        """Whether it surely takes no container of a tree for a leaf: it need not be asked."""
        for node in _nodes(tree):
            self.left -= 1
            if self.left < 0 or self.is_leaf(node) is not False:
                return False
        return True


def without_told(m: Machine, f: Frame, at: int, args: Args) -> Args:
    """The arguments of a function over trees; what may hold containers that ``is_leaf`` takes for leaves is unknown."""
    asks = args.kw.get("is_leaf", NONE)
    if asks is NONE:
        return args
    told = Told(m, f, at, asks)
    pos = [value if told.takes_none(value) else UNKNOWN for value in args.pos]
    kw = {
        name: value if name == "is_leaf" or told.takes_none(value) else UNKNOWN
        for name, value in args.kw.items()
    }
    return Args(pos, kw, args.more, args.kw_more)


def _nodes(value: Value, depth: int = DEPTH) -> Iterator[Value]:
    """The containers of a tree, itself included; of one that is not known, those that Python has."""
    if type(value) is Tree:
        yield from (Tup(()), Seq("list", [], None, value.level), Map({}, None, value.level))
        return
    inner = pytrees.below(value) if depth else None
    if inner is None and value is not NONE:
        return
    if type(value) in _CONTAINERS or value is NONE or type(value) is Inst:
        yield value
    for part in inner or ():
        yield from _nodes(part, depth - 1)


def columns(trees: list[Value]) -> list[list[Value]] | None:
    """The children of several trees that lie beside each other; None when the trees cannot be taken apart."""
    first = pytrees.children(trees[0])
    if first is None or len(first) > MAX_CHILDREN:
        return None
    parts = [first, *[_beside(tree, len(first)) for tree in trees[1:]]]
    if any(part is None or len(part) != len(first) for part in parts):
        return None
    return [list(column) for column in zip(*[part for part in parts if part is not None])]


def _beside(tree: Value, count: int) -> list[Value] | None:
    """The children of a further tree; each is as unknown as a whole that is not known."""
    return [tree] * count if tree is UNKNOWN or type(tree) in (Tree, ExtInst) else pytrees.children(tree)


def children(tree: Value) -> list[Value] | None:
    """As `pytrees.children`, of objects too whose fields are all known."""
    if type(tree) is not Inst:
        return pytrees.children(tree)
    return [tree.attrs[name] for name in flattening.child_names(tree) or ()]


def with_children(tree: Value, parts: list[Value]) -> Value:
    """As `pytrees.with_children`, of objects too whose fields are all known."""
    if type(tree) is not Inst:
        return pytrees.with_children(tree, parts)
    named = dict(zip(flattening.child_names(tree) or (), parts))
    return Inst(tree.cls, {**tree.attrs, **named}, FRESH, None, tree.open)


def is_like(other: Value, tree: Value) -> bool:
    """Whether children that stand at one place belong together."""
    if type(other) is not Inst and type(tree) is not Inst:
        return True
    return type(other) is Inst and type(tree) is Inst and other.cls is tree.cls


def holds_keys(tree: Value) -> bool:
    """Whether there are PRNG keys among the children."""
    return bool(keys.inside(children(tree) or ()))


def is_of_many_kinds(tree: Value) -> bool:
    """Whether something is to be said of the leaves one by one."""
    leaf, below = pytrees.leaf(tree), children(tree) or ()
    return type(leaf) is Union or holds_keys(tree) or _are_of_many_forms(leaf, below)


def _are_of_many_forms(leaf: Value, parts: Iterable[Value]) -> bool:
    """Whether more is known of the sizes or dtypes of some children of a tree than of all its leaves together."""
    if type(leaf) is not Arr or (leaf.dims is not None and leaf.dtype is not None):
        return False
    return any(
        (child.dims is not None and leaf.dims is None) or (child.dtype is not None and leaf.dtype is None)
        for child in parts
        if type(child) is Arr
    )


def split(named: dict[str, Value]) -> tuple[Value, list[dict[str, Value]]] | None:
    """The calls for each child of a small tree whose leaves are of different kinds or sizes; None when one call says it all."""
    tree = named.get("tree", UNKNOWN)
    if not is_of_many_kinds(tree):
        return None
    rest = named.get("rest", Tup(()))
    trees = [tree, *rest.items] if type(rest) is Tup else []
    parts = [children(t) if is_like(t, tree) else None for t in trees]
    first = parts[0] if parts else None
    if not first or len(first) > MAX_SPLIT or any(p is None or len(p) != len(first) for p in parts):
        return None
    columns = zip(*[p for p in parts if p is not None])
    return tree, [{**named, "tree": column[0], "rest": Tup(tuple(column[1:]))} for column in columns]
