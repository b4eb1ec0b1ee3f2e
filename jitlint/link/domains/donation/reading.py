"""Which functions read the buffers of what they are given (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.domains.donation.walker import Walker
from jitlint.syntax import ir


def computed_with(w: Walker, function: ir.Expr) -> set[int]:
    """Which arguments a lambda computes with, by their position: those beside an operator, and those that it hands to a
    function or asks for a method that looks at the numbers."""
    if type(function) is not ir.Lambda:
        return set()
    fn = w.module.functions[function.function]
    if any(type(part) is ir.IfExp or type(part) is ir.BoolOp for part in fn.parts):
        return set()  # it may leave out the leaves that are gone
    found: set[str] = set()
    for part in fn.parts:
        sides: list[ir.Expr] = []
        if type(part) is ir.BinOp:
            sides = [part.left, part.right]
        elif type(part) is ir.Call:
            sides = _looked_at(w, part)
        found |= {side.id for side in sides if type(side) is ir.Name}
    return {i for i, param in enumerate(fn.node.params) if param.name in found}


def _looked_at(w: Walker, call: ir.Call) -> list[ir.Expr]:
    """What a call of a library's function reads of what stands in it."""
    name = w.dotted(call.func)
    if name is not None:
        return [arg.value for arg in call.args] if reads(name) else []
    if type(call.func) is not ir.Attr or w.m.catalogue.array_method(call.func.name) is None:
        return []
    words = lexicon()
    unread = call.func.name in words.containers.shared_with_arrays or call.func.name in words.buffers.metadata
    return [] if unread else [call.func.obj]


def reads(name: str) -> bool:
    """Whether a function of a library reads the buffers of what it is given."""
    buffers = lexicon().buffers
    return computes(name) or (name in buffers.reading_functions and name not in buffers.shape_only)


def computes(name: str) -> bool:
    """Whether a function of a library looks at the numbers of what it is given."""
    buffers = lexicon().buffers
    return name.startswith(buffers.reading_modules) and name not in buffers.shape_only
