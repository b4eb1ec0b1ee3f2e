"""What Python asks for a hash: keys of dicts, members of sets (layer: ``link``, room ``values``)."""

from __future__ import annotations

from jitlint.infer.events import Convert
from jitlint.infer.grounds import SEEN
from jitlint.infer.lattice import traced_modes
from jitlint.infer.values import Arr, Seq, Tup, Value
from jitlint.link.engine.events import ANY_TRACER, confidence_of, hurt
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import callbacks


def hashed(m: Machine, f: Frame, at: int, value: Value, what: str) -> bool:
    """Record that a tracer is hashed. Answers whether one is."""
    waiting, seen, tracer = [value], set[int](), False
    callbacks.run_implied(m, f, at, value, ("__hash__",))
    callbacks.run_implied(m, f, at, value, ("__eq__",), value)
    while waiting:
        part = waiting.pop()
        if id(part) in seen:  # tuples that share their parts may have very many
            continue
        seen.add(id(part))
        if type(part) is Tup:
            waiting.extend(reversed(part.items))
            continue
        if type(part) is Seq and part.kind == "tuple" and part.rest is not None:
            waiting.append(part.rest)  # what an array was taken apart to has as many elements as it
            continue
        found = hurt(part, ANY_TRACER)
        if found is not None and traced_modes(found):
            m.emit(f, Convert, at, found, confidence_of(part), to="hash", what=what)
            tracer = True
        elif type(part) is Arr and _is_surely_array(part):
            m.emit(f, Convert, at, None, to="hash", what=what)
    return tracer


def _is_surely_array(value: Arr) -> bool:
    """Whether this is an array of JAX outside of any trace; a leaf of which nothing is known may be anything."""
    known = value.dtype is not None or value.rank is not None
    return known and value.kind is SEEN and not (value.host or value.modes)
