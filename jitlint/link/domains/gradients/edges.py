"""Bounds at the very edge of what a function takes, where it has no derivative (layer: ``link``, room ``domains``).

``jnp.sqrt(jnp.maximum(x, 0.0))``: whoever writes the bound knows of numbers below it. There the value is right, the derivative of the
root is infinite, and the gradient of the bound, 0, times that is NaN. So with ``jnp.arccos(jnp.clip(x, -1.0, 1.0))``, and with
the cosine of two vectors, which is at the edge where they lie on a line: ``jnp.arccos(a @ b / (norm(a) * norm(b)))``.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.domains.gradients import spelling
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import ir
from jitlint.syntax.children import below

ANGLE: Final = "angle"
"""Instead of a bound: that two vectors lie on a line."""
_BOUNDS: Final = frozenset({"maximum", "fmax", "clip"})
_DEPTH: Final = 4
"""So many factors, and variables that are set to each other, are looked through."""


def hole(code: spelling.Code, call: ir.Call) -> spelling.Hole | None:
    """The function that gets what is bounded at its edge, if that is what a call is of."""
    edges = lexicon().gradients.edges.get(last_name(call.func))
    bound = spelling.written(code.parts, call.args[0].value) if call.args else None
    if edges is None or len(call.args) != 1:
        return None
    if "1" in edges.split() and _is_cosine(code, bound):
        name = last_name(call.func)
        return spelling.Hole(call.at, name, "", spelling.names_in(call.args[0].value), edge=ANGLE)
    return _bounded(call, bound, {float(edge) for edge in edges.split()}) if type(bound) is ir.Call else None


def _bounded(call: ir.Call, bound: ir.Call, edges: set[float]) -> spelling.Hole | None:
    """The bounds at which a function that a call is of has no derivative, where they are written out."""
    name = last_name(bound.func)
    given = {spelling.number(arg.value) for arg in bound.args if not arg.star}
    operands = spelling.operand_of(bound)
    if name not in _BOUNDS or not edges <= given or not operands or spelling.number(operands[0]) is not None:
        return None
    words, names = spelling.in_words([operands[0]]), spelling.names_in(operands[0])
    return spelling.Hole(call.at, last_name(call.func), words, names, edge=name)


def _is_cosine(code: spelling.Code, node: ir.Node | None) -> bool:
    """Whether an expression is the product of two vectors that are divided by their lengths, by nothing more, before or afterwards."""
    if type(node) is ir.BinOp and node.op == "/":
        return _is_product(spelling.written(code.parts, node.left)) and _is_length(code, node.right)
    if not _is_product(node):
        return False
    sides = [node.left, node.right] if type(node) is ir.BinOp else _factors(node)
    return len(sides) == 2 and all(_is_unit(code, side) for side in sides)


def _is_unit(code: spelling.Code, node: ir.Node) -> bool:
    """Whether a vector is divided by its length, here or by a function that it comes from."""
    made = spelling.written(code.parts, node)
    called = code.called(made) if type(made) is ir.Call else None
    code, made = called if called is not None else (code, made)
    return type(made) is ir.BinOp and made.op == "/" and _is_length(code, made.right)


def _is_product(node: ir.Node | None) -> bool:
    if type(node) is ir.BinOp:
        return node.op == "@"
    return type(node) is ir.Call and len(_factors(node)) == 2


def _factors(call: ir.Node | None) -> list[ir.Node]:
    """What a call multiplies and adds up: ``jnp.dot(a, b)``, ``jnp.sum(a * b, -1)``."""
    if type(call) is not ir.Call or last_name(call.func) not in lexicon().gradients.products:
        return []
    first = next((arg.value for arg in call.args if not arg.name and not arg.star), None)
    if type(first) is ir.BinOp and first.op == "*":
        return [first.left, first.right]
    plain: list[ir.Node] = [arg.value for arg in call.args if not arg.name and not arg.star]
    plain = [node for node in plain if not (type(node) is ir.Const and node.kind == "str")]
    return plain if last_name(call.func) != "sum" else []


def _is_length(code: spelling.Code, node: ir.Node, depth: int = _DEPTH) -> bool:
    """Whether an expression is a length, or a product of lengths, to which nothing is added."""
    written = spelling.written(code.parts, node)
    if not depth or written is None:
        return False
    if type(written) is ir.BinOp:
        sides = [written.left, written.right] if written.op == "*" else []
        return bool(sides) and all(_is_length(code, side, depth - 1) for side in sides)
    if not spelling.is_root(written) or type(written) is not ir.Call:
        return False
    parts = [part for under in spelling.operand_of(written) for part in below(under)]
    return not any(type(part) is ir.BinOp and part.op == "+" for part in parts)
