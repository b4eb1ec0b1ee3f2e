"""Statements: nodes of Python's `ast` to IR.

What it does: one function per class of statement, reached through the table `STMT` by exact type; assignment targets,
match patterns, function and class definitions.
What it does not: expressions (`expressions`), parsing (`lowering`). Layer: ``syntax``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from jitlint.syntax import ir
from jitlint.syntax.abstract.expressions import (
    EXPR,
    binary_operator,
    lower_annotation,
    lower_args,
    lower_optional,
    lower_params,
)
from jitlint.syntax.documentation import kept
from jitlint.syntax.scopes import Lowering

StmtHandler = Callable[[Any, Lowering], ir.Stmt]


class NameOf(NamedTuple):
    """What an origin stands for that is the name of a function: it has no node of its own."""

    function: ast.FunctionDef | ast.AsyncFunctionDef


class Decorator(NamedTuple):
    """What an origin stands for that is a decorator with its ``@``."""

    expression: ast.expr


def lower_block(statements: Iterable[ast.stmt], s: Lowering) -> list[ir.Stmt]:
    """The statements of a module or of an indented block. What stands under ``if True:`` alone is a part of the block."""
    out: list[ir.Stmt] = []
    for n in statements:
        if type(n) is ast.If and not n.orelse and type(n.test) is ast.Constant and n.test.value is True:
            s.origin(n)
            EXPR[ast.Constant](n.test, s)
            out += lower_block(n.body, s)
        else:
            out.append(STMT[type(n)](n, s))
    return out


def grouped(block: list[ast.stmt]) -> list[list[ast.stmt]]:
    """The statements of a block; those that share a line are together."""
    groups: list[list[ast.stmt]] = []
    for statement in block:
        if groups and statement.lineno == groups[-1][-1].end_lineno:
            groups[-1].append(statement)
        else:
            groups.append([statement])
    return groups


def _target(n: Any, s: Lowering) -> ir.Expr:
    """An expression that is assigned to or deleted: binds the names in it."""
    kind = type(n)
    if kind is ast.Name:
        s.bound[n.id] = None
    elif kind is ast.Tuple or kind is ast.List:
        at = s.origin(n)
        elements = [_target(element, s) for element in n.elts]
        return ir.Tuple(at, elements) if kind is ast.Tuple else ir.List(at, elements)
    elif kind is ast.Starred:
        return ir.Starred(s.origin(n), _target(n.value, s))
    return EXPR[kind](n, s)


# ---------------------------------------------------------------- simple statements


def _expr(n: ast.Expr, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    value = EXPR[type(n.value)](n.value, s)
    if type(value) is ir.Const and value.kind == "str":
        value = ir.Const(value.at, "str", kept(str(value.value)))
    return ir.ExprStmt(at, value)


def _assign(n: ast.Assign, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    targets = [_target(target, s) for target in n.targets]
    return ir.Assign(at, targets, EXPR[type(n.value)](n.value, s))


def _aug_assign(n: ast.AugAssign, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    target = _target(n.target, s)
    return ir.AugAssign(at, target, binary_operator(n.op), EXPR[type(n.value)](n.value, s))


def _ann_assign(n: ast.AnnAssign, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    target = _target(n.target, s)
    annotation = lower_annotation(n.annotation, s)
    return s.annotated(at, target, annotation, lower_optional(n.value, s))


def _type_alias(n: Any, s: Lowering) -> ir.Stmt:
    # ``type X = T`` binds X; that T is evaluated late makes no difference here.
    at = s.origin(n)
    return ir.Assign(at, [_target(n.name, s)], EXPR[type(n.value)](n.value, s))


def _return(n: ast.Return, s: Lowering) -> ir.Stmt:
    return ir.Return(s.origin(n), lower_optional(n.value, s))


def _raise(n: ast.Raise, s: Lowering) -> ir.Stmt:
    return ir.Raise(s.origin(n), lower_optional(n.exc, s), lower_optional(n.cause, s))


def _assert(n: ast.Assert, s: Lowering) -> ir.Stmt:
    return ir.Assert(s.origin(n), EXPR[type(n.test)](n.test, s), lower_optional(n.msg, s))


def _del(n: ast.Delete, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    first: Any = n.targets[0]
    alone = len(n.targets) == 1 and isinstance(first, (ast.Tuple, ast.List))  # ``del (a, b)``
    return ir.Del(at, [_target(target, s) for target in (first.elts if alone else n.targets)])


def _pass(n: ast.Pass, s: Lowering) -> ir.Stmt:
    return ir.Pass(s.origin(n))


def _break(n: ast.Break, s: Lowering) -> ir.Stmt:
    return ir.Break(s.origin(n))


def _continue(n: ast.Continue, s: Lowering) -> ir.Stmt:
    return ir.Continue(s.origin(n))


def _global(n: ast.Global, s: Lowering) -> ir.Stmt:
    s.globals.update(n.names)
    return ir.Global(s.origin(n), n.names)


def _nonlocal(n: ast.Nonlocal, s: Lowering) -> ir.Stmt:
    s.nonlocals.update(n.names)
    return ir.Global(s.origin(n), n.names, True)


def _alias(n: ast.alias, s: Lowering) -> ir.ImportName:
    s.bound[n.asname or n.name.partition(".")[0]] = None
    return ir.ImportName(n.name, n.asname, s.origin(n))


def _import(n: ast.Import, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    for alias in n.names:
        s.mentions[alias.name] = None
    return ir.Import(at, [_alias(alias, s) for alias in n.names])


def _import_from(n: ast.ImportFrom, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    module, level = n.module or "", n.level
    s.mentions["." * level + module] = None
    if n.names[0].name == "*":
        return ir.ImportFrom(at, module, level, [ir.ImportName("*", None, s.origin(n))])
    return ir.ImportFrom(at, module, level, [_alias(alias, s) for alias in n.names])


# ---------------------------------------------------------------- compound statements


def _if(n: ast.If, s: Lowering) -> ir.Stmt:
    # ``elif`` nests in the tree but not in the mind: hundreds of branches must not exhaust the stack.
    branches: list[tuple[int, ir.Expr, list[ir.Stmt]]] = []
    branch = n
    while True:
        at = s.origin(branch)
        test = branch.test
        branches.append((at, EXPR[type(test)](test, s), lower_block(branch.body, s)))
        rest = branch.orelse
        # What stands under an ``else:`` of its own is indented.
        if len(rest) == 1 and isinstance(rest[0], ast.If) and rest[0].col_offset == n.col_offset:
            branch = rest[0]
            continue
        orelse = lower_block(rest, s)
        break
    for at, test_ir, body in reversed(branches[1:]):
        orelse = [ir.If(at, test_ir, body, orelse, True)]
    at, test_ir, body = branches[0]
    return ir.If(at, test_ir, body, orelse)


def _while(n: ast.While, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    return ir.While(at, EXPR[type(n.test)](n.test, s), lower_block(n.body, s), lower_block(n.orelse, s))


def _for(n: Any, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    target = _target(n.target, s)
    iterable = EXPR[type(n.iter)](n.iter, s)
    body = lower_block(n.body, s)
    return ir.For(at, target, iterable, body, lower_block(n.orelse, s), type(n) is ast.AsyncFor)


def _try(n: Any, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    body = lower_block(n.body, s)
    handlers = [_handler(handler, s) for handler in n.handlers]
    return ir.Try(at, body, handlers, lower_block(n.orelse, s), lower_block(n.finalbody, s))


def _handler(n: ast.ExceptHandler, s: Lowering) -> ir.Handler:
    at = s.origin(n)
    caught = lower_optional(n.type, s)
    if n.name is not None:
        s.bound[n.name] = None
    return ir.Handler(at, caught, n.name, lower_block(n.body, s))


def _with(n: Any, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    items = []
    for item in n.items:
        value, target = item.context_expr, item.optional_vars
        lowered = EXPR[type(value)](value, s)
        items.append(ir.WithItem(lowered, None if target is None else _target(target, s)))
    return ir.With(at, items, lower_block(n.body, s), type(n) is ast.AsyncWith)


def _funcdef(n: Any, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    name = n.name
    name_at = s.origin(NameOf(n))
    first_at = s.origin(Decorator(n.decorator_list[0])) if n.decorator_list else at
    decorators = [EXPR[type(decorator)](decorator, s) for decorator in n.decorator_list]
    s.bound[name] = None
    index = len(s.functions)
    s.functions.append(None)
    params = lower_params(n.args, s)
    returns = None if n.returns is None else lower_annotation(n.returns, s)
    qualname = s.qualify(name)
    saved = s.open_function(qualname, params)
    body = lower_block(n.body, s)
    is_async = type(n) is ast.AsyncFunctionDef
    function = ir.Function(
        at, name_at, first_at, name, qualname, params, decorators, returns, is_async=is_async
    )
    s.close_function(index, saved, body, function)
    return ir.FuncDef(at, name, index)


def _classdef(n: ast.ClassDef, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    decorators = [EXPR[type(decorator)](decorator, s) for decorator in n.decorator_list]
    bases = lower_args(n.bases, s) + lower_args(n.keywords, s)
    name = n.name
    s.bound[name] = None
    qualname = s.qualify(name)
    saved = s.enter(qualname + ".")
    members, s.members = s.members, None
    body = []
    for group in grouped(n.body):
        if members is not None:
            members.append(len(s.nodes))
        body += lower_block(group, s)
    s.leave(saved)
    return ir.ClassDef(at, name, qualname, bases, decorators, body)


def _match(n: ast.Match, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    lowered = EXPR[type(n.subject)](n.subject, s)
    cases = []
    for case in n.cases:
        pattern = _pattern(case.pattern, s)
        guard = lower_optional(case.guard, s)
        cases.append(ir.Case(pattern, guard, lower_block(case.body, s)))
    return ir.Match(at, lowered, cases)


def _capture(name: str | None, s: Lowering) -> str | None:
    if name is not None:
        s.bound[name] = None
    return name


def _pattern(n: Any, s: Lowering) -> ir.Pattern:
    return _PATTERNS[type(n)](n, s, s.origin(n))


def _patterns(nodes: Iterable[Any], s: Lowering) -> list[ir.Pattern]:
    return [_pattern(n, s) for n in nodes]


def _pattern_of_singleton(n: ast.MatchSingleton, s: Lowering, at: int) -> ir.Pattern:
    return ir.PatValue(at, EXPR[ast.Constant](n, s), True)


def _pattern_of_mapping(n: ast.MatchMapping, s: Lowering, at: int) -> ir.Pattern:
    keys = [EXPR[type(key)](key, s) for key in n.keys]
    return ir.PatMap(at, keys, _patterns(n.patterns, s), _capture(n.rest, s))


def _pattern_of_class(n: ast.MatchClass, s: Lowering, at: int) -> ir.Pattern:
    cls = EXPR[type(n.cls)](n.cls, s)
    return ir.PatClass(at, cls, _patterns(n.patterns, s), n.kwd_attrs, _patterns(n.kwd_patterns, s))


def _pattern_with_name(n: ast.MatchAs, s: Lowering, at: int) -> ir.Pattern:
    inner = None if n.pattern is None else _pattern(n.pattern, s)
    return ir.PatCapture(at, _capture(n.name, s), inner)


_PATTERNS: dict[type, Callable[[Any, Lowering, int], ir.Pattern]] = {
    ast.MatchValue: lambda n, s, at: ir.PatValue(at, EXPR[type(n.value)](n.value, s)),
    ast.MatchSingleton: _pattern_of_singleton,
    ast.MatchAs: _pattern_with_name,
    ast.MatchOr: lambda n, s, at: ir.PatOr(at, _patterns(n.patterns, s)),
    ast.MatchMapping: _pattern_of_mapping,
    ast.MatchClass: _pattern_of_class,
    ast.MatchStar: lambda n, s, at: ir.PatStar(at, _capture(n.name, s)),
    ast.MatchSequence: lambda n, s, at: ir.PatSeq(at, _patterns(n.patterns, s)),
}

STMT: dict[type, StmtHandler] = {
    ast.Expr: _expr, ast.Assign: _assign, ast.AugAssign: _aug_assign, ast.AnnAssign: _ann_assign,
    ast.Return: _return, ast.Raise: _raise, ast.Assert: _assert, ast.Delete: _del, ast.Pass: _pass,
    ast.Break: _break, ast.Continue: _continue, ast.Global: _global, ast.Nonlocal: _nonlocal,
    ast.Import: _import, ast.ImportFrom: _import_from, ast.If: _if, ast.While: _while, ast.For: _for,
    ast.AsyncFor: _for, ast.Try: _try, ast.With: _with, ast.AsyncWith: _with, ast.FunctionDef: _funcdef,
    ast.AsyncFunctionDef: _funcdef, ast.ClassDef: _classdef, ast.Match: _match,
}  # fmt: skip
for _class, _handler_of_it in {"TryStar": _try, "TypeAlias": _type_alias}.items():  # Python 3.11, 3.12
    if hasattr(ast, _class):
        STMT[getattr(ast, _class)] = _handler_of_it
