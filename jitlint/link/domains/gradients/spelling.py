"""How the expressions of a function are written out, and which of them may be zero (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.tables.ir_walk import bound_names, last_name, path_text
from jitlint.syntax import ir
from jitlint.syntax.children import below

_DEPTH: Final = 6
"""So many variables that are set to each other are looked through."""
ABSOLUTE: Final = frozenset({"abs", "absolute", "fabs", "square"})
"""What is zero where its argument is."""


class Hole(NamedTuple):
    """A place without a derivative. at: of the operation. names: where what its derivative hangs on stands. large: it
    is where these are large, not where they are zero. edge: it is where a bound, the function of this name, keeps them."""

    at: int
    operation: str
    argument: str
    names: tuple[ir.Node, ...]
    large: bool = False
    edge: str = ""


class Code(NamedTuple):
    """Whose expressions are read. parts: of a function. called: what a function of the project returns that is called there, and
    its code; None if that is not one expression. constant: the number that a variable stands for, None if that is not known."""

    parts: Sequence[ir.Node]
    called: Callable[[ir.Call], tuple[Code, ir.Node] | None]
    constant: Callable[[ir.Node], float | None]


def written(parts: Sequence[ir.Node], node: ir.Node | None) -> ir.Node | None:
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


def number(node: ir.Node | None) -> float | None:
    """The number that an expression is, None if it is none."""
    if type(node) is ir.Const and node.kind in ("int", "float") and node.value is not None:
        return float(node.value)
    if type(node) is ir.UnaryOp and node.op == "-":
        inner = number(node.operand)
        return None if inner is None else -inner
    return None


def operand_of(call: ir.Call) -> list[ir.Node]:
    """What a function of one array is given, or a method is of: ``jnp.sum(x)``, ``x.sum()``."""
    for arg in call.args:
        if not arg.name and not arg.star:
            return [arg.value]
    return [call.func.obj] if type(call.func) is ir.Attr else []


def factors(node: ir.Node) -> Iterator[ir.Node]:
    """What makes an expression zero when it is zero itself."""
    yield node
    if type(node) is ir.BinOp and node.op == "*":
        yield from factors(node.left)
        yield from factors(node.right)
    elif type(node) is ir.BinOp and node.op == "**":
        yield from factors(node.left)
    elif type(node) is ir.UnaryOp:
        yield from factors(node.operand)
    elif type(node) is ir.Call and last_name(node.func) in ABSOLUTE and len(node.args) == 1:
        yield from factors(node.args[0].value)


def may_be_zero(code: Code, node: ir.Node, depth: int = _DEPTH) -> bool:
    """Whether nothing keeps an expression away from zero: no addend, no `maximum`, no choice, here or in what is called."""
    if not depth or any(_keeps_away(code, part, depth) for part in below(node)):
        return False
    for name in _mentioned(node):
        values = _assigned(code.parts, name)
        if any(
            value is None or name in _mentioned(value) or not may_be_zero(code, value, depth - 1)
            for value in values
        ):
            return False
    return True


def is_arithmetic(parts: Sequence[ir.Node], node: ir.Node, depth: int = _DEPTH) -> bool:
    """Whether an expression is computed from what the function gets by nothing that could bound it, and means the same wherever
    it stands."""
    if not depth or any(
        type(part) is ir.Call and last_name(part.func) not in ABSOLUTE for part in below(node)
    ):
        return False
    if any(isinstance(part, (ir.Lambda, ir.IfExp)) for part in below(node)):
        return False
    for name in _mentioned(node):
        values = _assigned(parts, name)
        if len(values) > 1 or any(value is None or name in _mentioned(value) for value in values):
            return False
        if not all(value is not None and is_arithmetic(parts, value, depth - 1) for value in values):
            return False
    return True


def _keeps_away(code: Code, part: ir.Node, depth: int) -> bool:
    if type(part) is ir.Call:
        if last_name(part.func) in lexicon().gradients.keeping_zero:
            return False
        inner = code.called(part)
        return inner is None or not may_be_zero(*inner, depth - 1)
    return isinstance(part, (ir.Lambda, ir.IfExp)) or (type(part) is ir.BinOp and _is_shifted(part))


def _is_shifted(node: ir.BinOp) -> bool:
    return node.op in ("+", "%") and not (number(node.left) is None and number(node.right) is None)


def _mentioned(node: ir.Node) -> set[str]:
    return {part.id for part in below(node) if type(part) is ir.Name}


def names_in(node: ir.Node) -> tuple[ir.Node, ...]:
    """Variables and attributes that an expression mentions."""
    return tuple(part for part in below(node) if isinstance(part, (ir.Name, ir.Attr)))


def in_words(zeros: Sequence[ir.Node]) -> str:
    """The first, from behind, that can be written as a name."""
    return next((text for text in map(path_text, reversed(zeros)) if text), "")
