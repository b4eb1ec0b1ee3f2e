"""Expressions: libcst nodes to IR.

What it does: one function per libcst expression class, reached through the table `EXPR` by exact type.
What it does not: lambdas and signatures (`signatures`), statements (`statements`), parsing. Layer: ``syntax``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from jitlint.syntax import ir
from jitlint.syntax.literals import MANY_STRINGS, float_value, int_value, string_value
from jitlint.syntax.scopes import Lowering

ExprHandler = Callable[[Any, Lowering], ir.Expr]

# libcst class -> handler. Filled below; statements look expressions up here too.
EXPR: dict[type, ExprHandler] = {}

# Names that are constants: kind and value.
SINGLETONS: dict[str, tuple[str, bool | None]] = {
    "None": ("none", None),
    "True": ("bool", True),
    "False": ("bool", False),
}

BINARY = {
    cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.Divide: "/", cst.FloorDivide: "//",
    cst.Modulo: "%", cst.Power: "**", cst.MatrixMultiply: "@", cst.BitAnd: "&", cst.BitOr: "|",
    cst.BitXor: "^", cst.LeftShift: "<<", cst.RightShift: ">>",
}  # fmt: skip
_UNARY = {cst.Minus: "-", cst.Plus: "+", cst.BitInvert: "~", cst.Not: "not"}
_COMPARE = {
    cst.LessThan: "<", cst.LessThanEqual: "<=", cst.GreaterThan: ">", cst.GreaterThanEqual: ">=",
    cst.Equal: "==", cst.NotEqual: "!=", cst.In: "in", cst.NotIn: "not in", cst.Is: "is",
    cst.IsNot: "is not",
}  # fmt: skip


def _name(n: cst.Name, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    value = n.value
    if value in SINGLETONS:
        kind, const = SINGLETONS[value]
        return ir.Const(at, kind, const)
    return ir.Name(at, value)


def _integer(n: cst.Integer, s: Lowering) -> ir.Expr:
    return ir.Const(s.origin(n), "int", int_value(n.value))


def _float(n: cst.Float, s: Lowering) -> ir.Expr:
    return ir.Const(s.origin(n), "float", float_value(n.value))


def _imaginary(n: cst.Imaginary, s: Lowering) -> ir.Expr:
    return ir.Const(s.origin(n), "complex", None)


def _ellipsis(n: cst.Ellipsis, s: Lowering) -> ir.Expr:
    return ir.Const(s.origin(n), "ellipsis", None)


def string(n: cst.SimpleString, s: Lowering) -> ir.Expr:
    """A string or bytes literal."""
    at = s.origin(n)
    return ir.Const(at, *string_value(n.value))


def _concatenated(n: cst.ConcatenatedString, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    pieces: list[Any] = []
    piece: Any = n
    while type(piece) is cst.ConcatenatedString:  # nested to the right, possibly hundreds deep
        pieces.append(piece.left)
        piece = piece.right
    pieces.append(piece)
    texts: list[str | None] = []
    parts: list[ir.FmtPart] = []
    plain = True
    kind = "str"
    for piece in pieces:
        if type(piece) is cst.SimpleString:
            kind, value = string_value(piece.value)
            texts.append(value)
        else:
            plain = False
            parts += _parts(piece.parts, s)
    if not plain:
        return ir.Fstr(at, parts)
    known = [text for text in texts if text is not None]
    whole = len(known) == len(texts) < MANY_STRINGS  # of more, the parser may not have seen all
    return ir.Const(at, kind, "".join(known) if whole else None)


def _fstring(n: cst.FormattedString, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    return ir.Fstr(at, _parts(n.parts, s))


def _parts(parts: Any, s: Lowering) -> list[ir.FmtPart]:
    """The replacement fields among the parts of an f-string; its literal text is dropped."""
    out = []
    for part in parts:
        if type(part) is not cst.FormattedStringExpression:
            continue
        value = part.expression
        lowered = EXPR[type(value)](value, s)
        conversion = part.conversion
        spec = part.format_spec
        if spec:
            out.append(ir.FmtPart(lowered, True, conversion, _parts(spec, s)))
        elif conversion is None and part.equal is not None and spec is None:
            out.append(ir.FmtPart(lowered, False, "r"))  # f"{x=}" shows the repr
        else:
            out.append(ir.FmtPart(lowered, False, conversion))
    return out


def _tstring(n: Any, s: Lowering) -> ir.Expr:
    # A template string evaluates its fields but formats nothing: no conversion, no spec.
    at = s.origin(n)
    fields = [p.expression for p in n.parts if hasattr(p, "expression")]
    return ir.Fstr(at, [ir.FmtPart(EXPR[type(v)](v, s)) for v in fields])


def _attribute(n: cst.Attribute, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    obj = n.value
    return ir.Attr(at, EXPR[type(obj)](obj, s), n.attr.value)


def lower_args(args: Any, s: Lowering) -> list[ir.Arg]:
    """Arguments of a call or of a class statement."""
    out = []
    for arg in args:
        value = arg.value
        keyword = arg.keyword
        lowered = EXPR[type(value)](value, s)
        if keyword is not None:
            out.append(ir.Arg(lowered, keyword.value))
        else:
            out.append(ir.Arg(lowered, None, len(arg.star)))
    return out


def _call(n: cst.Call, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    func = n.func
    return ir.Call(at, EXPR[type(func)](func, s), lower_args(n.args, s))


def _subscript(n: cst.Subscript, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    obj = n.value
    lowered = EXPR[type(obj)](obj, s)
    elements = n.slice
    first = elements[0]
    if len(elements) == 1 and type(first.comma) is not cst.Comma:
        part: Any = first.slice
        if type(part) is cst.Index and part.star is None:
            value = part.value
            return ir.Sub(at, lowered, EXPR[type(value)](value, s))
        if type(part) is cst.Slice:
            return ir.Sub(at, lowered, _slice(first, s))
    index_at = s.origin((first, elements[-1]))
    return ir.Sub(at, lowered, ir.Tuple(index_at, [_element(element, s) for element in elements]))


def _element(n: cst.SubscriptElement, s: Lowering) -> ir.Expr:
    part: Any = n.slice
    if type(part) is cst.Slice:
        return _slice(n, s)
    value = part.value
    if part.star is None:
        return EXPR[type(value)](value, s)
    at = s.origin(n)
    return ir.Starred(at, EXPR[type(value)](value, s))


def _slice(n: cst.SubscriptElement, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    part: Any = n.slice
    lower, upper, step = part.lower, part.upper, part.step
    return ir.Slice(
        at,
        None if lower is None else EXPR[type(lower)](lower, s),
        None if upper is None else EXPR[type(upper)](upper, s),
        None if step is None else EXPR[type(step)](step, s),
    )


def _binary(n: cst.BinaryOperation, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    left = n.left
    right = n.right
    lowered = EXPR[type(left)](left, s)
    return ir.BinOp(at, BINARY[type(n.operator)], lowered, EXPR[type(right)](right, s))


def _boolean(n: cst.BooleanOperation, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    left = n.left
    right = n.right
    lowered = EXPR[type(left)](left, s)
    operator = "and" if type(n.operator) is cst.And else "or"
    return ir.BoolOp(at, operator, lowered, EXPR[type(right)](right, s))


def _unary(n: cst.UnaryOperation, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    operand = n.expression
    return ir.UnaryOp(at, _UNARY[type(n.operator)], EXPR[type(operand)](operand, s))


def _comparison(n: cst.Comparison, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    left = n.left
    lowered = EXPR[type(left)](left, s)
    operators = []
    rights = []
    for target in n.comparisons:
        operators.append(_COMPARE[type(target.operator)])
        right = target.comparator
        rights.append(EXPR[type(right)](right, s))
    return ir.Compare(at, lowered, operators, rights)


def _ifexp(n: cst.IfExp, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    test, body, orelse = n.test, n.body, n.orelse
    lowered = EXPR[type(test)](test, s)
    return ir.IfExp(at, lowered, EXPR[type(body)](body, s), EXPR[type(orelse)](orelse, s))


def lower_elements(elements: Any, s: Lowering) -> list[ir.Expr]:
    """Elements of a tuple, list or set display."""
    out = []
    for element in elements:
        if type(element) is cst.Element:
            element = element.value
        out.append(EXPR[type(element)](element, s))
    return out


def _tuple(n: cst.Tuple, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    return ir.Tuple(at, lower_elements(n.elements, s))


def _list(n: cst.List, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    return ir.List(at, lower_elements(n.elements, s))


def _set(n: cst.Set, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    return ir.Set(at, lower_elements(n.elements, s))


def _dict(n: cst.Dict, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    keys: list[ir.Expr | None] = []
    values = []
    for element in n.elements:
        if type(element) is cst.DictElement:
            key = element.key
            keys.append(EXPR[type(key)](key, s))
        else:
            keys.append(None)
        value = element.value
        values.append(EXPR[type(value)](value, s))
    return ir.Dict(at, keys, values)


def _starred(n: cst.StarredElement, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    value = n.value
    return ir.Starred(at, EXPR[type(value)](value, s))


def _fors(n: cst.CompFor, s: Lowering, inner_prefix: str) -> list[ir.CompFor]:
    out = []
    clause: cst.CompFor | None = n
    while clause is not None:
        source = clause.iter
        iterable = EXPR[type(source)](source, s)
        # Only the first iterable is evaluated outside the comprehension.
        s.prefix = inner_prefix
        target = clause.target
        lowered = EXPR[type(target)](target, s)  # not a local of the function: nothing to bind
        ifs = [EXPR[type(c.test)](c.test, s) for c in clause.ifs]
        out.append(ir.CompFor(lowered, iterable, ifs))
        clause = clause.inner_for_in
    return out


def _comp(n: Any, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    kind = type(n)
    prefix = s.prefix
    # As from Python 3.12 on, where only generator expressions are still functions of their own.
    inner = prefix + "<genexpr>." if kind is cst.GeneratorExp else prefix
    fors = _fors(n.for_in, s, inner)
    value = None
    if kind is cst.DictComp:
        element = n.key
        elt = EXPR[type(element)](element, s)
        value = EXPR[type(n.value)](n.value, s)
    else:
        element = n.elt
        elt = EXPR[type(element)](element, s)
    s.prefix = prefix
    return ir.Comp(at, _COMP_KINDS[kind], elt, value, fors)


def _starred_dict_comp(n: Any, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    fors = _fors(n.for_in, s, s.prefix)
    value_at = s.origin(n.value)
    elt = ir.Starred(value_at, EXPR[type(n.value)](n.value, s))
    return ir.Comp(at, "dict", elt, None, fors)


_COMP_KINDS: dict[type, str] = {
    cst.ListComp: "list",
    cst.SetComp: "set",
    cst.DictComp: "dict",
    cst.GeneratorExp: "generator",
}


def _await(n: cst.Await, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    value = n.expression
    return ir.Await(at, EXPR[type(value)](value, s))


def _yield(n: cst.Yield, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    s.has_yield = True
    value: Any = n.value
    if value is None:
        return ir.Yield(at, None)
    if type(value) is cst.From:
        item = value.item
        return ir.Yield(at, EXPR[type(item)](item, s), True)
    return ir.Yield(at, EXPR[type(value)](value, s))


def _walrus(n: cst.NamedExpr, s: Lowering) -> ir.Expr:
    at = s.origin(n)
    target: Any = n.target
    value = n.value
    lowered = EXPR[type(value)](value, s)
    s.bound[target.value] = None
    return ir.Walrus(at, target.value, lowered)


def register(table: dict[type, Any], handlers: dict[str, Any]) -> None:
    """Enter handlers by libcst class name; classes that the installed libcst lacks are left out."""
    for name, handler in handlers.items():
        cls = getattr(cst, name, None)
        if cls is not None:
            table[cls] = handler


register(
    EXPR,
    {
        "Name": _name, "Integer": _integer, "Float": _float, "Imaginary": _imaginary, "Ellipsis": _ellipsis,
        "SimpleString": string, "ConcatenatedString": _concatenated, "FormattedString": _fstring,
        "TemplatedString": _tstring, "Attribute": _attribute, "Call": _call, "Subscript": _subscript,
        "BinaryOperation": _binary, "BooleanOperation": _boolean, "UnaryOperation": _unary,
        "Comparison": _comparison, "IfExp": _ifexp, "Tuple": _tuple, "List": _list, "Set": _set,
        "Dict": _dict, "StarredElement": _starred, "ListComp": _comp, "SetComp": _comp, "DictComp": _comp,
        "GeneratorExp": _comp, "StarredDictComp": _starred_dict_comp, "Await": _await, "Yield": _yield,
        "NamedExpr": _walrus,
    },
)  # fmt: skip
