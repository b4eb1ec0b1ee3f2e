"""Modules of Flax NNX that are taken apart into a graph and states, and put together again (layer: ``link``, room ``models``).

``graph, params, rest = nnx.split(model, nnx.Param, ...)`` and ``model = nnx.merge(graph, params, rest)``: another module of the same
classes, whose arrays are those of the states. What it does: keeps in the graph the module as it was, and hands it back with its
arrays traced where a state is. What it does not: know what is in a state.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.objects import MERGED, put_together_at
from jitlint.infer.sizes import DEPTH
from jitlint.infer.values import UNKNOWN, Arr, ExtInst, Inst, Tree, Tup, Value, py
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.python import stdlib_calls
from jitlint.link.values import pytrees

GRAPH: Final = "flax.nnx.GraphDef"
_WHOLE: Final = "node"
_ROLE: Final = "nnx"


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
    return ExtInst(GRAPH, {_WHOLE: _another(f, whole, {})})


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
    note: dict[str, Value] = {MERGED: py(put_together_at(f.module.name, at))} if f.world.level else {}
    return _another(f, whole, note)


def clone(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Another module that is as this one is now.

    Source: https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/graph.html#flax.nnx.clone
    """
    return _another(f, args.get(0, _WHOLE) or UNKNOWN, {})


def _another(f: Frame, whole: Value, note: dict[str, Value]) -> Value:
    """The same parts, none of which is the same object. note: of each of the library's."""

    def renewed(part: Value) -> Value:
        return ExtInst(part.dotted, {**part.attrs, **note}) if type(part) is ExtInst else part

    return stdlib_calls.copied(f, whole, DEPTH, renewed)
