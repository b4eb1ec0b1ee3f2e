"""The length of the longest of some sequences, and arrays that are as long (layer: ``link``, room ``values``).

What it does: reads ``max(len(s) for s in batch)``, and which shapes are made of it. What it does not: so of numbers that are rounded up or
held at a bound afterwards, which take few values.
"""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.about import About
from jitlint.infer.counted import LONGEST
from jitlint.infer.values import Seq, Tup, Value
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import iteration
from jitlint.link.values.questions import counting
from jitlint.syntax import ir


def is_taken(m: Machine, f: Frame, at: int) -> bool:
    """Whether a call takes the largest of the lengths of what a comprehension goes through, or of what ``map`` does."""
    call = m.texts.table(f).calls.get(at)
    one = call.args[0].value if call is not None and len(call.args) == 1 else None
    if type(one) is ir.Comp and len(one.fors) == 1:
        return _is_length(one.elt)
    return (
        type(one) is ir.Call
        and last_name(one.func) == "map"
        and bool(one.args)
        and last_name(one.args[0].value) == "len"
    )


def _is_length(node: ir.Node | None) -> bool:
    return type(node) is ir.Call and last_name(node.func) == "len" and len(node.args) == 1


def told(name: str, args: Args, about: About) -> About:
    """What is known of the array that a function of NumPy makes, which may be of such a length."""
    makes = name.rpartition(".")[2] in lexicon().compilation.makers
    return about._replace(ragged=True) if makes and _is_ragged(args) else about


def _is_ragged(args: Args) -> bool:
    shape = args.get(0, "shape")
    if shape is None:
        return False
    items = iteration.known_items(shape) if isinstance(shape, (Tup, Seq)) else [shape]
    return any(map(_is_longest, items or ()))


def _is_longest(value: Value) -> bool:
    counted = counting.of(value)
    return counted is not None and counted.size_of == LONGEST.size_of
