"""Operators of `jax.lax.associative_scan` that are not associative (layer: ``link``, room ``domains``).

The scan combines what lies side by side in any grouping. What it does: computes the operator with numbers, ``f(f(a, b), c)`` and
``f(a, f(b, c))``, where it is arithmetic that is written out, in it or in functions of the project that it calls. What it does not: guess; an operator with matrices, branches or
functions that are not known here is left alone, and so is one that fails for some numbers only.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from jitlint.infer.events import UnevenGrouping
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Func, Py, Xform
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import by_parameter
from jitlint.link.values import paths
from jitlint.syntax import ir

SCAN: Final = "jax.lax.associative_scan"
_MAPPED: Final = "jax.vmap"

Number = float | bool
Element = Number | tuple[Number, ...]
"""What the operator combines: one number, or several side by side."""

_BINARY: Final[Mapping[str, Callable[[Number, Number], Number]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_FUNCTIONS: Final[Mapping[str, Callable[..., Number]]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "maximum": max,
    "minimum": min,
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "square": lambda x: x * x,
    "abs": abs,
    "where": lambda test, yes, no: yes if test else no,
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_and": lambda a, b: bool(a) and bool(b),
}
_NAMESPACE: Final = "jax.numpy."
_ANY: Final = (0.37, 1.23, 0.71, 1.61, 0.53, 1.07, 0.89, 1.39, 0.61)
"""Numbers of no particular kind."""
_WIDEST: Final = 3
"""So many numbers side by side are tried."""
_TOLERANCE: Final = 1e-6
_DEPTH: Final = 4
"""Functions that call each other are followed so far."""


class _Unknown(Exception):
    """The operator does something that is not computed here."""


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A scan gets its operator."""
    func = library.args.get(0, "fn")
    while type(func) is Xform and func.spec.name == _MAPPED and not func.options:
        func = func.target
    params = func.fn.node.params if type(func) is Func else []
    if type(func) is not Func or [param.kind in ("any", "pos") for param in params] != [True, True]:
        return
    inside = Frame(func.fn.module, func.scope, HOST)
    width = _width(m, inside, func.fn, {param.name for param in params})

    def combined(one: Element, other: Element) -> Element:
        return _run(m, inside, func.fn, dict(zip((param.name for param in params), (one, other))))

    if not 0 <= width <= _WIDEST:
        return
    try:
        odd = _first_odd(combined, _elements(_ANY, width))
        found = odd and next(filter(None, (_first_odd(combined, three) for three in _flags(width))), None)
    except (_Unknown, ArithmeticError, ValueError, TypeError):
        return
    if found:
        m.emit(f, UnevenGrouping, library.at, api=SCAN, counterexample=found)


def _elements(numbers: Sequence[Number], width: int) -> list[Element]:
    """Three elements of so many numbers, or of one."""
    if not width:
        return list(numbers[:3])
    return [tuple(numbers[i * width : (i + 1) * width]) for i in range(3)]


def _flags(width: int) -> list[list[Element]]:
    """All threes of elements of zeros and ones, which may stand for flags."""
    return [_elements(bits, width) for bits in itertools.product((0.0, 1.0), repeat=3 * max(width, 1))]


def _first_odd(combined: Callable[[Element, Element], Element], three: list[Element]) -> str:
    """What three elements come to in one grouping and in the other, in words; "" if that is the same."""
    a, b, c = three
    left, right = combined(combined(a, b), c), combined(a, combined(b, c))
    pairs = zip(_numbers(left), _numbers(right), strict=True)
    if all(math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE) for one, other in pairs):
        return ""
    return f"{_shown(a)}, {_shown(b)} and {_shown(c)} come to {_shown(left)} or to {_shown(right)}"


def _numbers(element: Element) -> tuple[Number, ...]:
    return element if isinstance(element, tuple) else (element,)


def _shown(element: Element) -> str:
    if isinstance(element, tuple):
        return f"({', '.join(map(_shown, element))})"
    return f"{float(element):.4g}"


def _width(m: Machine, f: Frame, fn: FuncInfo, names: Container[str]) -> int:
    """How many numbers an element has, as a function takes one apart, or one that it hands it to; 0 if none does, -1 if that is not
    known. names: of the parameters that are elements."""
    found = {width for part in fn.parts for width in _widths(m, f, part, names)}
    return 0 if not found else found.pop() if len(found) == 1 else -1


def _widths(m: Machine, f: Frame, part: ir.Node, names: Container[str]) -> Iterator[int]:
    """How many numbers an element has by what a part of a function does with it."""
    if type(part) is ir.Sub and _is_one_of(part.obj, names):
        yield -1
    called = _called(m, f, part) if type(part) is ir.Call else None
    if called is not None:
        handed = {name for name, node in called.given if _is_one_of(node, names)}
        inner = _width(m, called.frame, called.fn, handed)
        yield from [inner] if inner else []
    for target, value in _bindings(part) if type(part) is ir.Assign else ():
        if _is_one_of(value, names):
            yield len(target.elts) if type(target) is ir.Tuple else -1


def _is_one_of(node: ir.Node, names: Container[str]) -> bool:
    return type(node) is ir.Name and node.id in names


class _Called(NamedTuple):
    """A function of the project that is called. given: its parameters, each with what is written for it, in the frame that it is
    written in."""

    fn: FuncInfo
    frame: Frame
    given: list[tuple[str, ir.Node]]


def _called(m: Machine, f: Frame, call: ir.Call) -> _Called | None:
    """The function that a call means, if each of its parameters is given once, and by the call."""
    func = paths.peek(m, f, call.func) if type(call.func) is ir.Name else None
    if type(func) is not Func or func.fn.resigned or func.fn.node.is_generator or f.depth >= _DEPTH:
        return None
    params = func.fn.node.params
    if any(arg.star for arg in call.args) or any(param.kind in ("var", "kwvar") for param in params):
        return None
    given = list(by_parameter(call, params))
    if sorted(name for name, _ in given) != sorted(param.name for param in params):
        return None
    return _Called(func.fn, Frame(func.fn.module, func.scope, HOST, depth=f.depth + 1), [*given])


def _bindings(statement: ir.Assign) -> Iterator[tuple[ir.Node, ir.Node]]:
    """What an assignment binds, and to what: side by side, ``(a, b), (c, d) = left, right``."""
    value = statement.value
    for target in statement.targets:
        if type(target) is ir.Tuple and type(value) is ir.Tuple and len(target.elts) == len(value.elts):
            yield from zip(target.elts, value.elts)
        else:
            yield target, value


def _run(m: Machine, f: Frame, fn: FuncInfo, known: dict[str, Element]) -> Element:
    """What a function gives that only computes."""
    for statement in fn.body:
        if type(statement) is ir.Return and statement.value is not None:
            return _value(m, f, statement.value, known)
        if type(statement) is ir.ExprStmt and type(statement.value) is ir.Const:
            continue  # words about it
        if type(statement) is not ir.Assign:
            raise _Unknown
        found = [(target, _value(m, f, value, known)) for target, value in _bindings(statement)]
        for target, value in found:
            known.update(_bound(target, value))
    raise _Unknown


def _bound(target: ir.Node, value: Element) -> Iterator[tuple[str, Element]]:
    """The variables of a target, with what they get."""
    if type(target) is ir.Name:
        yield target.id, value
    elif type(target) is ir.Tuple and isinstance(value, tuple) and len(value) == len(target.elts):
        for part, number in zip(target.elts, value):
            yield from _bound(part, number)
    else:
        raise _Unknown


def _value(m: Machine, f: Frame, node: ir.Node, known: Mapping[str, Element]) -> Element:
    if type(node) is ir.Tuple:
        return tuple([_number(m, f, part, known) for part in node.elts])
    if type(node) is ir.Name and node.id in known:
        return known[node.id]
    if type(node) is ir.Call:
        return _answer(m, f, node, known)
    return _number(m, f, node, known)


def _number(m: Machine, f: Frame, node: ir.Node, known: Mapping[str, Element]) -> Number:
    if type(node) is ir.BinOp and node.op in _BINARY:
        return _BINARY[node.op](_number(m, f, node.left, known), _number(m, f, node.right, known))
    if type(node) is ir.UnaryOp and node.op == "-":
        return -_number(m, f, node.operand, known)
    found = known.get(node.id) if type(node) is ir.Name else None
    if type(node) is ir.Call:
        found = _answer(m, f, node, known)
    elif found is None:
        found = _constant(m, f, node)
    if isinstance(found, tuple):
        raise _Unknown
    return found


def _answer(m: Machine, f: Frame, call: ir.Call, known: Mapping[str, Element]) -> Element:
    """What a function gives: one of a library that is known here, or one of the project."""
    called = _called(m, f, call)
    if called is not None:
        given = {name: _value(m, f, value, known) for name, value in called.given}
        return _run(m, called.frame, called.fn, given)
    name = paths.dotted(m, f, call.func)
    function = _FUNCTIONS.get(name.removeprefix(_NAMESPACE)) if name.startswith(_NAMESPACE) else None
    if function is None or any(arg.name is not None or arg.star for arg in call.args):
        raise _Unknown
    return function(*[_number(m, f, arg.value, known) for arg in call.args])


def _constant(m: Machine, f: Frame, node: ir.Node) -> Number:
    """A number that is written down, or that a variable from outside has."""
    if type(node) is ir.Const and isinstance(node.value, (int, float)):
        return node.value
    value = paths.peek(m, f, node) if isinstance(node, (ir.Name, ir.Attr)) else None
    if type(value) is Py and isinstance(value.const, (int, float)):
        return value.const
    raise _Unknown
