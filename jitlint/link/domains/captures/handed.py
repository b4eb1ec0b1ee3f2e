"""Values that a program was compiled with, and that are renewed beside it (layer: ``link``, room ``domains``).

``step = build_step(teacher)`` makes a program of what ``teacher`` is at that time. What it does: reads in the code that calls such a
program in a loop whether the loop renews the variable and uses it for nothing but its own renewal. What it does not: object to
values that the loop also looks at, or hands to the program: these may be meant to differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Scope
from jitlint.link.domains.captures.log import Call, Load
from jitlint.link.domains.captures.syntax import assigned_in
from jitlint.link.domains.captures.turns import around
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import by_parameter, last_name, nodes
from jitlint.syntax import ir

Seen = set[tuple[str, int, int, object]]
"""Module and statement of calls, with the functions and parameters that were looked at for them."""


def left_behind(m: Machine, call: Call, seen: Seen) -> Iterator[tuple[Load, int]]:
    """The parameters of functions that made a program which a loop calls, with where the loop renews what they were given."""
    body = call.fn.body if call.fn is not None else m.modules[call.module].tree.body
    for load, maker in _of_makers(call, seen):
        given = _given(body, maker, str(load.key))
        for owner, block in around(m, call, call.statement) if given else ():
            if isinstance(owner, (ir.For, ir.While)) and block is owner.body:
                renewed = _renewed_only(owner.body, given, maker.name, call.statement)
                if renewed is not None:
                    yield load, renewed


def _of_makers(call: Call, seen: Seen) -> Iterator[tuple[Load, FuncInfo]]:
    """What a program reads of the functions around it, other than the one that calls it. What was seen before is left out."""
    for load in call.loads.values():
        maker = load.owner.fn if type(load.owner) is Scope and load.kind == "name" else None
        place = (call.module, call.statement, -1 if maker is None else maker.id, load.key)
        if maker is not None and maker is not call.fn and place not in seen:
            seen.add(place)
            yield load, maker


def _given(body: list[ir.Stmt], maker: FuncInfo, parameter: str) -> str:
    """The variable that the one call of a maker gives for a parameter that it does not set itself, "" if there is none."""
    calls = [node for node in nodes(body) if type(node) is ir.Call and last_name(node.func) == maker.name]
    if len(calls) != 1 or parameter in assigned_in(maker.body):
        return ""
    own = 1 if maker.values and maker.values[0].owner is not None else 0
    given = by_parameter(calls[0], maker.node.params[own:])
    return next((node.id for name, node in given if name == parameter and type(node) is ir.Name), "")


def _renewed_only(loop: list[ir.Stmt], name: str, maker: str, called: int) -> int | None:
    """Where the turns of a loop renew a variable that they do not use otherwise. called: where the program is called."""
    parts = list(nodes(loop))
    renewals = [node for node in parts if type(node) is ir.Assign and name in assigned_in([node])]
    if not renewals or any(node.at == called for node in renewals):
        return None
    used = _places(parts, name) - _places(list(nodes(renewals)), name)
    made = any(type(part) is ir.Call and last_name(part.func) == maker for part in parts)
    return None if used or made else renewals[0].at


def _places(parts: list[ir.Node], name: str) -> set[int]:
    return {part.at for part in parts if type(part) is ir.Name and part.id == name}
