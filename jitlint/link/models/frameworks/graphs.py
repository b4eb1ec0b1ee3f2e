"""Modules of Flax NNX that are taken apart into a graph and states, and put together again (layer: ``link``, room ``models``).

``graph, params, rest = nnx.split(model, nnx.Param, ...)`` and ``model = nnx.merge(graph, params, rest)``: another module of the same
classes, whose arrays are those of the states. What it does: keeps in the graph the module as it was, and hands it back with its
arrays traced where a state is. What it does not: know what is in a state.
"""

from __future__ import annotations

from typing import Final, TypeVar

from jitlint.infer.objects import MERGED
from jitlint.infer.sizes import DEPTH
from jitlint.infer.values import UNKNOWN, Arr, ExtInst, Inst, Map, Seq, Tree, Tup, Value, py
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import pytrees
from jitlint.link.values.boxes import copy_box, with_attributes

GRAPH: Final = "flax.nnx.GraphDef"
_WHOLE: Final = "node"
_ROLE: Final = "nnx"
_Key = TypeVar("_Key")


def split(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A graph, and a state for each filter: one for all if there is none.

    Source: https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/graph.html#flax.nnx.split
    """
    if args.more is not None or args.get(0, _WHOLE) is None:
        return UNKNOWN
    states = max(1, len(args.pos) - (_WHOLE not in args.kw))
    return Tup((graph_of(m, f, at, args), *[UNKNOWN] * states))


def graph_of(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """What a module is without its arrays."""
    whole = args.get(0, _WHOLE)
    if type(whole) is not Inst or whole.cls.role != _ROLE:
        return UNKNOWN
    return ExtInst(GRAPH, {_WHOLE: _another(f, whole, DEPTH, {})})


def merge(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Another module of the same classes, with the arrays of the states.

    Source: https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/graph.html#flax.nnx.merge
    """
    graph = args.get(0, "graphdef")
    whole = graph.attrs.get(_WHOLE) if type(graph) is ExtInst and graph.dotted == GRAPH else None
    if whole is None:
        return UNKNOWN
    for state in [*args.pos[1:], args.kw.get("state"), args.more]:
        leaf = pytrees.leaf(state) if state is not None else None
        if isinstance(leaf, (Arr, Tree)) and leaf.modes:
            whole = pytrees.lift(whole, leaf.modes, leaf.level, leaf.why)
    note: dict[str, Value] = {MERGED: py(f"{f.module.name}:{at}")} if f.world.floor else {}
    return _another(f, whole, DEPTH, note)


def clone(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Another module that is as this one is now.

    Source: https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/graph.html#flax.nnx.clone
    """
    return _another(f, args.get(0, _WHOLE) or UNKNOWN, DEPTH, {})


def _another(f: Frame, value: Value, depth: int, note: dict[str, Value]) -> Value:
    """The same parts, none of which is the same object. note: of each of the library's."""
    if type(value) is ExtInst:
        return ExtInst(value.dotted, {**value.attrs, **note})
    if not depth:
        return UNKNOWN if isinstance(value, (Inst, Seq, Map)) else value
    if type(value) is Inst:
        return with_attributes(f, value, _all(f, value.attrs, depth, note))
    if type(value) is Tup:
        return value.of([_another(f, part, depth - 1, note) for part in value.items])
    if not isinstance(value, (Seq, Map)):
        return value
    box = copy_box(f, value)
    if type(box) is Map:
        box.entries = _all(f, box.entries, depth, note)
    elif type(box) is Seq and box.items is not None:
        box.items = [_another(f, part, depth - 1, note) for part in box.items]
    return box


def _all(f: Frame, parts: dict[_Key, Value], depth: int, note: dict[str, Value]) -> dict[_Key, Value]:
    return {key: _another(f, part, depth - 1, note) for key, part in parts.items()}
