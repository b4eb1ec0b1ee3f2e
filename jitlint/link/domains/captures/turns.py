"""Writes that bring the element of a loop's turn to a place (layer: ``link``, room ``domains``).

The abstract value of such an element is one and the same in all turns, the place holds another one in each. What it does: reads
in the code whether a loop around a call of staged code writes what its turn is about, itself or through a function that it calls.
What it does not: follow more than one call.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitlint.link.domains.captures.log import Call, Write
from jitlint.link.domains.captures.syntax import assigned_in, depends, renews
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.surroundings import Around, Table
from jitlint.link.tables.ir_walk import last_name, nodes
from jitlint.syntax import ir


def is_of_the_turn(m: Machine, call: Call, write: Write) -> bool:
    """Whether each turn of a loop around a call writes what it is about, and so something else than the turn before."""
    own = write.fn is call.fn and write.module == call.module
    for loop in _loops(_around(m, call, call.statement)):
        about = {node.id for node in nodes(loop.target) if type(node) is ir.Name}
        if own:
            if loop in _loops(_around(m, call, write.statement)):
                return _is_about(loop, write, about)
        elif write.fn is not None and _hands_over(loop, write.fn.name, about):
            return renews(write)
    return False


def _loops(around: Around) -> Iterator[ir.For]:
    return (owner for owner, block in around if type(owner) is ir.For and block is owner.body)


def _around(m: Machine, call: Call, statement: int) -> Around:
    """What is around a statement of the code that makes the call."""
    fn = call.fn
    if fn is None:
        return Table(m.modules[call.module].tree.body).around.get(statement, ())
    if fn.surroundings is None:
        fn.surroundings = Table(fn.body)
    found: Around = fn.surroundings.around.get(statement, ())
    return found


def _hands_over(loop: ir.For, name: str, about: set[str]) -> bool:
    """Whether the body of a loop calls a function with what its turn is about."""
    calls = (node for node in nodes(loop.body) if type(node) is ir.Call and last_name(node.func) == name)
    return any(
        type(part) is ir.Name and part.id in about
        for call in calls
        for arg in call.args
        for part in nodes(arg.value)
    )


def _is_about(loop: ir.For, write: Write, about: set[str]) -> bool:
    written = next((node for node in nodes(loop.body) if getattr(node, "at", None) == write.statement), None)
    assigned = {name: values for name, values in assigned_in(loop.body).items() if name not in about}
    return type(written) is ir.Assign and depends(written.value, about, (), assigned)
