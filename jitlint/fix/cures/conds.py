"""Branches that are more than choices: functions of their own, of which `jax.lax.cond` runs one (layer: ``fix``).

For what `jnp.where` cannot say: several steps, tuples and dictionaries, calls whose other side nobody wants computed. A
branch is understood if it only computes and binds names, and returns in the end or nowhere.
"""

from __future__ import annotations

import ast

from jitlint.fix.cures.branches import logical, written
from jitlint.fix.cures.loops import (
    does_more,
    is_bound_before,
    is_harmless,
    needs_blank_above,
    reads_before_store,
    stores,
    surely_stores,
)
from jitlint.fix.patch import Change, Patch
from jitlint.fix.site import Site

_MESSAGE = "use `jax.lax.cond`, which runs one of two functions"
_AT_MOST = 12
"""Statements behind an ``if`` that become a function with it."""


def called(site: Site) -> Patch | None:
    """``return f(x)`` and ``return g(x)``, functions of the file both: neither runs for nothing."""
    node = _chosen(site)
    if isinstance(node, ast.IfExp):
        return _expression(site, node)
    values = _values(node) if node is not None else None
    return None if node is None or values is None else _either(site, node, values)


def separated(site: Site) -> Patch | None:
    """An ``if`` with its ``else``, or with what follows it, as two functions."""
    node = _chosen(site)
    return _separated(site, node) if isinstance(node, ast.If) else None


def _chosen(site: Site) -> ast.If | ast.IfExp | None:
    """What the finding is the test of, or a part of the test."""
    for node in site.document.nodes(site.finding.span):
        around = site.document.parent(node)
        while isinstance(around, ast.BoolOp) or (
            isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not)
        ):
            node, around = around, site.document.parent(around)
        if isinstance(around, ast.If | ast.IfExp) and around.test is node:
            return around
    return None


def _values(node: ast.If) -> tuple[ast.expr, ast.expr] | None:
    """The two values of an ``if`` and ``else`` that do nothing but return or assign the same name."""
    if len(node.body) != 1 or len(node.orelse) != 1:
        return None
    first, second = node.body[0], node.orelse[0]
    if isinstance(first, ast.Return) and isinstance(second, ast.Return) and first.value and second.value:
        return first.value, second.value
    if not isinstance(first, ast.Assign) or not isinstance(second, ast.Assign):
        return None
    is_same = [ast.dump(each) for each in first.targets] == [ast.dump(each) for each in second.targets]
    return (first.value, second.value) if is_same and len(first.targets) == 1 else None


def _either(site: Site, node: ast.If, values: tuple[ast.expr, ast.expr]) -> Patch | None:
    document = site.document
    text = _cond(site, node.test, *values)
    if text is None or not document.is_alone(node.orelse[0]) or document.indent(node) is None:
        return None
    if document.text.startswith("elif", document.start(node)):
        return None
    first, indent = node.body[0], document.indent(node) or ""
    head = f"{document.source(first.targets[0])} =" if isinstance(first, ast.Assign) else "return"
    return written(
        site, document.start(node), document.stop(node), indent, False, [f"{head} {text}"], _MESSAGE
    )


def _expression(site: Site, node: ast.IfExp) -> Patch | None:
    text = _cond(site, node.test, node.body, node.orelse)
    return None if text is None else site.patch(False, _MESSAGE, site.replace(node, text))


def _cond(site: Site, test: ast.expr, first: ast.expr, second: ast.expr) -> str | None:
    if not _is_own_call(site, first) or not _is_own_call(site, second):
        return None
    function, condition = site.name("jax.lax.cond", test), logical(site, test)
    if function is None or condition is None:
        return None
    argument = site.document.argument
    return f"{function}({condition}, lambda: {argument(first)}, lambda: {argument(second)})"


def _is_own_call(site: Site, node: ast.expr) -> bool:
    """Whether it calls a function that the file defines, or a method of its own."""
    if not isinstance(node, ast.Call) or any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
        return False
    function = node.func
    is_own = isinstance(function, ast.Attribute) and getattr(function.value, "id", "") == "self"
    name = function.attr if is_own and isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return any(
        isinstance(each, ast.FunctionDef) and each.name == name for each in ast.walk(site.document.tree)
    )


def _separated(site: Site, node: ast.If) -> Patch | None:
    document = site.document
    indent, block = document.indent(node), document.block(node)
    if indent is None or _is_elif(site, node) or not isinstance(document.scope(node), ast.FunctionDef):
        return None
    last, rest, out = node, [], None
    if _leaves(node.body):
        while len(last.orelse) == 1 and isinstance(last.orelse[0], ast.If) and _is_elif(site, last.orelse[0]):
            last = last.orelse[0]
        rest = [] if last.orelse else block[block.index(node) + 1 :]
        if len(rest) > _AT_MOST:
            return None
    else:
        out = _results(site, node)
        if out is None:
            return None
    lines = _lines(site, node, rest, out, indent)
    return None if lines is None else _written(site, node, rest, lines)


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a body returns a value, whichever way it goes."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _leaves(last.body) and _leaves(last.orelse)
    return isinstance(last, ast.Return) and last.value is not None


def _results(site: Site, node: ast.If) -> list[str] | None:
    """The names that the branches give to what comes behind; None if some may have no value."""
    names = list(dict.fromkeys(name for each in (*node.body, *node.orelse) for name in _stored(each)))
    out = [name for name in names if site.is_read_later(name, node)]
    for name in out:
        sure = all(_surely(name, body) for body in (node.body, node.orelse))
        if not sure and not is_bound_before(site, name, node):
            return None
    does = all(is_harmless(site, each.value) for each in node.body if isinstance(each, ast.Expr))
    return out if out or (does and not names and not node.orelse) else None


def _surely(name: str, body: list[ast.stmt]) -> bool:
    """Whether a body binds a name on every way."""
    return any(surely_stores(name, each) for each in body)


def _stored(statement: ast.stmt) -> list[str]:
    """The names that a statement binds, in the order in which they are written."""
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
    found: list[str] = []
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append(node.id)
        waiting = [*(() if isinstance(node, kinds) else ast.iter_child_nodes(node)), *waiting]
    return found


def _is_computation(site: Site, body: list[ast.stmt], may_return: bool) -> bool:
    """Whether statements do nothing but compute, bind names, and return where they may."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Return) and may_return and node.value is not None:
                continue
            if isinstance(node, ast.While | ast.With | ast.Assert | ast.Match) or does_more(site, node):
                return False
    return True


def _lines(
    site: Site, node: ast.If, rest: list[ast.stmt], out: list[str] | None, indent: str
) -> list[str] | None:
    """The functions, and the call of one of them. rest: what stands behind the whole, and belongs to it.
    out: the names that the functions give; None if they return."""
    bodies = _bodies(site, node, rest, out is None)
    if not bodies or _asks_what_it_is(node.test):
        return None
    given = _given(site, node, bodies, out or [])
    function, condition = site.name("jax.lax.cond", node), logical(site, node.test)
    if given is None or function is None or condition is None:
        return None
    names = [site.names.fresh("if_true", "when_true"), site.names.fresh("if_false", "when_false")]
    lines: list[str] = []
    for name, body in zip(names, bodies):
        inside = _body(site, body, rest, out, indent + site.document.step())
        if inside is None:
            return None
        lines += [f"{indent}def {name}({', '.join(given)}):", *inside, ""]
    if len(bodies) < 2:
        names[1] = f"lambda {', '.join(given)}: {_grouped(out or [])}" if given else "lambda: None"
    call = f"{function}({', '.join([condition, *names, *given])})"
    return [*lines, f"{indent}{_bound(out)}{call}"]


def _bodies(site: Site, node: ast.If, rest: list[ast.stmt], leaves: bool) -> list[list[ast.stmt]]:
    """The branches that become functions; none if one does more than compute, or does not return where both have to."""
    bodies = [body for body in (node.body, node.orelse or rest) if body]
    if leaves and not (len(bodies) == 2 and _leaves(node.body) and _leaves([*bodies[1], *rest])):
        return []
    return bodies if all(_is_computation(site, body, leaves) for body in bodies) else []


def _bound(out: list[str] | None) -> str:
    """What stands before the call."""
    if out is None:
        return "return "
    return f"{', '.join(out)} = " if out else ""


def _asks_what_it_is(test: ast.expr) -> bool:
    """Whether a test is one that Python answers, after which only one side may make sense."""
    return any(
        isinstance(each, ast.Is | ast.IsNot) or getattr(each, "id", "") == "isinstance"
        for each in ast.walk(test)
    )


def _written(site: Site, node: ast.If, rest: list[ast.stmt], lines: list[str]) -> Patch | None:
    document, newline = site.document, site.document.newline
    start, stop = document.line_start(document.start(node)), document.stop(rest[-1] if rest else node)
    if document.text[stop : document.line_stop(stop)].strip():
        stop = document.line_stop(stop)
    end = newline if document.text[:stop].endswith(("\n", "\r")) else ""
    inside = [line.partition("#")[1] + line.partition("#")[2] for line in lines if "#" in line]
    kept = [comment for at, comment in document.comments if start <= at < stop]
    indent = document.indent(node) or ""
    lines = [*(indent + each for each in kept if not any(each in line for line in inside)), *lines]
    if needs_blank_above(site, node):
        lines = ["", *lines]
    return site.patch(False, _MESSAGE, Change(start, stop, newline.join(lines) + end))


def _is_elif(site: Site, node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and site.document.text.startswith("elif", site.document.start(node))


def _given(site: Site, node: ast.If, bodies: list[list[ast.stmt]], out: list[str]) -> list[str] | None:
    """The names that the functions get: those that they bind anew, and read before or leave alone."""
    given: list[str] = []
    names = [name for body in bodies for each in body for name in _stored(each)]
    for name in dict.fromkeys(names):
        is_read = any(reads_before_store(name, body) for body in bodies if _binds(name, body))
        is_left = name in out and (len(bodies) < 2 or not all(_surely(name, body) for body in bodies))
        if not is_read and not is_left:
            continue
        if not is_bound_before(site, name, node):
            return None
        given.append(name)
    return given


def _binds(name: str, body: list[ast.stmt]) -> bool:
    return any(name in stores(each) for each in body)


def _body(
    site: Site, body: list[ast.stmt], rest: list[ast.stmt], out: list[str] | None, inner: str
) -> list[str] | None:
    """A branch with its comments as the body of a function."""
    first = body[0]
    if isinstance(first, ast.If) and _is_elif(site, first):
        lines = _lines(site, first, rest, out, inner)
        if lines is not None and out:
            lines[-1] = f"{inner}return {lines[-1].partition(' = ')[2]}"
        return lines
    lines = site.document.moved(body, inner)
    if lines is None:
        return None
    return [*lines, f"{inner}return {_grouped(out)}"] if out else lines


def _grouped(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
