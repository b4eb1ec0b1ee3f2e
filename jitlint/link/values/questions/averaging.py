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


def _written(fn: FuncInfo) -> Iterator[ir.Node]:
    """The nodes of a function and of the lambdas in it."""
    for part in fn.parts:
        yield part
        if type(part) is ir.Lambda:
            yield from fn.module.functions[part.function].parts
