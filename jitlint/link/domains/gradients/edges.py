"""Bounds at the very edge of what a function takes, where it has no derivative (layer: ``link``, room ``domains``).

``jnp.sqrt(jnp.maximum(x, 0.0))``: whoever writes the bound knows of numbers below it. There the value is right, the derivative of the
root is infinite, and the gradient of the bound, 0, times that is NaN. So with ``jnp.arccos(jnp.clip(x, -1.0, 1.0))``.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.domains.gradients import spelling
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import ir

_BOUNDS: Final = frozenset({"maximum", "fmax", "clip"})


def hole(code: spelling.Code, call: ir.Call) -> spelling.Hole | None:
    """The function that gets what is bounded at its edge, if that is what a call is of."""
    edges = lexicon().gradients.edges.get(last_name(call.func))
    bound = spelling.written(code.parts, call.args[0].value) if call.args else None
    if edges is None or type(bound) is not ir.Call or len(call.args) != 1:
        return None
    name = last_name(bound.func)
    given = [spelling.number(arg.value) for arg in bound.args if not arg.star]
    wanted = {float(edge) for edge in edges.split()}
    reached = name in _BOUNDS and wanted <= {number for number in given if number is not None}
    operands = spelling.operand_of(bound)
    if not reached or not operands or spelling.number(operands[0]) is not None:
        return None
    return spelling.Hole(
        call.at,
        last_name(call.func),
        spelling.in_words([operands[0]]),
        spelling.names_in(operands[0]),
        edge=name,
    )
