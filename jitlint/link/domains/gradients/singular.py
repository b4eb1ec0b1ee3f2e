"""What a choice keeps away from the value, but not from the derivative (layer: ``link``, room ``domains``).

What it does: compares what the condition of a choice excludes with what has no derivative there. What it does not: look
at values; conditions and arguments are compared as they are written.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.engine.frame import Frame
from jitlint.link.tables.ir_walk import bound_names, call_at, last_name, path_text, same_text
from jitlint.syntax import ir
from jitlint.syntax.children import below

_MIRRORED: Final = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "!=": "!=", "==": "=="}
_DEPTH: Final = 6
"""So many variables that are set to each other, or conditions in each other, are looked through."""
_ABSOLUTE: Final = frozenset({"abs", "absolute", "fabs", "square"})
_AND: Final = frozenset({"&", "logical_and", "bitwise_and"})
_OR: Final = frozenset({"|", "logical_or", "bitwise_or"})


class Hole(NamedTuple):
    """A place without a derivative. at: of the operation. names: where what its derivative hangs on stands."""

    at: int
    operation: str
    argument: str
    names: tuple[ir.Node, ...]


def hole(f: Frame, at: int) -> Hole | None:
    """What the call of a choice excludes where it has no derivative."""
    if f.fn is None:
        return None
    parts = f.fn.parts
    call = call_at(parts, at)
    if call is None or len(call.args) != 3 or any(arg.name or arg.star for arg in call.args):
        return None
    test, *ways = [arg.value for arg in call.args]
    for side, way in zip((True, False), ways):
        excluded = _excluded_spellings(parts, test, side)
        for found, zeros in _singular(_written(parts, way)) if excluded else ():
            for zero in zeros:
                if any(same_text(zero, other) for other in excluded) and _may_be_zero(parts, zero):
                    return found
    return None


def _excluded_spellings(parts: Sequence[ir.Node], test: ir.Node, side: bool) -> list[ir.Node]:
    return [node for one in _excluded(parts, test, side) for node in _spellings(parts, one)]


def _spellings(parts: Sequence[ir.Node], node: ir.Node) -> Iterator[ir.Node]:
    """A variable, and what it was set to."""
    yield node
    written = _written(parts, node)
    if written is not None and written is not node:
        yield written


def _written(parts: Sequence[ir.Node], node: ir.Node | None) -> ir.Node | None:
    """What a variable was set to, if that was done once; else the expression itself."""
    if type(node) is not ir.Name:
        return node
    values = _assigned(parts, node.id)
    return values[0] if len(values) == 1 and values[0] is not None else node


def _assigned(parts: Sequence[ir.Node], name: str) -> list[ir.Node | None]:
    """What a variable is set to; None for what is not written as one expression."""
    found: list[ir.Node | None] = []
    for node in parts:
        if type(node) is ir.Assign and any(target.id == name for target in bound_names(node.targets)):
            found.append(node.value if any(type(t) is ir.Name for t in node.targets) else None)
        elif isinstance(node, (ir.AugAssign, ir.For, ir.Walrus)) and _binds(node, name):
            found.append(None)
    return found


def _binds(node: ir.AugAssign | ir.For | ir.Walrus, name: str) -> bool:
    target = node.target
    return target == name if isinstance(target, str) else name in [n.id for n in bound_names([target])]


def _excluded(
    parts: Sequence[ir.Node], test: ir.Node | None, side: bool, depth: int = _DEPTH
) -> Iterator[ir.Node]:
    """What is not zero wherever a condition comes out this way."""
    if not depth:
        return
    test = _written(parts, test)
    if type(test) is ir.UnaryOp and test.op == "~":
        yield from _excluded(parts, test.operand, not side, depth - 1)
    elif type(test) is ir.Compare and len(test.ops) == 1 and test.ops[0] in _MIRRORED:
        yield from _unlike_zero(test.left, test.ops[0], test.rights[0], side)
        yield from _unlike_zero(test.rights[0], _MIRRORED[test.ops[0]], test.left, side)
    elif type(test) is ir.Call and last_name(test.func) == "logical_not" and test.args:
        yield from _excluded(parts, test.args[0].value, not side, depth - 1)
    else:
        for operand in _operands(test, _AND if side else _OR):
            yield from _excluded(parts, operand, side, depth - 1)


def _operands(test: ir.Node | None, words: frozenset[str]) -> list[ir.Node]:
    if type(test) is ir.BinOp and test.op in words:
        return [test.left, test.right]
    if type(test) is ir.Call and last_name(test.func) in words:
        return [arg.value for arg in test.args]
    return []


_COMPARE: Final = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def _unlike_zero(node: ir.Node, op: str, other: ir.Node, side: bool) -> Iterator[ir.Node]:
    """What is compared with a number, if zero comes out otherwise; what is equal to a number is not meant."""
    bound = _number(other)
    if bound is None or op == ("==" if side else "!=") or _COMPARE[op](0, bound) is side:
        return
    yield node
    if type(node) is ir.Call and last_name(node.func) in _ABSOLUTE and len(node.args) == 1:
        yield node.args[0].value


def _number(node: ir.Node | None) -> float | None:
    if type(node) is ir.Const and node.kind in ("int", "float") and node.value is not None:
        return float(node.value)
    if type(node) is ir.UnaryOp and node.op == "-":
        inner = _number(node.operand)
        return None if inner is None else -inner
    return None


def _singular(way: ir.Node | None) -> Iterator[tuple[Hole, list[ir.Node]]]:
    """The operations in an expression that have no derivative at zero, with what must not be zero."""
    for node in _computed(way):
        if type(node) is ir.Call and last_name(node.func) in lexicon().gradients.singular and node.args:
            zeros = list(_factors(node.args[0].value))
            found = Hole(node.at, last_name(node.func), _text(zeros), _names(node))
            is_root = last_name(node.func) in lexicon().gradients.roots
            yield found, [*zeros, node] if is_root else zeros
        elif type(node) is ir.BinOp and node.op == "/":
            zeros = list(_factors(node.right))
            yield Hole(node.at, "/", _text(zeros), _names(node)), zeros
        elif type(node) is ir.BinOp and node.op == "**" and _is_steep(_number(node.right)):
            zeros = list(_factors(node.left))
            yield Hole(node.at, "**", _text(zeros), _names(node.left)), zeros


def _is_steep(power: float | None) -> bool:
    """Whether a power of zero, or its derivative, is infinite."""
    return power is not None and power < 1 and power != 0


def _computed(way: ir.Node | None) -> Iterator[ir.Node]:
    """The parts of an expression whose derivative is taken with it."""
    if way is None or isinstance(way, (ir.Lambda, ir.Compare)):
        return
    if type(way) is ir.Call and last_name(way.func) == "stop_gradient":
        return
    yield way
    if type(way) is ir.Call:
        for arg in way.args:
            yield from _computed(arg.value)
    elif isinstance(way, ir.BinOp):
        yield from _computed(way.left)
        yield from _computed(way.right)
    elif type(way) is ir.UnaryOp:
        yield from _computed(way.operand)
    elif type(way) is ir.Sub:
        yield from _computed(way.obj)


def _factors(node: ir.Node) -> Iterator[ir.Node]:
    """What makes an expression zero when it is zero itself."""
    yield node
    if type(node) is ir.BinOp and node.op == "*":
        yield from _factors(node.left)
        yield from _factors(node.right)
    elif type(node) is ir.BinOp and node.op == "**":
        yield from _factors(node.left)
    elif type(node) is ir.UnaryOp:
        yield from _factors(node.operand)
    elif type(node) is ir.Call and last_name(node.func) in _ABSOLUTE and len(node.args) == 1:
        yield from _factors(node.args[0].value)


def _may_be_zero(parts: Sequence[ir.Node], node: ir.Node, depth: int = _DEPTH) -> bool:
    """Whether nothing keeps an expression away from zero: no addend, no `maximum`, no choice."""
    if not depth or any(map(_keeps_away, below(node))):
        return False
    for name in _mentioned(node):
        values = _assigned(parts, name)
        if any(
            value is None or name in _mentioned(value) or not _may_be_zero(parts, value, depth - 1)
            for value in values
        ):
            return False
    return True


def _keeps_away(part: ir.Node) -> bool:
    if type(part) is ir.Call:
        return last_name(part.func) not in lexicon().gradients.keeping_zero
    return isinstance(part, (ir.Lambda, ir.IfExp)) or (type(part) is ir.BinOp and _is_shifted(part))


def _is_shifted(node: ir.BinOp) -> bool:
    return node.op in ("+", "%") and not (_number(node.left) is None and _number(node.right) is None)


def _mentioned(node: ir.Node) -> set[str]:
    return {part.id for part in below(node) if type(part) is ir.Name}


def _names(node: ir.Node) -> tuple[ir.Node, ...]:
    return tuple(part for part in below(node) if isinstance(part, (ir.Name, ir.Attr)))


def _text(zeros: Sequence[ir.Node]) -> str:
    return next((text for text in map(path_text, reversed(zeros)) if text), "")
