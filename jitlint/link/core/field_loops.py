"""Loops and comprehensions over fields or names of attributes, turn by turn (layer: ``link``, room ``core``).

What a class decorator does for each field is what the class is, and a name that a loop hands to ``getattr`` or
``setattr`` means something else in each turn; the join of all turns would say nothing. Other loops run to a fixpoint in
`loops`.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.values import Value
from jitlint.link.core import branches
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import nodes
from jitlint.link.values import fields, iteration
from jitlint.link.values.boxes import const_text
from jitlint.syntax import ir

# No loop over more names is run turn by turn.
MOST_NAMES: Final = 64
_BY_NAME: Final = frozenset({"getattr", "setattr", "hasattr"})


def is_one(node: ir.For, items: list[Value]) -> bool:
    """Whether a loop over these items goes over fields, or over the names of attributes."""
    if fields.describe_fields(items):
        return True
    if len(items) > MOST_NAMES or type(node.target) is not ir.Name or None in map(const_text, items):
        return False
    target = node.target.id
    return any(
        type(part) is ir.Call
        and type(part.func) is ir.Name
        and part.func.id in _BY_NAME
        and len(part.args) > 1
        and type(name := part.args[1].value) is ir.Name
        and name.id == target
        for part in nodes(node.body)
    )


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
