"""Writes that bring the element of a loop's turn to a place (layer: ``link``, room ``domains``).

The abstract value of such an element is one and the same in all turns, the place holds another one in each. What it does: reads
in the code whether a loop around a call of staged code writes what its turn is about, itself or through a function that it calls.
What it does not: follow more than one call, on either side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from jitlint.infer.values import NO_CONST, const_of
from jitlint.link.domains.captures.log import Call, Write
from jitlint.link.domains.captures.syntax import assigned_in, depends, renews
from jitlint.link.engine import callers
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.surroundings import Around, Table, around_of
from jitlint.link.tables.ir_walk import last_name, nodes
from jitlint.syntax import ir
from jitlint.syntax.children import below


def is_of_the_turn(m: Machine, call: Call, write: Write) -> bool | None:
    """Whether each turn of a loop around a call writes what it is about, and so something else than the turn before; False where
    it hands over the same in all turns, None where that is not seen. The loop may be around calls of the function that calls."""
    found = _said(_loops(around(m, call, call.statement)), write, write.fn is call.fn, call.module)
    if found is not None or call.fn is None:
        return found
    answers = {
        _said(_loops_around(code, node), write, write.fn is fn, module.name)
        for module, fn, node in callers.calls(m, call.fn)
        for code in [fn.parts if fn is not None else below(module.tree.body)]
    }
    return answers.pop() if len(answers) == 1 else None


def _said(loops: Iterable[ir.For], write: Write, own: bool, module: str) -> bool | None:
    """What loops around a call say of a write. own: the function that calls is the one that writes."""
    own = own and write.module == module
    for loop in loops:
        about = {node.id for node in nodes(loop.target) if type(node) is ir.Name}
        if own:
            if any(node.at == write.statement for node in nodes(loop.body)):
                return _is_about(loop, write, about) or None
            continue
        given = _handed(loop, write.fn.name) if write.fn is not None else None
        if given is not None and not about.isdisjoint(given):
            return renews(write)
        if given is not None and given.isdisjoint(_changed(loop)) and not _renews_alone(write):
            return False
    return None


def _loops(around: Around) -> Iterator[ir.For]:
    return (owner for owner, block in around if type(owner) is ir.For and block is owner.body)


def _loops_around(code: Sequence[ir.Node], call: ir.Call) -> Iterator[ir.For]:
    return (loop for loop in code if type(loop) is ir.For and any(node is call for node in nodes(loop.body)))


def around(m: Machine, call: Call, statement: int) -> Around:
    """What is around a statement of the code that makes the call."""
    if call.fn is not None:
        return around_of(call.fn, statement)
    return Table(m.modules[call.module].tree.body).around.get(statement, ())


def _handed(loop: ir.For, name: str) -> set[str] | None:
    """The names in what the body of a loop hands to a function, None if it does not call it."""
    calls = [node for node in nodes(loop.body) if type(node) is ir.Call and last_name(node.func) == name]
    args = (arg.value for call in calls for arg in call.args)
    return {part.id for arg in args for part in nodes(arg) if type(part) is ir.Name} if calls else None


def _renews_alone(write: Write) -> bool:
    """Whether a write may bring another value though its function is given the same."""
    known = write.value is not None and const_of(write.value) is not NO_CONST
    return known or renews(write, in_one_call=True)


def _changed(loop: ir.For) -> set[str]:
    """The names that the body of a loop sets."""
    added = {n.target.id for n in nodes(loop.body) if type(n) is ir.AugAssign and type(n.target) is ir.Name}
    return {*assigned_in(loop.body), *added}


def _is_about(loop: ir.For, write: Write, about: set[str]) -> bool:
    written = next((node for node in nodes(loop.body) if node.at == write.statement), None)
    assigned = {name: values for name, values in assigned_in(loop.body).items() if name not in about}
    return type(written) is ir.Assign and depends(written.value, about, (), assigned)
