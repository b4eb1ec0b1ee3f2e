"""Signatures: parameters, annotations, and the lambda that consists of little else.

What it does: lower parameter lists and annotations (also those written as strings), and lambdas.
What it does not: other expressions (`expressions`), function definitions (`statements`). Layer: ``syntax``.
"""

from __future__ import annotations

import libcst as cst

from jitlint.syntax import ir
from jitlint.syntax.concrete.expressions import EXPR, string
from jitlint.syntax.guard import guard
from jitlint.syntax.literals import MAX_ANNOTATION, string_value
from jitlint.syntax.scopes import Lowering


def _lambda(n: cst.Lambda, s: Lowering) -> ir.Expr:
    return s.add_lambda(n, lambda: lower_params(n.params, s), lambda: EXPR[type(n.body)](n.body, s))


def lower_params(n: cst.Parameters, s: Lowering) -> list[ir.Param]:
    """Parameters in the order of the signature; defaults and annotations belong to the open scope."""
    out: list[ir.Param] = []
    for param in n.posonly_params:
        out.append(_param(param, "pos", s))
    for param in n.params:
        out.append(_param(param, "any", s))
    star_arg = n.star_arg
    if type(star_arg) is cst.Param:
        out.append(_param(star_arg, "var", s))
    for param in n.kwonly_params:
        out.append(_param(param, "kwonly", s))
    if n.star_kwarg is not None:
        out.append(_param(n.star_kwarg, "kwvar", s))
    return out


def _param(n: cst.Param, kind: str, s: Lowering) -> ir.Param:
    at = s.origin(n.name if n.annotation is None else (n.name, n.annotation))
    annotation = None if n.annotation is None else lower_annotation(n.annotation, s)
    default = None if n.default is None else EXPR[type(n.default)](n.default, s)
    return ir.Param(at, n.name.value, kind, default, annotation)


def lower_annotation(n: cst.Annotation, s: Lowering) -> ir.Expr:
    """An annotation. A string is parsed; if it is no expression, it stays a string."""
    node = n.annotation
    if type(node) is not cst.SimpleString:
        return EXPR[type(node)](node, s)
    text = string_value(node.value)[1]
    if text is None or len(text) > MAX_ANNOTATION or guard(text.strip()) is not None:
        return string(node, s)
    try:
        parsed = cst.parse_expression(text.strip())
    except Exception:  # whatever the parser dislikes: the text is not an expression
        return string(node, s)
    if type(parsed) is cst.StarredElement:  # ``*Ts``, which Python takes for no expression
        return string(node, s)
    return s.quote(node, lambda: EXPR[type(parsed)](parsed, s))


EXPR[cst.Lambda] = _lambda
