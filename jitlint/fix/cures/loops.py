"""Loops over traced numbers, and loops that are unrolled: `fori_loop` and `while_loop` (layer: ``fix``).

The body stays where it is, with its comments; its header becomes that of a function, and the call comes behind.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jitlint.fix.document import FUNCTIONS
from jitlint.fix.patch import Change, Patch
from jitlint.fix.site import Site, names_in

_ESCAPES = (
    ast.Break,
    ast.Continue,
    ast.Return,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.Delete,
    ast.Global,
    ast.Nonlocal,
)
_ESCAPES_TOO = (
    ast.Import,
    ast.ImportFrom,
    ast.Try,
    ast.With,
    ast.FunctionDef,
    ast.ClassDef,
    ast.NamedExpr,
    ast.Raise,
)


def counted(site: Site) -> Patch | None:
    """``for i in range(n)`` with what it changes: `jax.lax.fori_loop`."""
    call = site.node(ast.Call)
    loop = site.document.parent(call) if call is not None else None
    if call is None or not isinstance(loop, ast.For) or loop.iter is not call or loop.orelse:
        return None
    # With numbers that are no tracers it becomes a scan, which has a derivative.
    is_fixed = site.finding.code == "JIT206"
    if site.facts.get("differentiated") and not is_fixed:
        return None
    if not isinstance(loop.target, ast.Name) or call.keywords:
        return None
    carried = carried_by(site, loop, {loop.target.id}) if is_range(call) else []
    if not carried or site.is_read_later(loop.target.id, loop):
        return None
    document = site.document
    function = site.name("jax.lax.fori_loop", loop)
    if function is None:
        return None
    start, stop = (
        ("0", document.argument(call.args[0])) if len(call.args) == 1 else map(document.argument, call.args)
    )
    name = site.names.fresh("body", "loop_body", "turn")
    head = _function(site, loop, name, [loop.target.id], carried)
    values = listed(carried)
    tail = [f"return {values}"]
    after = [f"{values} = {function}({start}, {stop}, {name}, {grouped(carried)})"]
    return rewritten(site, loop, [], head, tail, after, "use `jax.lax.fori_loop`")


def is_range(call: ast.Call) -> bool:
    """Whether it is ``range`` of one number or two."""
    is_range = isinstance(call.func, ast.Name) and call.func.id == "range"
    return is_range and len(call.args) in (1, 2) and not any(isinstance(a, ast.Starred) for a in call.args)


def repeated(site: Site) -> Patch | None:
    """``while c`` with what it changes: `jax.lax.while_loop`."""
    for node in site.document.nodes(site.finding.span):
        if isinstance(node, ast.expr):
            found = while_of_test(site, node)
            if found is not None:
                return found
    return None


def while_of_test(site: Site, test: ast.expr) -> Patch | None:
    """The same, for an expression that may be a loop's test."""
    from jitlint.fix.cures.branches import logical

    loop = site.document.parent(test)
    if (
        not isinstance(loop, ast.While)
        or loop.test is not test
        or loop.orelse
        or site.facts.get("differentiated")
    ):
        return None
    if any(isinstance(each, ast.NamedExpr) for each in ast.walk(test)):
        return None
    carried = carried_by(site, loop, set())
    function, condition = site.name("jax.lax.while_loop", loop), logical(site, test)
    if not carried or function is None or condition is None:
        return None
    going, turn = site.names.fresh("cond", "keep_going"), site.names.fresh("body", "loop_body", "turn")
    indent, step, newline = site.document.indent(loop), site.document.step(), site.document.newline
    head = _function(site, loop, going, [], carried)
    condition = f"({condition})" if "\n" in condition else condition
    before = [*head, f"{step}return {condition}"]
    if indent is None:
        return None
    values = listed(carried)
    after = [f"{values} = {function}({going}, {turn}, {grouped(carried)})"]
    lines = (newline + indent).join(before) + newline * 2 + indent
    return rewritten(
        site,
        loop,
        [lines],
        _function(site, loop, turn, [], carried),
        [f"return {values}"],
        after,
        "use `jax.lax.while_loop`",
    )


def _function(site: Site, loop: ast.stmt, name: str, first: list[str], carried: list[str]) -> list[str]:
    """The lines that begin a function: of several values that are carried, it gets a tuple."""
    if len(carried) == 1:
        return [f"def {name}({', '.join([*first, *carried])}):"]
    carry = site.names.fresh("carry", "state", "values")
    return [
        f"def {name}({', '.join([*first, carry])}):",
        f"{site.document.step()}{', '.join(carried)} = {carry}",
    ]


def listed(names: list[str]) -> str:
    return ", ".join(names)


def grouped(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def rewritten(
    site: Site,
    loop: ast.For | ast.While,
    before: list[str],
    head: list[str],
    tail: list[str],
    after: list[str],
    what: str,
    *more: Change,
) -> Patch | None:
    document = site.document
    indent, inner = document.indent(loop), document.indent(loop.body[0])
    if indent is None or inner is None or inner == indent:
        return None
    start, header_stop = (
        document.start(loop),
        document.stop(loop.iter if isinstance(loop, ast.For) else loop.test),
    )
    colon = document.text.index(":", header_stop)
    if document.text[header_stop:colon].strip(" )\t\r\n"):
        return None
    step, newline = document.step(), document.newline
    head = [line if not number else inner + line.removeprefix(step) for number, line in enumerate(head)]
    end = document.line_stop(document.stop(loop.body[-1]))
    missing = "" if document.text[:end].endswith(("\n", "\r")) else newline
    lines = [*(inner + line for line in tail), "", *(indent + line for line in after)]
    closing = missing + newline.join(lines) + newline
    header = "".join(before) + head[0]
    if needs_blank_above(site, loop) and not _is_first_then(site, loop, more):
        start, header = document.line_start(start), f"{newline}{indent}{header}"
    changes = [*more, Change(start, colon + 1, header), Change(end, end, closing)]
    if len(head) > 1:
        behind = document.line_stop(colon)
        changes.append(Change(behind, behind, newline.join([*head[1:], ""])))
    return site.patch(False, what, *changes)


def _is_first_then(site: Site, loop: ast.stmt, more: Sequence[Change]) -> bool:
    """Whether nothing is left above a loop when other changes have been made."""
    block = site.document.block(loop)
    start = site.document.start(loop)
    is_second = block.index(loop) == 1 and bool(more) and not more[0].text
    return is_second and not site.document.text[more[0].stop : start].strip()


def needs_blank_above(site: Site, loop: ast.stmt) -> bool:
    """Whether a statement stands on the line above, which a function keeps its distance from."""
    document = site.document
    above = document.text[: document.line_start(document.start(loop))].removesuffix(document.newline)
    line = above[max(above.rfind("\n"), above.rfind("\r")) + 1 :].strip()
    return document.block(loop)[0] is not loop and bool(line) and not line.startswith("#")


def carried_by(
    site: Site, loop: ast.For | ast.While, own: set[str], skip: ast.stmt | None = None
) -> list[str] | None:
    """What goes from one turn to the next, or out of the loop; None if the loop cannot be made a function.
    skip: a statement that will be another one."""
    scope = site.document.scope(loop)
    if not isinstance(scope, FUNCTIONS) or isinstance(scope, ast.Lambda):
        return None
    inside = [node for each in loop.body if each is not skip for node in ast.walk(each)]
    stored = [name for node in inside if (name := _bound_at(site, node, loop))]
    if own & set(stored) or any(does_more(site, node) for node in inside):
        return None
    names = list(dict.fromkeys(stored))
    carried = [name for name in names if _goes_on(site, name, loop)]
    return carried if all(is_bound_before(site, name, loop) for name in carried) else None


def _goes_on(site: Site, name: str, loop: ast.For | ast.While) -> bool:
    """Whether another turn, the loop's test or what comes behind the loop reads what a turn has bound."""
    if isinstance(loop, ast.While) and name in names_in(loop.test):
        return True
    if reads_before_store(name, loop.body):
        return True
    return site.is_read_later(name, loop) and _is_read_behind(site, name, loop)


def _bound_at(site: Site, node: ast.AST, loop: ast.stmt) -> str:
    """The name that a node binds for the loop around; "" for others."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Store):
        return ""
    return "" if _is_in_comprehension(site, node, loop) else node.id


def does_more(site: Site, node: ast.AST) -> bool:
    """Whether it does more than compute and bind names."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        return not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Expr):
        return not is_harmless(site, node.value)
    return isinstance(node, (*_ESCAPES, *_ESCAPES_TOO))


def is_harmless(site: Site, node: ast.expr) -> bool:
    """A text, or a message that the compiled program gives."""
    if isinstance(node, ast.Constant):
        return True
    return isinstance(node, ast.Call) and site.names.meaning(node.func).startswith("jax.debug.")


def _is_in_comprehension(site: Site, node: ast.AST, loop: ast.stmt) -> bool:
    for around in site.document.above(node):
        if around is loop:
            return False
        if isinstance(around, ast.comprehension | ast.Lambda):
            return True
    return False


def reads_before_store(name: str, body: list[ast.stmt]) -> bool:
    """Whether a turn may read what an earlier one left: a read before a statement that surely binds the name."""
    for statement in body:
        if isinstance(statement, ast.If):
            bodies = (statement.body, statement.orelse)
            if name in names_in(statement.test) or any(reads_before_store(name, each) for each in bodies):
                return True
        elif isinstance(statement, ast.For) and name in stores(statement.target):
            return name in names_in(statement.iter)
        elif name in _reads(statement):
            return True
        if surely_stores(name, statement):
            return False
        if name in stores(statement) and not isinstance(statement, ast.If):
            return True
    return False


def surely_stores(name: str, statement: ast.stmt) -> bool:
    """Whether a statement binds a name on every way."""
    if isinstance(statement, ast.If):
        return all(
            any(surely_stores(name, each) for each in body) for body in (statement.body, statement.orelse)
        )
    return isinstance(statement, ast.Assign | ast.AnnAssign) and name in stores(statement)


def _reads(statement: ast.stmt) -> set[str]:
    found = names_in(statement)
    if isinstance(statement, ast.AugAssign):
        found |= stores(statement)
    return found | {
        each.target.id
        for each in ast.walk(statement)
        if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name)
    }


def stores(statement: ast.AST) -> set[str]:
    return {
        each.id
        for each in ast.walk(statement)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def _is_read_behind(site: Site, name: str, loop: ast.stmt) -> bool:
    """Whether what the loop leaves is read behind it, before it is bound anew in the same block."""
    block = site.document.block(loop)
    for statement in block[block.index(loop) + 1 :]:
        if name in _reads(statement):
            return True
        if isinstance(statement, ast.Assign) and name in stores(statement):
            return False
    return site.is_read_later(name, loop)


def is_bound_before(site: Site, name: str, loop: ast.stmt) -> bool:
    scope = site.document.scope(loop)
    assert isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef)
    arguments = scope.args
    if any(each.arg == name for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)):
        return True
    block = site.document.block(loop)
    return any(
        isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign) and name in stores(each)
        for each in block[: block.index(loop)]
    ) or (site.document.parent(loop) is not scope and _is_bound_above(site, name, loop))


def _is_bound_above(site: Site, name: str, loop: ast.stmt) -> bool:
    around = site.document.parent(loop)
    return (
        isinstance(around, ast.stmt)
        and not isinstance(around, FUNCTIONS)
        and is_bound_before(site, name, around)
    )
