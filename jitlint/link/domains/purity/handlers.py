"""Exception handlers inside a trace that wait for what only run-time values can cause (layer: ``link``, room ``domains``).

The compiled program raises nothing, and outside of traces the solvers of JAX raise no ``LinAlgError`` either: a division by zero gives ``inf``, an index out of bounds is clamped. What a
broad handler swallows while tracing is recorded where it happens, by `Machine.emit`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import Handler
from jitlint.infer.values import Arr, ExtInst, Func, Tree, Value, alternatives
from jitlint.link.engine import regions, scopes, surroundings
from jitlint.link.engine.events import STAGED_OR_BATCHED, hurt
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import paths
from jitlint.syntax import ir

_NUMERICAL: Final = "LinAlgError"
_BOUNDS: Final = "IndexError"
_DIVISION: Final = frozenset({"/", "//", "%"})


def check(m: Machine, f: Frame, node: ir.Try) -> None:
    """Record the handlers of a ``try`` whose body was just run."""
    for handler in node.handlers:
        names = (
            sorted(lexicon().errors.of_values.intersection(regions.names(handler.type)))
            if handler.type is not None
            else []
        )
        for name in names:
            value = _cause(m, f, name, node.body)
            if value is not None:
                at = handler.type.at if handler.type is not None else handler.at
                m.emit(f, Handler, at, value, Confidence.LIKELY, problem="never", exception=name)
                break


def check_outside(m: Machine, f: Frame, node: ir.Try) -> None:
    """Record what of JAX answers where a handler waits for what NumPy raises, if nothing else there could raise it: a solver with
    NaN, an array with an element at its edge."""
    named = [handler.type for handler in node.handlers if handler.type is not None]
    if any(_BOUNDS in regions.names(name) for name in named):
        for part in _elements(m, f, node.body):
            m.emit(f, Handler, part.at, None, Confidence.CERTAIN, problem="clamped", exception=_BOUNDS)
    if any(_NUMERICAL in regions.names(name) for name in named):
        for call, name in _solvers(m, f, node.body):
            m.emit(
                f, Handler, call.at, None, Confidence.CERTAIN, problem="quiet", exception=_NUMERICAL, callee=name
            )  # fmt: skip


def _elements(m: Machine, f: Frame, body: Sequence[ir.Node]) -> list[ir.Sub]:
    """The elements of arrays of JAX; none where something else is looked up, or called."""
    found: list[ir.Sub] = []
    for part in _expressions(body):
        if type(part) is ir.Call and not paths.dotted(m, f, part.func).startswith(lexicon().errors.harmless):
            return []
        if type(part) is ir.Sub:
            value = paths.peek(m, f, part.obj)
            count = len(part.index.elts) if type(part.index) is ir.Tuple else 1
            if type(value) is not Arr or value.host or value.weak or (value.rank or 0) < count:
                return []
            found.append(part)
    return found


def _solvers(m: Machine, f: Frame, body: Sequence[ir.Node]) -> list[tuple[ir.Call, str]]:
    """The calls of solvers of JAX, and which those are; none where something is called that may raise."""
    found: list[tuple[ir.Call, str]] = []
    words = lexicon().errors
    for part in _expressions(body):
        if type(part) is not ir.Call:
            continue
        name = paths.dotted(m, f, part.func)
        if name.startswith(words.quiet):
            found.append((part, name))
        elif not name.startswith(words.harmless) and (name or not _is_method(m, f, part.func)):
            return []
    return found


def _is_method(m: Machine, f: Frame, func: ir.Node) -> bool:
    """Whether a call is one of something that a library gave: an array, or a logger."""
    owner = paths.peek(m, f, func.obj) if type(func) is ir.Attr else None
    return type(func) is ir.Attr and (
        type(owner) is Arr or type(owner) is ExtInst or type(func.obj) is ir.Call
    )


def _cause(m: Machine, f: Frame, name: str, body: Sequence[ir.Node]) -> Value | None:
    """A traced value in the body that would raise this exception if it were a NumPy array."""
    for part in _expressions(body):
        value: Value | None = None
        if type(part) is ir.Sub and name in ("IndexError", "LookupError"):
            value = _indexed(f, part)
        elif isinstance(part, (ir.BinOp, ir.AugAssign)) and name in (
            "ZeroDivisionError",
            "ArithmeticError",
            "FloatingPointError",
        ):
            value = (
                _traced(f, part.right if isinstance(part, ir.BinOp) else part.value)
                if part.op in _DIVISION
                else None
            )
        elif type(part) is ir.BinOp and name in ("OverflowError", "ArithmeticError") and part.op == "**":
            value = _traced(f, part.left) or _traced(f, part.right)
        elif type(part) is ir.Call:
            value = _called(f, name, part)
        if value is not None:
            return value
    return None


def _expressions(body: Sequence[ir.Node]) -> Iterator[ir.Node]:
    for node in body:
        if isinstance(node, (ir.FuncDef, ir.ClassDef)):
            continue
        if type(node) is ir.AugAssign:
            yield node
        yield from surroundings.expressions(node)


def _indexed(f: Frame, node: ir.Sub) -> Value | None:
    if type(node.index) is ir.Slice or (type(node.index) is ir.Const and node.index.kind == "str"):
        return None
    base = _traced(f, node.obj)
    index = _traced(f, node.index)
    if type(base) is Tree and base.evidence != "array" and index is None:
        return None
    return base if index is None else index


def _called(f: Frame, name: str, node: ir.Call) -> Value | None:
    """A call that computes on traced values: the exception would come out of it."""
    arguments = [_traced(f, arg.value) for arg in node.args]
    value = next((a for a in arguments if a is not None), None)
    if value is None:
        return None
    if name == "LinAlgError" or name == "FloatingPointError":
        return value
    callee = scopes.lookup(f, node.func.id) if type(node.func) is ir.Name else None
    for alt in alternatives(callee) if callee is not None else ():
        if type(alt) is Func and _may_raise(name, alt):
            return value
    return None


def _may_raise(name: str, func: Func) -> bool:
    """Whether the function itself divides, or indexes with something that is not constant."""
    for part in _expressions(func.fn.body):
        if name in ("IndexError", "LookupError"):
            if type(part) is ir.Sub and isinstance(part.index, (ir.Name, ir.BinOp)):
                return True
        elif isinstance(part, (ir.BinOp, ir.AugAssign)) and part.op in _DIVISION:
            return True
    return False


def _traced(f: Frame, node: ir.Node | None) -> Value | None:
    """A tracer that an expression computes with, as far as its names tell."""
    if type(node) is ir.Name:
        value = scopes.lookup(f, node.id)
        return hurt(value, STAGED_OR_BATCHED) if value is not None else None
    if type(node) is ir.Call:
        return _traced_in_call(f, node)
    if type(node) is ir.Attr:
        return None if node.name in lexicon().errors.static_attributes else _traced(f, node.obj)
    if type(node) is ir.Sub:
        return _traced(f, node.obj)
    if type(node) is ir.BinOp:
        return _traced(f, node.left) or _traced(f, node.right)
    return _traced(f, node.operand) if type(node) is ir.UnaryOp else None


def _traced_in_call(f: Frame, node: ir.Call) -> Value | None:
    if type(node.func) is ir.Name and node.func.id in lexicon().errors.static_calls:
        return None
    parts = [_traced(f, arg.value) for arg in node.args]
    if type(node.func) is ir.Attr:
        parts.append(_traced(f, node.func.obj))
    return next((p for p in parts if p is not None), None)
