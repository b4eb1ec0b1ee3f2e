"""Signatures: parameters, annotations, and the lambda that consists of little else.

What it does: lower parameter lists and annotations (also those written as strings), and lambdas.
What it does not: other expressions (`lower_expr`), function definitions (`lower_stmt`). Layer: ``syntax``.
"""

from __future__ import annotations

import re

import libcst as cst

from jitlint.syntax import ir
from jitlint.syntax.guard import guard
from jitlint.syntax.literals import string_value
from jitlint.syntax.lower_expr import EXPR, SINGLETONS, string
from jitlint.syntax.scopes import Lowering

_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")
# Longer string annotations are prose or generated: not worth a parse.
_MAX_ANNOTATION = 1000


def _lambda(n: cst.Lambda, s: Lowering) -> ir.Expr:
    nodes = s.nodes
    at = len(nodes)
    nodes.append(n)
    index = len(s.functions)
    s.functions.append(None)
    params = lower_params(n.params, s)
    qualname = s.prefix + "<lambda>"
    saved = s.enter(qualname + ".<locals>.")
    for param in params:
        s.bound[param.name] = None
    body = n.body
    return_at = len(nodes)
    nodes.append(body)
    code = ir.encode_body([ir.Return(return_at, EXPR[type(body)](body, s))])
    s.functions[index] = ir.Function(
        at, at, at, "<lambda>", qualname, params, [], None, s.local_names(), [], [],
        False, s.has_yield, True, False, code,
    )  # fmt: skip
    s.leave(saved)
    return ir.Lambda(at, index)


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
    nodes = s.nodes
    at = len(nodes)
    name = n.name
    annotation = n.annotation
    default = n.default
    if annotation is None:
        nodes.append(name)
        lowered = None
    else:
        nodes.append((name, annotation))
        lowered = lower_annotation(annotation, s)
    value = None if default is None else EXPR[type(default)](default, s)
    return ir.Param(at, name.value, kind, value, lowered)


def lower_annotation(n: cst.Annotation, s: Lowering) -> ir.Expr:
    """An annotation. A string is parsed; if it is no expression, it stays a string."""
    node = n.annotation
    if type(node) is not cst.SimpleString:
        return EXPR[type(node)](node, s)
    text = string_value(node.value)[1]
    if text is None or len(text) > _MAX_ANNOTATION:
        return string(node, s)
    text = text.strip()
    nodes = s.nodes
    if _DOTTED.match(text):
        first, *rest = text.split(".")
        kind = SINGLETONS.get(first)
        nodes.append(node)
        at = len(nodes) - 1
        expr: ir.Expr = ir.Name(at, first) if kind is None else ir.Const(at, kind[0], kind[1])
        for name in rest:
            nodes.append(node)
            expr = ir.Attr(len(nodes) - 1, expr, name)
        s.quoted += range(at, len(nodes))
        return expr
    if guard(text) is not None:
        return string(node, s)
    try:
        parsed = cst.parse_expression(text)
    except Exception:  # whatever the parser dislikes: the text is not an expression
        return string(node, s)
    start = len(nodes)
    expr = EXPR[type(parsed)](parsed, s)
    # The parts of the inner tree have no place of their own: they all stand where the string stands.
    nodes[start:] = [node] * (len(nodes) - start)
    s.quoted += range(start, len(nodes))
    return expr


EXPR[cst.Lambda] = _lambda
