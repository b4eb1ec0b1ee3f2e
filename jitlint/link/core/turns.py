"""What is special about the first turn of a loop that counts (layer: ``link``, room ``core``).

What it does: in the first turn over ``enumerate(xs)`` or ``range(n)`` the counter is its first number, later it is more;
so the first turn meets the code that is meant for it, and the others do not. What it does not: count further.
"""

from __future__ import annotations

from jitlint.infer.values import FALSE, NONE, TRUE, Ext
from jitlint.link.engine import scopes
from jitlint.link.engine.frame import Frame
from jitlint.syntax import ir

Counter = tuple[str, int]


def counter(f: Frame, node: ir.For) -> Counter | None:
    """The name that counts the turns of a loop and its first number; None when the loop does not count upwards."""
    call = node.iter
    if type(call) is not ir.Call or type(call.func) is not ir.Name or not call.args:
        return None
    target = node.target
    found = scopes.lookup(f, call.func.id)
    dotted = found.dotted if type(found) is Ext else ""
    start: ir.Node | None = None
    if dotted == "builtins.enumerate" and type(target) is ir.Tuple and target.elts:
        target = target.elts[0]
        start = call.args[1].value if len(call.args) == 2 else None
    elif dotted == "builtins.range":
        start = call.args[0].value if len(call.args) == 2 else None
    else:
        return None
    if len(call.args) > 2 or any(arg.star for arg in call.args) or type(target) is not ir.Name:
        return None
    if start is None:
        return target.id, 0
    number = start.value if type(start) is ir.Const else None
    return (target.id, number) if type(number) is int else None


def begin(f: Frame, counts: Counter, turn: int) -> None:
    """Say which side tests of the counter take: the first turn is told from the others, which are all alike."""
    name, start = counts
    first = TRUE if turn == 0 else FALSE
    later = FALSE if turn == 0 else TRUE
    sides = {f"== {start!r}": first, f"> {start!r}": later, f"<= {start!r}": first}
    if start == 0:
        sides[""] = later
    f.scope.vars["$paths"] = NONE
    f.scope.vars.update({f"path:{name}.?{test}": side for test, side in sides.items()})
