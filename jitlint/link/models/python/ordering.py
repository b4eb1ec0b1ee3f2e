"""What `heapq` and `bisect` do with abstract values (layer: ``link``, room ``models``).

Both compare elements in Python, where a traced one has no truth to give. What it does not: know the order that they make.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.changes import forget_length
from jitlint.infer.lattice import join, joined, or_unknown, seq_element
from jitlint.infer.values import NONE, Py, Seq, Value, alternatives
from jitlint.link.engine import evaluator
from jitlint.link.engine.events import emit_truth
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.python.builtin_calls import Handler
from jitlint.link.models.python.containers import call_method
from jitlint.link.models.python.python_sequences import order
from jitlint.link.values import operators
from jitlint.link.values.boxes import argument, make_seq, spread


def _push(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Pushing compares the new element with those already there."""
    heap, item = or_unknown(argument(args, 0)), or_unknown(argument(args, 1))
    if type(heap) is Seq:
        element = seq_element(heap)
        if element is not None:
            emit_truth(m, f, at, operators.compare(m, f, at, "<", item, element), "heapq")
        call_method(m, f, at, heap, "append", Args([item]))
    return NONE


def _pop(m: Machine, f: Frame, at: int, args: Args) -> Value:
    heap = or_unknown(argument(args, 0))
    element = seq_element(heap) if type(heap) is Seq else None
    if type(heap) is Seq and element is not None and heap.items != [element]:
        emit_truth(m, f, at, operators.compare(m, f, at, "<", element, element), "heapq")
        forget_length(heap)
    return or_unknown(element)


def _several(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``heapq.nsmallest(n, xs, key=...)``: the first of the sorted elements."""
    elements = list[Value]()
    certain = True
    for alt in alternatives(or_unknown(argument(args, 1, "iterable"))):
        items, rest = spread(m, f, at, alt)
        certain = certain and items is not None
        elements += items if items is not None else [] if rest is None else [rest]
    key = argument(args, 2, "key")
    order(m, f, at, elements, certain, key, "heapq")
    return make_seq(f, "list", None, joined(elements))


def _heapify(m: Machine, f: Frame, at: int, args: Args) -> Value:
    heap = or_unknown(argument(args, 0))
    if type(heap) is Seq:
        element = seq_element(heap)
        items = heap.items if heap.items is not None else [] if element is None else [element]
        order(m, f, at, items, heap.items is not None, None, "heapq")
        if heap.items is not None:
            heap.items = [or_unknown(element)] * len(heap.items)
    return NONE


def _place(inserts: bool) -> Handler:
    """``bisect`` and ``insort`` compare a value with the elements of a sorted list."""

    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        found, value = or_unknown(argument(args, 0, "a")), or_unknown(argument(args, 1, "x"))
        items, rest = spread(m, f, at, found)
        element = joined(items) if items is not None else rest
        if element is not None:
            left, right = element, value
            key = args.kw.get("key", NONE)
            if key is not NONE:
                left = evaluator.call(m, f, at, key, Args([element]))
                right = evaluator.call(m, f, at, key, Args([value])) if inserts else value
            emit_truth(m, f, at, operators.compare(m, f, at, "<", left, right), "bisect")
        if not inserts:
            return Py("int")
        if type(found) is Seq:
            call_method(m, f, at, found, "append", Args([value]))
            if found.items is not None:
                found.items = [join(value, or_unknown(element))] * len(found.items)
        return NONE

    return handler


ORDERING_CALLS: Final[dict[str, Handler]] = {
    "heapq.heapify": _heapify,
    "heapq.heappop": _pop,
    "heapq.heappush": _push,
    "heapq.nlargest": _several,
    "heapq.nsmallest": _several,
    **{f"bisect.{name}": _place(False) for name in ("bisect", "bisect_left", "bisect_right")},
    **{f"bisect.{name}": _place(True) for name in ("insort", "insort_left", "insort_right")},
}
"""Dotted name to handler."""
