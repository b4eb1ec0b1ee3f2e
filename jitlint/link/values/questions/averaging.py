"""Whether a function puts the values of all lanes, or devices, of an axis together (layer: ``link``, room ``values``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Func
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.values import paths
from jitlint.syntax import ir

_DEPTH: Final = 3
"""So many functions in each other are read."""


def average_in(m: Machine, func: Func, depth: int = _DEPTH) -> tuple[str, int] | None:
    """Module and origin of a call that does so, in a function of the project or in those that it calls or hands on; None if
    there is none."""
    inside = Frame(func.fn.module, func.scope, HOST)
    for part in _written(func.fn):
        if type(part) is not ir.Call:
            continue
        if paths.dotted(m, inside, part.func) in lexicon().contracts.settling:
            return func.fn.module.name, part.at
        named = [part.func, *[arg.value for arg in part.args if type(arg.value) is ir.Name]]
        for other in (paths.peek(m, inside, node) for node in named) if depth else ():
            found = (
                average_in(m, other, depth - 1) if type(other) is Func and other.fn is not func.fn else None
            )
            if found is not None:
                return found
    return None


def may_average(m: Machine, func: Func, depth: int = _DEPTH) -> bool:
    """Whether a function might do so: it calls or hands on what is not known, such as one that it is given, or is too deep."""
    inside = Frame(func.fn.module, func.scope, HOST)
    calls = [part for part in _written(func.fn) if type(part) is ir.Call]
    return any(_may_average(m, inside, node, depth) for call in calls for node in _run_by(m, inside, call))


def _run_by(m: Machine, inside: Frame, call: ir.Call) -> Iterator[ir.Node]:
    """What a call runs: a function, and the one that this is given by name if it is a map over trees."""
    yield call.func
    given = call.args[0].value if call.args else None
    if type(given) is ir.Name and paths.dotted(m, inside, call.func) in lexicon().arrays.pure_maps:
        yield given


def _may_average(m: Machine, inside: Frame, node: ir.Node, depth: int) -> bool:
    callee, dotted = paths.peek(m, inside, node), paths.dotted(m, inside, node)
    if type(callee) is Func:
        return callee.scope is not inside.scope and (not depth or may_average(m, callee, depth - 1))
    if dotted:
        return dotted in lexicon().contracts.settling | lexicon().contracts.spreading
    return type(node) is not ir.Attr or m.catalogue.array_method(node.name) is None


def _written(fn: FuncInfo) -> Iterator[ir.Node]:
    """The nodes of a function and of the lambdas in it."""
    for part in fn.parts:
        yield part
        if type(part) is ir.Lambda:
            yield from fn.module.functions[part.function].parts
