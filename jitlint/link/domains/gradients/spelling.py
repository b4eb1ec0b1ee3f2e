"""How the expressions of a function are written out, and which of them may be zero (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.tables.ir_walk import bound_names, last_name, path_text, same_text, written_out
from jitlint.syntax import ir
from jitlint.syntax.children import below

_DEPTH: Final = 6
"""So many variables that are set to each other are looked through."""
ABSOLUTE: Final = frozenset({"abs", "absolute", "fabs", "square"})
"""What is zero where its argument is."""


class Hole(NamedTuple):
    """A place without a derivative. at: of the operation. names: where what its derivative hangs on stands. large: it
    is where these are large, not where they are zero. edge: it is where a bound, the function of this name, keeps them. below: it is
    where they are negative."""

    at: int
    operation: str
    argument: str
    names: tuple[ir.Node, ...]
    large: bool = False
    edge: str = ""
    below: bool = False


class Code(NamedTuple):
    """Whose expressions are read. parts: of a function. called: what a function of the project returns that is called there, and
    its code; None if that is not one expression. constant: the number that a variable stands for, None if that is not known. traced:
    whether a variable stands for traced numbers with a point."""

    parts: Sequence[ir.Node]
    called: Callable[[ir.Call], tuple[Code, ir.Node] | None]
    constant: Callable[[ir.Node], float | None]
    traced: Callable[[ir.Node], bool]


def written(parts: Sequence[ir.Node], node: ir.Node | None) -> ir.Node | None:
    """What a variable was set to, if that was done once, or last of all before; else the expression itself."""
    if type(node) is not ir.Name:
        return node
    values = _reaching(parts, node)[0]
    return values[0] if len(values) == 1 and values[0] is not None else node


def same(parts: Sequence[ir.Node], one: ir.Node, other: ir.Node) -> bool:
    """Whether two expressions of a function are written alike, and their variables mean the same in both."""
    if not same_text(one, other):
        return False
    names = [part for part in below(one) if type(part) is ir.Name]
    others = {part.id: part for part in below(other) if type(part) is ir.Name}
    return all(_reaching(parts, name) == _reaching(parts, others[name.id]) for name in names)


class _Reaching(NamedTuple):
    """What a variable may have been set to. last: it is what the statement did that was the last before."""

    values: list[ir.Node | None]
    last: bool


def _reaching(parts: Sequence[ir.Node], name: ir.Name) -> _Reaching:
    """What a variable was set to before a place, if all statements that set it run one after the other; else all of it."""
    found = _assigned(parts, name.id)
    if not found or _is_nested(parts, [statement for statement, _ in found]):
        return _Reaching([value for _, value in found], False)
    before = [
        value
        for statement, value in found
        if statement.at < name.at and not any(part is name for part in below(statement))
    ]
    return _Reaching(before[-1:], True)


def _is_nested(parts: Sequence[ir.Node], statements: Sequence[ir.Node]) -> bool:
    """Whether some statements stand in others, and so may run never or often."""
    wanted = {id(statement) for statement in statements}
    around = [
        part for part in parts if isinstance(part, (ir.If, ir.For, ir.While, ir.Try, ir.With, ir.Match))
    ]
    return any(id(part) in wanted for node in around for part in below(node))


def _assigned(parts: Sequence[ir.Node], name: str) -> list[tuple[ir.Node, ir.Node | None]]:
    """The statements that set a variable, with what they set it to; None for what is not written as one expression."""
    found: list[tuple[ir.Node, ir.Node | None]] = []
    for node in parts:
        if type(node) is ir.Assign and any(target.id == name for target in bound_names(node.targets)):
            found.append((node, _set_to(node, name)))
        elif isinstance(node, (ir.AugAssign, ir.For, ir.Walrus)) and _binds(node, name):
            found.append((node, None))
    return sorted(found, key=lambda one: one[0].at)


def each_set(parts: Sequence[ir.Node], name: str) -> list[ir.Node]:
    """All that a variable is set to, one after the other, ``x -= y`` as ``x - y``; nothing if it is bound in another way, too."""
    found: list[ir.Node] = []
    for statement, value in _assigned(parts, name):
        if type(statement) is ir.AugAssign:
            value = written_out(statement)
        if value is None:
            return []
        found.append(value)
    return found


def _set_to(node: ir.Assign, name: str) -> ir.Node | None:
    """What a variable is set to; ``b`` of ``x, y = a, b``."""
    if any(type(target) is ir.Name for target in node.targets):
        return node.value
    target, value = node.targets[0], node.value
    if len(node.targets) > 1 or type(target) is not ir.Tuple or type(value) is not ir.Tuple:
        return None
    pairs = list(zip(target.elts, value.elts))
    plain = all(type(one) is ir.Name and type(of) is not ir.Starred for one, of in pairs)
    if not plain or len(target.elts) != len(value.elts):
        return None
    return next(of for one, of in pairs if type(one) is ir.Name and one.id == name)


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
    elif type(node) is ir.BinOp and node.op in ("**", "/"):
        yield from factors(node.left)
    elif type(node) is ir.UnaryOp:
        yield from factors(node.operand)
    elif type(node) is ir.Call and last_name(node.func) in ABSOLUTE and len(node.args) == 1:
        yield from factors(node.args[0].value)


def may_be_zero(code: Code, node: ir.Node, depth: int = _DEPTH) -> bool:
    """Whether nothing keeps an expression away from zero: no addend, no `maximum`, no choice, here or in what is called."""
    parts = _above_the_line(node)
    if not depth or any(_keeps_away(code, part, depth) for part in parts):
        return False
    for name in parts:
        if type(name) is not ir.Name:
            continue
        values, last = _reaching(code.parts, name)
        if any(
            value is None or (not last and _mentions(value, name)) or not may_be_zero(code, value, depth - 1)
            for value in values
        ):
            return False
    return True


def _above_the_line(node: ir.Node) -> list[ir.Node]:
    """The parts of an expression without what it is divided by, which makes nothing zero, and keeps nothing from being so."""
    found = below(node)
    under = {
        id(part) for one in found if type(one) is ir.BinOp and one.op == "/" for part in below(one.right)
    }
    return [part for part in found if id(part) not in under]


def is_arithmetic(parts: Sequence[ir.Node], node: ir.Node, depth: int = _DEPTH) -> bool:
    """Whether an expression is computed from what the function gets by nothing that could bound it, and means the same wherever
    it stands."""
    if not depth or any(
        type(part) is ir.Call and last_name(part.func) not in ABSOLUTE for part in below(node)
    ):
        return False
    if any(isinstance(part, (ir.Lambda, ir.IfExp)) for part in below(node)):
        return False
    return all(_is_set_once(parts, name, depth) for name in _mentioned(node))


def _is_set_once(parts: Sequence[ir.Node], name: ir.Name, depth: int) -> bool:
    """Whether a variable is what the function gets, or one expression that is computed from it."""
    values, last = _reaching(parts, name)
    value = values[0] if values else None
    if not values:
        return True
    if len(values) > 1 or value is None or (not last and _mentions(value, name)):
        return False
    return is_arithmetic(parts, value, depth - 1)


def _keeps_away(code: Code, part: ir.Node, depth: int) -> bool:
    if type(part) is ir.Call:
        if last_name(part.func) in lexicon().gradients.keeping_zero:
            return False
        inner = code.called(part)
        return inner is None or not may_be_zero(*inner, depth - 1)
    return isinstance(part, (ir.Lambda, ir.IfExp)) or (type(part) is ir.BinOp and _is_shifted(part))


def _is_shifted(node: ir.BinOp) -> bool:
    return node.op in ("+", "%") and not (number(node.left) is None and number(node.right) is None)


def _mentioned(node: ir.Node) -> list[ir.Name]:
    return [part for part in below(node) if type(part) is ir.Name]


def _mentions(node: ir.Node, name: ir.Name) -> bool:
    return any(part.id == name.id for part in _mentioned(node))


def names_in(node: ir.Node) -> tuple[ir.Node, ...]:
    """Variables and attributes that an expression mentions."""
    return tuple(part for part in below(node) if isinstance(part, (ir.Name, ir.Attr)))


def in_words(zeros: Sequence[ir.Node]) -> str:
    """The first, from behind, that can be written as a name."""
    return next((text for text in map(path_text, reversed(zeros)) if text), "")


def is_root(node: ir.Node | None) -> bool:
    """Whether an expression is a root or a length: neither the square of one, nor a sum of absolute values."""
    if type(node) is not ir.Call or last_name(node.func) not in lexicon().gradients.roots:
        return False
    given = {arg.name or i: arg.value for i, arg in enumerate(node.args)}
    squared, order = given.get("squared"), given.get("ord", given.get(1))
    whole = squared is not None and not (type(squared) is ir.Const and not squared.value)
    return not whole and number(order) != 1 and last_name(order) != "inf"
