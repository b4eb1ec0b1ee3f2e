"""Roots that are kept away from zero after they were taken (layer: ``link``, room ``domains``).

``x / jnp.maximum(jnp.linalg.norm(x), 1e-6)``: whoever writes the bound knows of rows that are zero. The value is right for them;
the derivative of the root is infinite or not defined there, and its gradient of 0 gives NaN. Of a larger bound, as in
``w / jnp.maximum(1.0, jnp.linalg.norm(w))``, it is silent: that is for what is long.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.program import FuncInfo
from jitlint.link.domains.gradients import spelling
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import ir

_SMALL: Final = 0.1


def hole(code: spelling.Code, fn: FuncInfo, call: ir.Call) -> spelling.Hole | None:
    """The root that a lower bound keeps away from zero: `jnp.maximum(root, bound)`, `jnp.clip(root, bound)`."""
    given = [arg.value for arg in call.args if arg.name in (None, "min", "a_min") and not arg.star][:2]
    if len(given) != 2 or not any(_guards(fn, node) for node in given):
        return None
    found = [_root(code, node) for node in given]
    return next((one for one in found if one is not None), None)


def _guards(fn: FuncInfo, node: ir.Node) -> bool:
    """Whether an expression is a small number above zero, or a parameter that has one as its default."""
    value = spelling.number(node)
    if type(node) is ir.Name:
        value = next((spelling.number(p.default) for p in fn.node.params if p.name == node.id), None)
    return value is not None and 0 < value < _SMALL


def _root(code: spelling.Code, node: ir.Node) -> spelling.Hole | None:
    root = spelling.written(code.parts, node)
    if type(root) is not ir.Call or not spelling.is_root(root) or not root.args:
        return None
    under = root.args[0].value
    if not spelling.may_be_zero(code, under):
        return None
    zeros = list(spelling.factors(under))
    return spelling.Hole(root.at, last_name(root.func), spelling.in_words(zeros), spelling.names_in(under))
