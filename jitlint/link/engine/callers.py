"""Calls of a function by its name, as the program has them (layer: ``link``, room ``engine``).

What it does: reads the code of its module, and of those in which its name means something. What it does not: ask whether a call
that is written like one is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Optional

from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import last_name, nodes
from jitlint.link.tables.storing import goes_on
from jitlint.syntax import ir
from jitlint.syntax.children import below

Body = tuple[ModuleInfo, Optional[FuncInfo], Sequence[ir.Node]]
"""A function, None for a module's own code, and all nodes of it."""

_LOOPS: Final = (ir.For, ir.While)


def bodies(m: Machine, name: str, home: ModuleInfo) -> Iterator[Body]:
    """All code in which a name may mean what it means in its module."""
    for module in m.modules.values():
        if module is home or name in module.scope.vars:
            yield module, None, below(module.tree.body)
            for fn in module.functions:
                yield module, fn, fn.parts


def calls(m: Machine, fn: FuncInfo) -> Iterator[tuple[ModuleInfo, FuncInfo | None, ir.Call]]:
    """What is written like a call of the function, with where that stands."""
    for module, around, code in bodies(m, fn.name, fn.module):
        for part in code:
            if type(part) is ir.Call and last_name(part.func) == fn.name:
                yield module, around, part


def goes_round(m: Machine, fn: FuncInfo) -> bool:
    """Whether a loop calls the function to go on from what it gave: ``params = step(params, batch)``."""
    return any(
        type(part) is ir.Assign
        and type(part.value) is ir.Call
        and last_name(part.value.func) == fn.name
        and goes_on(part, part.value)
        for module, _, code in bodies(m, fn.name, fn.module)
        for loop in code
        if isinstance(loop, _LOOPS) and not module.is_test
        for part in nodes(loop.body)
    )
