"""What a function returns, read from its statements (layer: ``link``, room ``tables``).

What it does: sees through a docstring and through a variable that is returned as soon as it is bound. What it does not:
follow branches; what needs that has to be executed.
"""

from __future__ import annotations

from collections.abc import Sequence

from jitlint.syntax import ir


def only_result(body: Sequence[ir.Stmt]) -> ir.Expr | None:
    """What a function returns when computing that is all it does, else None."""
    done = [s for s in body if not (type(s) is ir.ExprStmt and type(s.value) is ir.Const)]
    last = done[-1] if done else None
    if type(last) is not ir.Return or len(done) > 2:
        return None
    if len(done) == 1:
        return last.value
    first = done[0]
    if type(first) is not ir.Assign or len(first.targets) != 1 or type(last.value) is not ir.Name:
        return None
    target = first.targets[0]
    return first.value if type(target) is ir.Name and target.id == last.value.id else None


def only_returned(parts: Sequence[ir.Node]) -> ir.Expr | None:
    """What a function gives at its only ``return``, whatever it does before; None if it has several, or gives nothing."""
    returns = [part.value for part in parts if type(part) is ir.Return]
    return returns[0] if len(returns) == 1 else None
