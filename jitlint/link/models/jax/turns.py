"""How many turns a loop has, as its arguments are written (layer: ``link``, room ``models``).

``lax.scan(body, y0, (ts, ts[1:]))`` goes through n rows and n - 1, whatever n is. What it does: compares parts of one variable
in one display. What it does not: follow variables that hold parts.
"""

from __future__ import annotations

from jitlint.catalogue.transforms import HigherOrder
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.syntax import ir


def unequal(m: Machine, f: Frame, at: int, spec: HigherOrder) -> str:
    """Two numbers of turns that a loop certainly has together, in words; "" if none are known."""
    call = m.texts.table(f).calls.get(at)
    if call is None or "xs" not in spec.params or any(arg.star for arg in call.args):
        return ""
    place = spec.params.index("xs")
    given = [
        arg.value for i, arg in enumerate(call.args) if arg.name == "xs" or (not arg.name and i == place)
    ]
    lost: dict[str, int] = {}
    for node in _leaves(given[0]) if given else ():
        name, missing = _rows_of(node)
        if name and lost.setdefault(name, missing) != missing:
            return " and ".join(_less(count) for count in sorted((lost[name], missing)))
    return ""


def _leaves(node: ir.Node) -> list[ir.Node]:
    if isinstance(node, (ir.Tuple, ir.List)):
        return [leaf for part in node.elts for leaf in _leaves(part)]
    if type(node) is ir.Dict:
        return [leaf for part in node.values for leaf in _leaves(part)]
    return [node]


def _rows_of(node: ir.Node) -> tuple[str, int]:
    """A variable, and how many of its rows an expression leaves out; "" for what is no such part."""
    if type(node) is ir.Name:
        return node.id, 0
    if type(node) is not ir.Sub or type(node.obj) is not ir.Name or type(node.index) is not ir.Slice:
        return "", 0
    first, last = _count(node.index.lo), _count(node.index.hi, negative=True)
    if first is None or last is None or node.index.step is not None:
        return "", 0
    return node.obj.id, first + last


def _count(node: ir.Node | None, negative: bool = False) -> int | None:
    """How many rows a bound leaves out: of a slice's beginning, or of its end."""
    if node is None:
        return 0
    if negative:
        node = node.operand if type(node) is ir.UnaryOp and node.op == "-" else None
    return node.value if type(node) is ir.Const and type(node.value) is int else None


def _less(count: int) -> str:
    return f"n - {count}" if count else "n"
