"""What a choice keeps away from the value, but not from the derivative (layer: ``link``, room ``domains``).

What it does: compares what the condition of a choice excludes with what has no derivative there. What it does not: look
at values; conditions and arguments are compared as they are spelling.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.domains.gradients import spelling
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import ir
from jitlint.syntax.children import below

CONDITION: Final = "where"
"""The argument of a reduction that says which numbers it puts together."""
_MIRRORED: Final = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "!=": "!=", "==": "=="}
_DEPTH: Final = 6
"""So many conditions in each other are looked through."""
_AND: Final = frozenset({"&", "logical_and", "bitwise_and"})
_OR: Final = frozenset({"|", "logical_or", "bitwise_or"})


def hole(code: spelling.Code, call: ir.Call) -> spelling.Hole | None:
    """What the call of a choice excludes where it has no derivative."""
    parts = code.parts
    for test, side, way in sides(call):
        excluded, written = _excluded_spellings(code, test, side), spelling.written(parts, way)
        for found, zeros in _singular(parts, written) if excluded else ():
            for zero in zeros:
                if any(spelling.same(parts, zero, other) for other in excluded) and spelling.may_be_zero(
                    code, zero
                ):
                    return found._replace(names=(*found.names, *_multiplied(written, found)))
    return None


def _multiplied(way: ir.Node | None, found: spelling.Hole) -> Iterator[ir.Node]:
    """What the result of an operation is multiplied with: where that is infinite, so is the derivative by this."""
    if found.operation in lexicon().gradients.roots:
        return
    for part in computed(way):
        if type(part) is ir.BinOp and part.op in ("*", "/"):
            for side, other in ((part.left, part.right), (part.right, part.left)):
                if any(one.at == found.at and isinstance(one, (ir.Call, ir.BinOp)) for one in below(side)):
                    yield from spelling.names_in(other)


def sides(call: ir.Call) -> Iterator[tuple[ir.Node, bool, ir.Node]]:
    """The condition of a choice, and what is chosen if it comes out one way or the other: ``where(test, one, other)``,
    ``sum(one, where=test)``, ``one.sum(where=test)``."""
    condition = next((arg.value for arg in call.args if arg.name == CONDITION), None)
    if condition is not None:
        given = [arg.value for arg in call.args[:1] if not arg.name and not arg.star]
        receiver = [call.func.obj] if type(call.func) is ir.Attr else []
        yield from ((condition, True, way) for way in given + receiver)
    elif len(call.args) == 3 and not any(arg.name or arg.star for arg in call.args):
        test, one, other = [arg.value for arg in call.args]
        yield test, True, one
        yield test, False, other


def _excluded_spellings(code: spelling.Code, test: ir.Node, side: bool) -> list[ir.Node]:
    found = [_unlike_zero(code, *comparison) for comparison in comparisons(code.parts, test, side)]
    return [node for nodes in found for one in nodes for node in spellings(code.parts, one)]


def spellings(parts: Sequence[ir.Node], node: ir.Node) -> Iterator[ir.Node]:
    """A variable, and what it was set to."""
    yield node
    written = spelling.written(parts, node)
    if written is not None and written is not node:
        yield written


def comparisons(
    parts: Sequence[ir.Node], test: ir.Node | None, side: bool, depth: int = _DEPTH
) -> Iterator[tuple[ir.Node, str, ir.Node, bool]]:
    """What is certainly compared, and how that comes out, wherever a condition comes out this way; from both its sides."""
    if not depth:
        return
    test = spelling.written(parts, test)
    if type(test) is ir.UnaryOp and test.op == "~":
        yield from comparisons(parts, test.operand, not side, depth - 1)
    elif type(test) is ir.Compare and len(test.ops) == 1 and test.ops[0] in _MIRRORED:
        yield test.left, test.ops[0], test.rights[0], side
        yield test.rights[0], _MIRRORED[test.ops[0]], test.left, side
    elif type(test) is ir.Call and last_name(test.func) == "logical_not" and test.args:
        yield from comparisons(parts, test.args[0].value, not side, depth - 1)
    else:
        for operand in _operands(test, _AND if side else _OR):
            yield from comparisons(parts, operand, side, depth - 1)


def _operands(test: ir.Node | None, words: frozenset[str]) -> list[ir.Node]:
    if type(test) is ir.BinOp and test.op in words:
        return [test.left, test.right]
    if type(test) is not ir.Call:
        return []
    if last_name(test.func) == ("all" if words is _AND else "any"):
        return spelling.operand_of(test)
    return [arg.value for arg in test.args] if last_name(test.func) in words else []


_COMPARE: Final = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def _unlike_zero(
    code: spelling.Code, node: ir.Node, op: str, other: ir.Node, side: bool
) -> Iterator[ir.Node]:
    """What is compared with a number, if zero comes out otherwise; what is equal to a number is not meant."""
    bound = spelling.number(other)
    bound = code.constant(other) if bound is None else bound
    if bound is None or op == ("==" if side else "!=") or _COMPARE[op](0, bound) is side:
        return
    yield node
    if type(node) is ir.Call and last_name(node.func) in spelling.ABSOLUTE and len(node.args) == 1:
        yield node.args[0].value


def _zeros(parts: Sequence[ir.Node], node: ir.Node) -> list[ir.Node]:
    """What makes an expression zero when it is zero itself, under roots as well."""
    found = list(spelling.factors(node))
    for one in tuple(found):
        root = spelling.written(parts, one)
        if type(root) is ir.Call and spelling.is_root(root) and root.args:
            found += spelling.factors(root.args[0].value)
    return found


def _singular(parts: Sequence[ir.Node], way: ir.Node | None) -> Iterator[tuple[spelling.Hole, list[ir.Node]]]:
    """The operations in an expression that have no derivative at zero, with what must not be zero."""
    for node in computed(way):
        if type(node) is ir.Call and _is_singular(node) and node.args:
            zeros = _zeros(parts, node.args[0].value)
            found = spelling.Hole(
                node.at, last_name(node.func), spelling.in_words(zeros), spelling.names_in(node)
            )
            yield found, [*zeros, node] if spelling.is_root(node) else zeros
        elif type(node) is ir.BinOp and node.op == "/":
            zeros = _zeros(parts, node.right)
            yield spelling.Hole(node.at, "/", spelling.in_words(zeros), spelling.names_in(node)), zeros
        elif type(node) is ir.BinOp and node.op == "**" and _is_steep(spelling.number(node.right)):
            zeros = list(spelling.factors(node.left))
            yield spelling.Hole(node.at, "**", spelling.in_words(zeros), spelling.names_in(node.left)), zeros


def _is_singular(node: ir.Call) -> bool:
    """Whether a function has no derivative at zero."""
    name = last_name(node.func)
    return name in lexicon().gradients.singular and (
        name not in lexicon().gradients.roots or spelling.is_root(node)
    )


def _is_steep(power: float | None) -> bool:
    """Whether a power of zero, or its derivative, is infinite."""
    return power is not None and power < 1 and power != 0


def computed(way: ir.Node | None) -> Iterator[ir.Node]:
    """The parts of an expression whose derivative is taken with it."""
    if way is None or isinstance(way, (ir.Lambda, ir.Compare)):
        return
    if type(way) is ir.Call and last_name(way.func) == "stop_gradient":
        return
    yield way
    if type(way) is ir.Call:
        receiver = [way.func.obj] if type(way.func) is ir.Attr else []
        for part in (*receiver, *[arg.value for arg in way.args]):
            yield from computed(part)
    elif isinstance(way, ir.BinOp):
        yield from computed(way.left)
        yield from computed(way.right)
    elif type(way) is ir.UnaryOp:
        yield from computed(way.operand)
    elif type(way) is ir.Sub:
        yield from computed(way.obj)
