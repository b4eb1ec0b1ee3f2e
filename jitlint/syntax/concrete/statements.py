"""Statements: libcst nodes to IR.

What it does: one function per libcst statement class, reached through the table `STMT` by exact type;
assignment targets, match patterns, function and class definitions.
What it does not: expressions (`expressions`), parsing (`lowering`). Layer: ``syntax``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from jitlint.syntax import ir
from jitlint.syntax.concrete.expressions import BINARY, EXPR, lower_args, register
from jitlint.syntax.concrete.signatures import lower_annotation, lower_params
from jitlint.syntax.documentation import kept
from jitlint.syntax.lowering import TRACED_PRAGMA
from jitlint.syntax.scopes import Lowering

StmtHandler = Callable[[Any, Lowering], ir.Stmt]

STMT: dict[type, StmtHandler] = {}

_AUGMENTED = {getattr(cst, cls.__name__ + "Assign"): text for cls, text in BINARY.items()}


def lower_block(statements: Any, s: Lowering) -> list[ir.Stmt]:
    """The statements of a module or of an indented block. What stands under ``if True:`` alone is a part of the block."""
    out: list[ir.Stmt] = []
    for statement in statements:
        kind = type(statement)
        if kind is cst.SimpleStatementLine:
            for small in statement.body:
                out.append(STMT[type(small)](small, s))
        elif kind is cst.If and _always_runs(statement):
            s.origin(statement)
            EXPR[cst.Name](statement.test, s)
            out += _suite(statement.body, s)
        else:
            out.append(STMT[kind](statement, s))
    return out


def _always_runs(n: cst.If) -> bool:
    return n.orelse is None and type(n.test) is cst.Name and n.test.value == "True"


def _suite(n: Any, s: Lowering) -> list[ir.Stmt]:
    if type(n) is cst.IndentedBlock:
        return lower_block(n.body, s)
    return [STMT[type(small)](small, s) for small in n.body]


def _orelse(n: Any, s: Lowering) -> list[ir.Stmt]:
    return [] if n is None else _suite(n.body, s)


def _target(n: Any, s: Lowering) -> ir.Expr:
    """An expression that is assigned to or deleted: binds the names in it."""
    kind = type(n)
    if kind is cst.Name:
        s.bound[n.value] = None
        return EXPR[kind](n, s)
    if kind is cst.Tuple or kind is cst.List:
        at = s.origin(n)
        elements = [_target(e.value if type(e) is cst.Element else e, s) for e in n.elements]
        return ir.Tuple(at, elements) if kind is cst.Tuple else ir.List(at, elements)
    if kind is cst.StarredElement:
        at = s.origin(n)
        return ir.Starred(at, _target(n.value, s))
    return EXPR[kind](n, s)


def _opt(n: Any, s: Lowering) -> ir.Expr | None:
    return None if n is None else EXPR[type(n)](n, s)


# ---------------------------------------------------------------- small statements


def _expr(n: cst.Expr, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    value = EXPR[type(n.value)](n.value, s)
    if type(value) is ir.Const and value.kind == "str":
        value = ir.Const(value.at, "str", kept(str(value.value)))
    return ir.ExprStmt(at, value)


def _assign(n: cst.Assign, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    targets = [_target(t.target, s) for t in n.targets]
    value = n.value
    return ir.Assign(at, targets, EXPR[type(value)](value, s))


def _aug_assign(n: cst.AugAssign, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    target = _target(n.target, s)
    value = n.value
    return ir.AugAssign(at, target, _AUGMENTED[type(n.operator)], EXPR[type(value)](value, s))


def _ann_assign(n: cst.AnnAssign, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    target = _target(n.target, s)
    annotation = lower_annotation(n.annotation, s)
    return s.annotated(at, target, annotation, _opt(n.value, s))


def _type_alias(n: Any, s: Lowering) -> ir.Stmt:
    # ``type X = T`` binds X; that T is evaluated late makes no difference here.
    at = s.origin(n)
    return ir.Assign(at, [_target(n.name, s)], EXPR[type(n.value)](n.value, s))


def _return(n: cst.Return, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    value = n.value
    return ir.Return(at, None if value is None else EXPR[type(value)](value, s))


def _raise(n: cst.Raise, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    exc = _opt(n.exc, s)
    cause = n.cause
    return ir.Raise(at, exc, None if cause is None else _opt(cause.item, s))


def _assert(n: cst.Assert, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    test = n.test
    return ir.Assert(at, EXPR[type(test)](test, s), _opt(n.msg, s))


def _del(n: cst.Del, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    target: Any = n.target
    if type(target) is cst.Tuple or type(target) is cst.List:
        return ir.Del(at, [_target(element.value, s) for element in target.elements])
    return ir.Del(at, [_target(target, s)])


def _pass(n: cst.Pass, s: Lowering) -> ir.Stmt:
    return ir.Pass(s.origin(n))


def _break(n: cst.Break, s: Lowering) -> ir.Stmt:
    return ir.Break(s.origin(n))


def _continue(n: cst.Continue, s: Lowering) -> ir.Stmt:
    return ir.Continue(s.origin(n))


def _global(n: cst.Global, s: Lowering) -> ir.Stmt:
    names = [item.name.value for item in n.names]
    s.globals.update(names)
    return ir.Global(s.origin(n), names)


def _nonlocal(n: cst.Nonlocal, s: Lowering) -> ir.Stmt:
    names = [item.name.value for item in n.names]
    s.nonlocals.update(names)
    return ir.Global(s.origin(n), names, True)


def _dotted(n: Any) -> str:
    return n.value if type(n) is cst.Name else f"{_dotted(n.value)}.{n.attr.value}"


def _alias(n: cst.ImportAlias, s: Lowering) -> ir.ImportName:
    name = _dotted(n.name)
    asname: Any = n.asname
    at = s.origin(n)
    if asname is None:
        s.bound[name.partition(".")[0]] = None
        return ir.ImportName(name, None, at)
    bound = asname.name.value
    s.bound[bound] = None
    return ir.ImportName(name, bound, at)


def _import(n: cst.Import, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    names = [_alias(alias, s) for alias in n.names]
    for name in names:
        s.mentions[name.name] = None
    return ir.Import(at, names)


def _import_from(n: cst.ImportFrom, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    module = "" if n.module is None else _dotted(n.module)
    level = len(n.relative)
    s.mentions["." * level + module] = None
    aliases: Any = n.names
    if type(aliases) is cst.ImportStar:
        return ir.ImportFrom(at, module, level, [ir.ImportName("*", None, s.origin(n))])
    return ir.ImportFrom(at, module, level, [_alias(alias, s) for alias in aliases])


# ---------------------------------------------------------------- compound statements


def _if(n: cst.If, s: Lowering) -> ir.Stmt:
    # ``elif`` nests in the tree but not in the mind: hundreds of branches must not exhaust the stack.
    branches: list[tuple[int, ir.Expr, list[ir.Stmt]]] = []
    branch: Any = n
    while type(branch) is cst.If:
        at = s.origin(branch)
        test = branch.test
        branches.append((at, EXPR[type(test)](test, s), _suite(branch.body, s)))
        branch = branch.orelse
    orelse = _orelse(branch, s)
    for at, test_ir, body in reversed(branches[1:]):
        orelse = [ir.If(at, test_ir, body, orelse, True)]
    at, test_ir, body = branches[0]
    return ir.If(at, test_ir, body, orelse)


def _while(n: cst.While, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    test = n.test
    return ir.While(at, EXPR[type(test)](test, s), _suite(n.body, s), _orelse(n.orelse, s))


def _for(n: cst.For, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    source = n.iter
    target = _target(n.target, s)
    iterable = EXPR[type(source)](source, s)
    body = _suite(n.body, s)
    return ir.For(at, target, iterable, body, _orelse(n.orelse, s), n.asynchronous is not None)


def _try(n: Any, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    body = _suite(n.body, s)
    handlers = [_handler(handler, s) for handler in n.handlers]
    return ir.Try(at, body, handlers, _orelse(n.orelse, s), _orelse(n.finalbody, s))


def _handler(n: Any, s: Lowering) -> ir.Handler:
    at = s.origin(n)
    caught = _opt(n.type, s)
    name = None
    if n.name is not None:
        name = n.name.name.value
        s.bound[name] = None
    return ir.Handler(at, caught, name, _suite(n.body, s))


def _with(n: cst.With, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    items = []
    for item in n.items:
        value = item.item
        lowered = EXPR[type(value)](value, s)
        asname = item.asname
        items.append(ir.WithItem(lowered, None if asname is None else _target(asname.name, s)))
    return ir.With(at, items, _suite(n.body, s), n.asynchronous is not None)


def _funcdef(n: cst.FunctionDef, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    name_at = s.origin(n.name)
    first_at = at
    decorators: list[ir.Expr] = []
    if n.decorators:
        first_at = s.origin(n.decorators[0])
        decorators = [EXPR[type(d.decorator)](d.decorator, s) for d in n.decorators]
    name = n.name.value
    s.bound[name] = None
    index = len(s.functions)
    s.functions.append(None)
    params = lower_params(n.params, s)
    returns = None if n.returns is None else lower_annotation(n.returns, s)
    qualname = s.qualify(name)
    saved = s.open_function(qualname, params)
    body = _suite(n.body, s)
    pragma = s.pragmas and _has_traced_pragma(n)
    is_async = n.asynchronous is not None
    s.close_function(
        index,
        saved,
        body,
        ir.Function(
            at,
            name_at,
            first_at,
            name,
            qualname,
            params,
            decorators,
            returns,
            is_async=is_async,
            traced_pragma=pragma,
        ),
    )
    return ir.FuncDef(at, name, index)


def _has_traced_pragma(n: cst.FunctionDef) -> bool:
    """Is ``# jitlint: traced`` on the header, a decorator, or the line above? Asked in files with pragmas only."""
    body: Any = n.body
    # Everything before the body, with the one line above; then the comment behind the colon.
    header = n.with_changes(leading_lines=n.leading_lines[-1:], body=cst.SimpleStatementSuite([cst.Pass()]))
    end = body.header if type(body) is cst.IndentedBlock else body.trailing_whitespace
    text = cst.Module([]).code_for_node(header) + cst.Module([]).code_for_node(end)
    return TRACED_PRAGMA.search(text) is not None


def _classdef(n: cst.ClassDef, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    decorators = [EXPR[type(d.decorator)](d.decorator, s) for d in n.decorators]
    bases = lower_args(n.bases, s) + lower_args(n.keywords, s)
    name = n.name.value
    s.bound[name] = None
    qualname = s.qualify(name)
    saved = s.enter(qualname + ".")
    members, s.members = s.members, None
    if members is not None and type(n.body) is cst.IndentedBlock:
        body = []
        for statement in n.body.body:
            members.append(len(s.nodes))
            body += lower_block([statement], s)
    else:
        body = _suite(n.body, s)
    s.leave(saved)
    return ir.ClassDef(at, name, qualname, bases, decorators, body)


def _match(n: cst.Match, s: Lowering) -> ir.Stmt:
    at = s.origin(n)
    subject = n.subject
    lowered = EXPR[type(subject)](subject, s)
    cases = []
    for case in n.cases:
        pattern = _pattern(case.pattern, s)
        guard = _opt(case.guard, s)
        cases.append(ir.Case(pattern, guard, _suite(case.body, s)))
    return ir.Match(at, lowered, cases)


def _capture(name: cst.Name | None, s: Lowering) -> str | None:
    if name is None:
        return None
    s.bound[name.value] = None
    return name.value


def _pattern(n: Any, s: Lowering) -> ir.Pattern:
    at = s.origin(n)
    return _PATTERNS[type(n)](n, s, at)


def _pattern_of_value(n: Any, s: Lowering, at: int) -> ir.Pattern:
    s.nodes[at] = n.value  # without the parentheses around it
    return ir.PatValue(at, EXPR[type(n.value)](n.value, s), type(n) is cst.MatchSingleton)


def _pattern_of_mapping(n: cst.MatchMapping, s: Lowering, at: int) -> ir.Pattern:
    keys = [EXPR[type(element.key)](element.key, s) for element in n.elements]
    items = [_pattern(element.pattern, s) for element in n.elements]
    return ir.PatMap(at, keys, items, _capture(n.rest, s))


def _pattern_of_class(n: cst.MatchClass, s: Lowering, at: int) -> ir.Pattern:
    cls = EXPR[type(n.cls)](n.cls, s)
    items = [_pattern(element.value, s) for element in n.patterns]
    names = [element.key.value for element in n.kwds]
    return ir.PatClass(at, cls, items, names, [_pattern(element.pattern, s) for element in n.kwds])


def _pattern_of_sequence(n: Any, s: Lowering, at: int) -> ir.Pattern:
    return ir.PatSeq(at, [_pattern(e if type(e) is cst.MatchStar else e.value, s) for e in n.patterns])


def _pattern_with_name(n: cst.MatchAs, s: Lowering, at: int) -> ir.Pattern:
    inner = None if n.pattern is None else _pattern(n.pattern, s)
    return ir.PatCapture(at, _capture(n.name, s), inner)


_PATTERNS: dict[type, Callable[[Any, Lowering, int], ir.Pattern]] = {
    cst.MatchValue: _pattern_of_value,
    cst.MatchSingleton: _pattern_of_value,
    cst.MatchAs: _pattern_with_name,
    cst.MatchOr: lambda n, s, at: ir.PatOr(at, [_pattern(option.pattern, s) for option in n.patterns]),
    cst.MatchMapping: _pattern_of_mapping,
    cst.MatchClass: _pattern_of_class,
    cst.MatchStar: lambda n, s, at: ir.PatStar(at, _capture(n.name, s)),
    cst.MatchList: _pattern_of_sequence,
    cst.MatchTuple: _pattern_of_sequence,
}


register(
    STMT,
    {
        "Expr": _expr, "Assign": _assign, "AugAssign": _aug_assign, "AnnAssign": _ann_assign,
        "TypeAlias": _type_alias, "Return": _return, "Raise": _raise, "Assert": _assert, "Del": _del,
        "Pass": _pass, "Break": _break, "Continue": _continue, "Global": _global, "Nonlocal": _nonlocal,
        "Import": _import, "ImportFrom": _import_from, "LazyImport": _import, "LazyImportFrom": _import_from,
        "If": _if, "While": _while, "For": _for, "Try": _try, "TryStar": _try, "With": _with,
        "FunctionDef": _funcdef, "ClassDef": _classdef, "Match": _match,
    },
)  # fmt: skip
