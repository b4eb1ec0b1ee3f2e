"""Expressions: nodes of Python's `ast` to IR.

What it does: one function per class of expression, reached through the table `EXPR` by exact type; parameters,
annotations (also those written as strings) and lambdas.
What it does not: statements (`statements`), parsing (`lowering`). Layer: ``syntax``.

Each function takes its origins in the order in which `jitlint.syntax.concrete` takes them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from typing import Any

from jitlint.syntax import ir
from jitlint.syntax.guard import guard, python_expression
from jitlint.syntax.literals import MAX_ANNOTATION, SURROGATE, is_small
from jitlint.syntax.scopes import Lowering

ExprHandler = Callable[[Any, Lowering], ir.Expr]

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_COMPARE = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.In: "in",
    ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_COMPREHENSIONS = {
    ast.ListComp: "list",
    ast.SetComp: "set",
    ast.DictComp: "dict",
    ast.GeneratorExp: "generator",
}
_KINDS = {bool: "bool", int: "int", float: "float", complex: "complex", bytes: "bytes", type(...): "ellipsis"}


def lower_expr(n: Any, s: Lowering) -> ir.Expr:
    """Lower one expression. Raises KeyError with the class of a node that this version of Python is the first to have."""
    return EXPR[type(n)](n, s)


def binary_operator(n: Any) -> str:
    """The text of a binary operator."""
    return _BINARY[type(n)]


def _name(n: ast.Name, s: Lowering) -> ir.Expr:
    return ir.Name(s.origin(n), n.id)


def _constant(n: ast.Constant, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    value: Any = n.value
    if type(value) is str:
        return ir.Const(at, "str", None if SURROGATE.search(value) else value)
    if value is None:
        return ir.Const(at, "none", None)
    kind = _KINDS[type(value)]
    known = type(value) in (bool, float) or (type(value) is int and is_small(value))
    return ir.Const(at, kind, value if known else None)


def _attribute(n: ast.Attribute, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    obj = n.value
    return ir.Attr(at, EXPR[type(obj)](obj, s), n.attr)


def _call(n: ast.Call, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    func = n.func
    lowered = EXPR[type(func)](func, s)
    given: list[Any] = [*n.args, *n.keywords]
    if n.keywords and any(type(arg) is ast.Starred for arg in n.args):
        given.sort(key=_place)  # ``f(k=1, *rest)``: as they are evaluated
    return ir.Call(at, lowered, lower_args(given, s))


def _place(n: Any) -> tuple[int, int]:
    return n.lineno, n.col_offset


def lower_args(args: Iterable[Any], s: Lowering) -> list[ir.Arg]:
    """Arguments of a call or of a class statement."""
    out = []
    for arg in args:
        kind = type(arg)
        if kind is ast.keyword:
            value = arg.value
            out.append(ir.Arg(EXPR[type(value)](value, s), arg.arg, 2 if arg.arg is None else 0))
        elif kind is ast.Starred:
            value = arg.value
            out.append(ir.Arg(EXPR[type(value)](value, s), None, 1))
        else:
            out.append(ir.Arg(EXPR[kind](arg, s)))
    return out


def _subscript(n: ast.Subscript, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    obj, index = n.value, n.slice
    lowered = EXPR[type(obj)](obj, s)
    return ir.Sub(at, lowered, EXPR[type(index)](index, s))


def _slice(n: ast.Slice, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    return ir.Slice(at, lower_optional(n.lower, s), lower_optional(n.upper, s), lower_optional(n.step, s))


def lower_optional(n: Any, s: Lowering) -> ir.Expr | None:
    """Lower an expression that may be missing."""
    return None if n is None else EXPR[type(n)](n, s)


def _binary(n: ast.BinOp, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    left, right = n.left, n.right
    lowered = EXPR[type(left)](left, s)
    return ir.BinOp(at, _BINARY[type(n.op)], lowered, EXPR[type(right)](right, s))


def _boolean(n: ast.BoolOp, s: Lowering) -> ir.Expr:
    # ``a and b and c`` is one node here and two in the IR, the outer one first.
    operator = "and" if type(n.op) is ast.And else "or"
    first, *rest = n.values
    origins = [s.origin(n if value is rest[-1] else None) for value in reversed(rest)]
    lowered = EXPR[type(first)](first, s)
    for value in rest:
        lowered = ir.BoolOp(origins.pop(), operator, lowered, EXPR[type(value)](value, s))
    return lowered


def _unary(n: ast.UnaryOp, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    return ir.UnaryOp(at, _UNARY[type(n.op)], EXPR[type(n.operand)](n.operand, s))


def _comparison(n: ast.Compare, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    left = EXPR[type(n.left)](n.left, s)
    return ir.Compare(at, left, [_COMPARE[type(op)] for op in n.ops], _several(n.comparators, s))


def _conditional(n: ast.IfExp, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    test, body, orelse = n.test, n.body, n.orelse
    lowered = EXPR[type(test)](test, s)
    return ir.IfExp(at, lowered, EXPR[type(body)](body, s), EXPR[type(orelse)](orelse, s))


def _several(nodes: Iterable[Any], s: Lowering) -> list[ir.Expr]:
    return [EXPR[type(n)](n, s) for n in nodes]


def _tuple(n: ast.Tuple, s: Lowering) -> ir.Expr:
    return ir.Tuple(s.origin(n), _several(n.elts, s))


def _list(n: ast.List, s: Lowering) -> ir.Expr:
    return ir.List(s.origin(n), _several(n.elts, s))


def _set(n: ast.Set, s: Lowering) -> ir.Expr:
    return ir.Set(s.origin(n), _several(n.elts, s))


def _dict(n: ast.Dict, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    keys: list[ir.Expr | None] = []
    values = []
    for key, value in zip(n.keys, n.values):
        keys.append(lower_optional(key, s))
        values.append(EXPR[type(value)](value, s))
    return ir.Dict(at, keys, values)


def _starred(n: ast.Starred, s: Lowering) -> ir.Expr:
    return ir.Starred(s.origin(n), EXPR[type(n.value)](n.value, s))


def _comprehension(n: Any, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    kind = type(n)
    prefix = s.prefix
    # As from Python 3.12 on, where only generator expressions are still functions of their own.
    inner = prefix + "<genexpr>." if kind is ast.GeneratorExp else prefix
    fors = []
    for clause in n.generators:
        source, target = clause.iter, clause.target
        iterable = EXPR[type(source)](source, s)
        s.prefix = inner  # only the first iterable is evaluated outside the comprehension
        lowered = EXPR[type(target)](target, s)  # not a local of the function: nothing to bind
        fors.append(ir.CompFor(lowered, iterable, _several(clause.ifs, s)))
    first = n.key if kind is ast.DictComp else n.elt
    elt = EXPR[type(first)](first, s)
    value = EXPR[type(n.value)](n.value, s) if kind is ast.DictComp else None
    s.prefix = prefix
    return ir.Comp(at, _COMPREHENSIONS[kind], elt, value, fors)


def _fstring(n: ast.JoinedStr, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    parts = _fields(n.values, s)
    if sys.version_info < (3, 12):  # positions inside f-strings are wrong there
        s.nodes[at + 1 :] = [None] * (len(s.nodes) - at - 1)
    return ir.Fstr(at, parts)


def _fields(parts: Iterable[Any], s: Lowering) -> list[ir.FmtPart]:
    """The replacement fields among the parts of an f-string; its literal text is dropped."""
    out = []
    for part in parts:
        if type(part) is not ast.FormattedValue:
            continue
        value = EXPR[type(part.value)](part.value, s)
        conversion = None if part.conversion < 0 else chr(part.conversion)
        spec: Any = part.format_spec
        if spec is not None and spec.values:
            out.append(ir.FmtPart(value, True, conversion, _fields(spec.values, s)))
        else:
            out.append(ir.FmtPart(value, False, conversion))
    return out


def _tstring(n: Any, s: Lowering) -> ir.Expr:
    # A template string evaluates its fields but formats nothing: no conversion, no spec.
    at = s.origin(n)
    return ir.Fstr(
        at, [ir.FmtPart(lower_expr(part.value, s)) for part in n.values if hasattr(part, "conversion")]
    )


def _await(n: ast.Await, s: Lowering) -> ir.Expr:
    return ir.Await(s.origin(n), EXPR[type(n.value)](n.value, s))


def _yield(n: ast.Yield, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    s.has_yield = True
    return ir.Yield(at, lower_optional(n.value, s))


def _yield_from(n: ast.YieldFrom, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    s.has_yield = True
    return ir.Yield(at, EXPR[type(n.value)](n.value, s), True)


def _walrus(n: ast.NamedExpr, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    value = EXPR[type(n.value)](n.value, s)
    s.bound[n.target.id] = None
    return ir.Walrus(at, n.target.id, value)


def _lambda(n: ast.Lambda, s: Lowering) -> ir.Expr:
    return s.add_lambda(n, lambda: lower_params(n.args, s), lambda: EXPR[type(n.body)](n.body, s))


def lower_params(n: ast.arguments, s: Lowering) -> list[ir.Param]:
    """Parameters in the order of the signature; defaults and annotations belong to the open scope."""
    plain = [*((param, "pos") for param in n.posonlyargs), *((param, "any") for param in n.args)]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(n.defaults)) + list(n.defaults)
    out = [_param(param, kind, default, s) for (param, kind), default in zip(plain, defaults)]
    if n.vararg is not None:
        out.append(_param(n.vararg, "var", None, s))
    for param, default in zip(n.kwonlyargs, n.kw_defaults):
        out.append(_param(param, "kwonly", default, s))
    if n.kwarg is not None:
        out.append(_param(n.kwarg, "kwvar", None, s))
    return out


def _param(n: ast.arg, kind: str, default: ast.expr | None, s: Lowering) -> ir.Param:
    at = s.origin(n)
    annotation = None if n.annotation is None else lower_annotation(n.annotation, s)
    return ir.Param(at, n.arg, kind, lower_optional(default, s), annotation)


def lower_annotation(n: ast.expr, s: Lowering) -> ir.Expr:
    """An annotation. A string is parsed; if it is no expression, it stays a string."""
    if type(n) is not ast.Constant or type(n.value) is not str:
        return EXPR[type(n)](n, s)
    text = n.value.strip()
    inner = None
    if len(n.value) <= MAX_ANNOTATION and guard(text) is None:
        inner = python_expression(text)
    return _constant(n, s) if inner is None else s.quote(n, lambda: EXPR[type(inner)](inner, s))


EXPR: dict[type, ExprHandler] = {
    ast.Name: _name, ast.Constant: _constant, ast.Attribute: _attribute, ast.Call: _call,
    ast.Subscript: _subscript, ast.Slice: _slice, ast.BinOp: _binary, ast.BoolOp: _boolean, ast.UnaryOp: _unary,
    ast.Compare: _comparison, ast.IfExp: _conditional, ast.Tuple: _tuple, ast.List: _list, ast.Set: _set,
    ast.Dict: _dict, ast.Starred: _starred, ast.ListComp: _comprehension, ast.SetComp: _comprehension,
    ast.DictComp: _comprehension, ast.GeneratorExp: _comprehension, ast.JoinedStr: _fstring, ast.Await: _await,
    ast.Yield: _yield, ast.YieldFrom: _yield_from, ast.NamedExpr: _walrus, ast.Lambda: _lambda,
}  # fmt: skip
if (template := getattr(ast, "TemplateStr", None)) is not None:  # Python 3.14
    EXPR[template] = _tstring
