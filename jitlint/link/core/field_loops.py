"""Loops and comprehensions over the fields of a class, turn by turn (layer: ``link``, room ``core``).

What a class decorator does for each field is what the class is; the join of all turns would say nothing. Other loops
run to a fixpoint in `statements`.
"""

from __future__ import annotations

from jitlint.infer.values import Value
from jitlint.link.core import branches
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import fields, iteration
from jitlint.syntax import ir


def run(m: Machine, f: Frame, node: ir.For, items: list[Value]) -> bool:
    """Run the body once for each item."""
    breaks, continues = f.breaks, f.continues
    f.breaks = []
    reached = True
    for item in items:
        f.continues = []
        iteration.bind(m, f, node.target, item)
        reached = evaluator.run_block(m, f, node.body)
        for variables in f.continues:
            f.scope.vars = branches.join_vars(f.scope.vars, variables) if reached else variables
            reached = True
        if not reached:
            break
    if reached and node.orelse:
        reached = evaluator.run_block(m, f, node.orelse)
    for variables in f.breaks:
        f.scope.vars = branches.join_vars(f.scope.vars, variables) if reached else variables
        reached = True
    f.breaks, f.continues = breaks, continues
    return reached


def kept(m: Machine, f: Frame, node: ir.Comp) -> list[Value] | None:
    """The fields of a class that pass the tests of a comprehension, None when it is about something else."""
    part = node.fors[0]
    items = (
        iteration.known_items(evaluator.evaluate(m, f, part.iter))
        if isinstance(part.iter, (ir.Call, ir.Name))
        else None
    )
    if items is None or not fields.describe_fields(items):
        return None
    passing: list[Value] = []
    for item in items:
        iteration.bind(m, f, part.target, item)
        answers = [branches.condition(m, f, test, "comprehension", test.at) for test in part.ifs]
        if None in answers:
            return None
        if all(answers):
            passing.append(item)
    return passing
