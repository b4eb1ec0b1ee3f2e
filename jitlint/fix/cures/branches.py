"""Choices by traced values: `if`, the conditional expression, `and`, `or`, `not`, chains (layer: ``fix``).

What is written computes both sides. A branch is understood if it only returns, or only assigns names.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from itertools import pairwise

from jitlint.fix.patch import Change, Patch
from jitlint.fix.site import Site, is_plain, names_in

_NO_ARRAYS = (
    ast.Dict,
    ast.Set,
    ast.List,
    ast.Lambda,
    ast.JoinedStr,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Starred,
)
_NOT_TWICE = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_LOGICAL = {ast.And: "jax.numpy.logical_and", ast.Or: "jax.numpy.logical_or"}
_NO_VALUES = (ast.Is, ast.IsNot)


def branched(site: Site) -> Patch | None:
    """``if``/``else`` or ``a if c else b`` on a traced value: `jnp.where`."""
    for node in site.document.nodes(site.finding.span):
        if isinstance(node, ast.expr):
            found = of_test(site, node)
            if found is not None:
                return found
    return None


def of_test(site: Site, test: ast.expr) -> Patch | None:
    """The same, for an expression that may be the test of one of the two."""
    around = site.document.parent(test)
    if isinstance(around, ast.IfExp) and around.test is test:
        return _conditional(site, around)
    if isinstance(around, ast.If) and around.test is test:
        return _statement(site, around)
    return None


def _conditional(site: Site, node: ast.IfExp) -> Patch | None:
    text = _choice(site, [node.test], [node.body, node.orelse])
    if text is None or _depends_on_test(node):
        return None
    if isinstance(node.body, ast.Tuple):
        text = f"({text})"
    return site.patch(False, "use `jnp.where`, which computes both sides", site.replace(node, text))


def _depends_on_test(node: ast.IfExp) -> bool:
    """Whether the conditional is the function that is called, or holds another one that is not arrays."""
    return any(isinstance(each, _NOT_TWICE) for each in ast.walk(node))


@dataclass(slots=True)
class _Chain:
    """The tests of an ``if`` with its ``elif``s, and the bodies: one more if there is an ``else``."""

    tests: list[ast.expr] = field(default_factory=list)
    bodies: list[list[ast.stmt]] = field(default_factory=list)

    @property
    def has_else(self) -> bool:
        return len(self.bodies) > len(self.tests)


def _chain(site: Site, node: ast.If) -> _Chain:
    found = _Chain()
    while True:
        found.tests.append(node.test)
        found.bodies.append(node.body)
        rest = node.orelse
        if len(rest) == 1 and isinstance(rest[0], ast.If):
            node = rest[0]
            continue
        if rest:
            found.bodies.append(rest)
        return found


def _statement(site: Site, node: ast.If) -> Patch | None:
    document = site.document
    start = document.start(node)
    is_elif = document.text.startswith("elif", start)
    indent = document.text[document.line_start(start) : start]
    if indent.strip(" \t\f") or any(isinstance(each, _NOT_TWICE) for each in ast.walk(node.test)):
        return None
    chain = _chain(site, node)
    following = _following(site, node)
    returned = _returned(site, chain, following if not is_elif else None)
    if returned is not None:
        text, last = returned
        stop = document.stop(last if last is not None else node)
        return written(site, start, stop, indent, is_elif, [text])
    guard = _guarded(site, chain, node) if not is_elif else None
    if guard is not None:
        return guard
    lines = _assigned(site, chain, node)
    return None if lines is None else written(site, start, document.stop(node), indent, is_elif, lines)


def _guarded(site: Site, chain: _Chain, node: ast.If) -> Patch | None:
    """``if c: return a`` above some assignments and a ``return b``: that one chooses, and the ``if`` goes."""
    document = site.document
    body = chain.bodies[0]
    block = document.block(node)
    rest = block[block.index(node) + 1 :]
    if len(chain.bodies) != 1 or len(body) != 1 or len(rest) < 2 or not document.is_alone(rest[-1]):
        return None
    last = rest[-1]
    values = [each.value for each in (body[0], last) if isinstance(each, ast.Return) and each.value]
    if len(values) != 2 or not _leave_alone(rest[:-1], names_in(node.test) | names_in(values[0])):
        return None
    text = _choice(site, [node.test], values)
    start, stop = document.line_start(document.start(node)), document.line_stop(document.stop(node))
    if text is None or not document.is_alone(rest[0]):
        return None
    indent = document.text[start : document.start(node)]
    kept = [f"{indent}{comment}{document.newline}" for at, comment in document.comments if start <= at < stop]
    return site.patch(
        False,
        "use `jnp.where`, which computes both branches",
        Change(start, stop, "".join(kept)),
        site.replace(last, f"return {text}"),
    )


def _leave_alone(statements: list[ast.stmt], names: set[str]) -> bool:
    """Whether statements only assign, names alone, and none of these."""
    if not all(isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign) for each in statements):
        return False
    stored = set().union(*map(_stored, statements))
    return "" not in stored and not stored & names


def _stored(statement: ast.stmt) -> set[str]:
    """The names that an assignment binds; "" for places that are no names."""
    targets = (
        statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", statement)]
    )
    found = {
        each.id if isinstance(each, ast.Name) else ""
        for target in targets
        for each in ast.walk(target)
        if isinstance(each, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(each.ctx, ast.Load)
    }
    return found | ({""} if any(isinstance(each, _NOT_TWICE) for each in ast.walk(statement)) else set())


def written(
    site: Site,
    start: int,
    stop: int,
    indent: str,
    is_elif: bool,
    lines: list[str],
    what: str = "use `jnp.where`, which computes both branches",
) -> Patch | None:
    """Lines in the place of a statement; its comments stay, behind the line if there is one of each."""
    document = site.document
    if document.text[stop : document.line_stop(stop)].strip() and not any(
        document.text[stop : document.line_stop(stop)].lstrip().startswith(mark) for mark in "#"
    ):
        return None
    kept = [comment for at, comment in document.comments if start <= at < stop]
    inner = indent + document.step() if is_elif else indent
    behind = document.text[stop : document.line_stop(stop)].strip()
    if len(kept) == 1 and len(lines) == 1 and "\n" not in lines[0] and not behind:
        lines = [f"{lines[0]}  {kept[0]}"]
    else:
        lines = [*kept, *lines]
    text = (document.newline + inner).join(lines)
    if is_elif:
        text = f"else:{document.newline}{inner}{text}"
    return site.patch(False, what, Change(start, stop, text))


def _following(site: Site, node: ast.stmt) -> ast.stmt | None:
    block = site.document.block(node)
    at = block.index(node)
    return block[at + 1] if at + 1 < len(block) else None


def _returned(site: Site, chain: _Chain, following: ast.stmt | None) -> tuple[str, ast.stmt | None] | None:
    """``return`` with the choice; the statement behind the ``if`` that went into it."""
    bodies = [body[0] for body in chain.bodies if len(body) == 1]
    if len(bodies) != len(chain.bodies):
        return None
    last = None
    if not chain.has_else:
        if following is None or not site.document.is_alone(following):
            return None
        last = following
        bodies.append(following)
    values = [each.value for each in bodies if isinstance(each, ast.Return) and each.value is not None]
    if len(values) != len(bodies):
        return None
    text = _choice(site, chain.tests, values)
    return None if text is None else (f"return {text}", last)


def _assigned(site: Site, chain: _Chain, node: ast.If) -> list[str] | None:
    """One assignment per name that some branch assigns."""
    known = [body for each in chain.bodies if (body := _assignments(site, each)) is not None]
    known += [] if chain.has_else else [{}]
    names = list(dict.fromkeys(name for body in known for name in body))
    if len(known) != len(chain.tests) + 1 or not _go_together(names, known, chain.tests):
        return None
    lines: list[str] = []
    tested = set[str]().union(*map(names_in, chain.tests))
    for number, name in enumerate(names):
        values = _values_of(site, name, known, node)
        reads = tested.union(*(each for _, each in values))
        if not values or reads & set(names[:number]):  # these have their new values by then
            return None
        text = _nested(site, chain.tests, [value for value, _ in values])
        lines += [] if text is None else [f"{name} = {text}"]
    return lines if len(lines) == len(names) else None


def _go_together(
    names: list[str], bodies: list[dict[str, tuple[str, set[str]]]], tests: list[ast.expr]
) -> bool:
    """Whether all branches assign in one order, and the tests may be computed for each of the names."""
    if not names or not all(_in_order(body, names) for body in bodies):
        return False
    return len(names) == 1 or all(map(_is_pure, tests))


def _values_of(
    site: Site, name: str, bodies: list[dict[str, tuple[str, set[str]]]], node: ast.If
) -> list[tuple[str, set[str]]]:
    """What a name gets in each of the branches, and what that reads: its own value where a branch leaves it alone. Empty if
    it has none by then."""
    if not all(name in body for body in bodies) and not _is_bound_before(site, name, node):
        return []
    return [body.get(name, (name, {name})) for body in bodies]


def _assignments(site: Site, body: list[ast.stmt]) -> dict[str, tuple[str, set[str]]] | None:
    """Name to the text that it gets and what that reads, in order; None for anything else than assignments of names."""
    found: dict[str, tuple[str, set[str]]] = {}
    for each in body:
        if isinstance(each, ast.Pass):
            continue
        target: ast.expr | None = None
        if isinstance(each, ast.Assign) and len(each.targets) == 1:
            target = each.targets[0]
        elif isinstance(each, ast.AugAssign):
            target = each.target
        if (
            not isinstance(target, ast.Name)
            or not isinstance(each, ast.Assign | ast.AugAssign)
            or target.id in found
        ):
            return None
        if not _is_array(each.value) or names_in(each.value) & found.keys():
            return None
        text, reads = site.document.argument(each.value), names_in(each.value)
        if isinstance(each, ast.AugAssign):
            sign = site.document.text[site.document.stop(target) : site.document.start(each.value)]
            sign = sign.partition("=")[0].strip()
            text, reads = f"{target.id} {sign} {site.document.operand(each.value)}", reads | {target.id}
        found[target.id] = (text, reads)
    return found


def _in_order(body: dict[str, tuple[str, set[str]]], names: list[str]) -> bool:
    order = [name for name in names if name in body]
    return order == list(body)


def _is_bound_before(site: Site, name: str, node: ast.If) -> bool:
    """Whether the function has the name from its caller, or binds it in a statement above on every way."""
    scope = site.document.scope(node)
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        arguments = scope.args
        if any(each.arg == name for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)):
            return True
    inner: ast.AST = node
    for around in (node, *site.document.above(node)):
        if around is scope:
            break
        if isinstance(around, ast.stmt):
            block = site.document.block(around)
            before = block[: block.index(around)]
            if any(name in _binds(each) for each in before):
                return True
        inner = around
    return inner is scope


def _binds(statement: ast.stmt) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign | ast.AugAssign) and statement.value is not None:
        targets = [statement.target]
    return {
        each.id
        for target in targets
        for each in ast.walk(target)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def _choice(site: Site, tests: list[ast.expr], values: list[ast.expr]) -> str | None:
    """The expression that chooses: a tuple of choices if all values are tuples of one length."""
    rows = [value.elts for value in values if isinstance(value, ast.Tuple)]
    if len(rows) == len(values):
        return _choices(site, tests, rows)
    if not all(map(_is_array, values)):
        return None
    if len({ast.dump(value) for value in values}) == 1:
        return site.document.argument(values[0])
    return _nested(site, tests, [site.document.argument(value) for value in values])


def _choices(site: Site, tests: list[ast.expr], rows: list[list[ast.expr]]) -> str | None:
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or lengths == {0} or not all(map(_is_pure, tests)):
        return None
    parts = [part for column in zip(*rows) if (part := _choice(site, tests, list(column))) is not None]
    return None if {len(parts)} != lengths else ", ".join(parts) + "," * (len(parts) == 1)


def _nested(site: Site, tests: list[ast.expr], values: list[str]) -> str | None:
    function = site.name("jax.numpy.where", tests[0])
    text = values[-1]
    for test, value in zip(reversed(tests), reversed(values[:-1])):
        condition = logical(site, test)
        if condition is None or function is None:
            return None
        text = f"{function}({condition}, {value}, {text})"
    return text


def _is_array(node: ast.expr) -> bool:
    """Whether an expression may stand for an array, and may be computed although nobody wants it."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool | int | float | complex)
    if isinstance(node, (ast.Tuple, *_NO_ARRAYS)):
        return False
    return not any(isinstance(each, _NOT_TWICE) for each in ast.walk(node))


def _is_pure(node: ast.expr) -> bool:
    """Whether an expression may be computed twice: plain, or calls of what are functions by the look of it."""
    return not any(isinstance(each, (*_NOT_TWICE, ast.Lambda)) for each in ast.walk(node))


def logical(site: Site, node: ast.expr) -> str | None:
    """The text of a condition with functions of `jax.numpy` for `and`, `or`, `not` and chains."""
    if isinstance(node, ast.BoolOp):
        return _combined(site, node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = logical(site, node.operand)
        function = site.name("jax.numpy.logical_not", node)
        return (
            None
            if inner is None or function is None or _is_identity(node.operand)
            else f"{function}({inner})"
        )
    if isinstance(node, ast.Compare):
        return _compared(site, node)
    if any(isinstance(each, _NOT_TWICE) for each in ast.walk(node)):
        return None
    return site.document.argument(node)


def _combined(site: Site, node: ast.BoolOp) -> str | None:
    parts = [logical(site, each) for each in node.values]
    function = site.name(_LOGICAL[type(node.op)], node)
    if function is None or any(part is None for part in parts) or any(map(_is_identity, node.values)):
        return None
    text = parts[-1] or ""
    for part in reversed(parts[:-1]):
        text = f"{function}({part}, {text})"
    return text


def _is_identity(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) and any(isinstance(each, _NO_VALUES) for each in node.ops)


def _compared(site: Site, node: ast.Compare) -> str | None:
    document = site.document
    if any(isinstance(each, ast.In | ast.NotIn) for each in node.ops):
        return contained(site, node)
    if len(node.ops) == 1:
        return document.argument(node)
    if not all(map(is_plain, node.comparators[:-1])):
        return None
    operands = [node.left, *node.comparators]
    parts = [
        f"{document.operand(a)}{_between(site, a, b)}{document.operand(b)}" for a, b in pairwise(operands)
    ]
    function = site.name("jax.numpy.logical_and", node)
    if function is None:
        return None
    text = parts[-1]
    for part in reversed(parts[:-1]):
        text = f"{function}({part}, {text})"
    return text


def _between(site: Site, left: ast.expr, right: ast.expr) -> str:
    """The operator between two operands, without the brackets of these."""
    text = site.document.text[site.document.stop(left) : site.document.start(right)]
    return f" {text.strip('() ' + chr(9) + chr(13) + chr(10) + chr(92))} "


def contained(site: Site, node: ast.Compare) -> str | None:
    """``x in [1, 2]`` as `jnp.isin`, ``1 in v`` as well."""
    if len(node.ops) != 1:
        return None
    array, function = site.name("jax.numpy.array", node), site.name("jax.numpy.isin", node)
    right = node.comparators[0]
    if array is None or function is None or isinstance(right, ast.Dict | ast.Set | ast.Call | ast.Constant):
        return None
    text = site.document.argument(right)
    if isinstance(right, ast.List | ast.Tuple):
        if not right.elts or any(isinstance(each, ast.Starred) for each in right.elts):
            return None
        text = f"{array}({text})"
    invert = ", invert=True" if isinstance(node.ops[0], ast.NotIn) else ""
    return f"{function}({site.document.argument(node.left)}, {text}{invert})"
