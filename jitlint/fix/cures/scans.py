"""Loops that become `jax.lax.scan` or `jax.lax.map`: under a derivative, over rows, with a list of results (layer: ``fix``)."""

from __future__ import annotations

import ast

from jitlint.fix.cures.loops import carried_by, grouped, is_range, listed, rewritten, stores
from jitlint.fix.patch import Change, Patch
from jitlint.fix.site import Site, is_plain, names_in

_STACKING = frozenset(
    f"jax.numpy.{name}" for name in ("stack", "array", "asarray", "vstack", "hstack", "concatenate")
)
"""What makes the same of an array as of the list of its rows."""


def scanned(site: Site) -> Patch | None:
    """A loop over a traced number under a derivative: `jax.lax.scan` over the array that it reads by this number, whose
    later turns count for nothing."""
    call = site.node(ast.Call)
    loop = _loop_over(site, call) if call is not None else None
    if call is None or loop is None or loop.orelse or not site.facts.get("differentiated"):
        return None
    if not is_range(call) or call.keywords or len(call.args) != 1:
        return None
    turn, count = getattr(loop.target, "id", ""), call.args[0]
    carried, read = carried_by(site, loop, {turn}), _read_by_turn(loop, turn)
    if not turn or not carried or not read or site.is_read_later(turn, loop):
        return None
    if not is_plain(count) or names_in(count) & set(carried):
        return None
    return _masked_scan(site, loop, carried, turn, site.document.argument(count), read)


def _masked_scan(
    site: Site, loop: ast.For, carried: list[str], turn: str, count: str, read: str
) -> Patch | None:
    """A scan over all rows of an array, of which the first so many count."""
    scan, where = site.name("jax.lax.scan", loop), site.name("jax.numpy.where", loop)
    numbers = site.name("jax.numpy.arange", loop)
    if not (scan and where and numbers):
        return None
    name = site.names.fresh("body", "loop_body", "turn")
    before, unused = site.names.fresh("carry", "state", "values"), site.names.unread("_", "unused")
    head = [f"def {name}({before}, {turn}):", f"{site.document.step()}{listed(carried)} = {before}"]
    kept = f"{where}({turn} < {count}, {carried[0]}, {before})"
    if len(carried) > 1:
        function = site.name("jax.tree.map", loop)
        pick = f"lambda new, old: {where}({turn} < {count}, new, old)"
        kept = f"{function}({pick}, {grouped(carried)}, {before})"
    after = f"{grouped(carried)}, {unused} = {scan}({name}, {grouped(carried)}, {numbers}({read}.shape[0]))"
    what = f"use `{scan}` over all of `{read}`, which has a derivative"
    return rewritten(site, loop, [], head, [f"return {kept}, None"], [after], what)


def _read_by_turn(loop: ast.For, turn: str) -> str:
    """The array of which each turn reads its own element, and which therefore says how many turns there may be."""
    bound = {name for each in loop.body for name in stores(each)}
    for each in loop.body:
        for node in ast.walk(each):
            if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
                continue
            index = (
                node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
            )
            if getattr(index, "id", "") == turn and node.value.id not in bound:
                return node.value.id
    return ""


def unrolled(site: Site) -> Patch | None:
    """``for row in x``, and turns whose results a list collects: `jax.lax.scan`, `jax.lax.map` if they need no other."""
    found = (_loop_over(site, node) for node in site.document.nodes(site.finding.span))
    loop = next(filter(None, found), None)
    if loop is None or loop.orelse or any(site.is_read_later(name, loop) for name in stores(loop.target)):
        return None
    kept = _collected(site, loop)
    turn, rows = _rows(site, loop)
    if not rows or (kept is None and isinstance(loop.iter, ast.Call) and is_range(loop.iter)):
        return None
    carried = carried_by(site, loop, stores(loop.target), None if kept is None else kept.append)
    if carried is None or not (carried or kept):
        return None
    return _scan(site, loop, carried, kept, turn, rows)


class _Kept:
    """A list that gets one item in each turn. made, append: the statements; value: the item."""

    def __init__(self, name: str, made: ast.stmt, append: ast.stmt, value: ast.expr) -> None:
        self.name = name
        self.made = made
        self.append = append
        self.value = value


def _loop_over(site: Site, node: ast.AST) -> ast.For | None:
    loop = node if isinstance(node, ast.For) else site.document.parent(node)
    return loop if isinstance(loop, ast.For) and node in (loop, loop.iter) else None


def _rows(site: Site, loop: ast.For) -> tuple[list[str], str]:
    """What a turn gets, and the array of which it is a row; "" for loops over something else."""
    document, over, target = site.document, loop.iter, loop.target
    if isinstance(over, ast.Name) and isinstance(target, ast.Name):
        return [target.id], over.id
    if not isinstance(over, ast.Call) or over.keywords:
        return [], ""
    if is_range(over) and isinstance(target, ast.Name):
        numbers = site.name("jax.numpy.arange", loop)
        bounds = ", ".join(map(document.argument, over.args))
        return [target.id], f"{numbers}({bounds})" if numbers else ""
    return _numbered(site, over, target)


def _numbered(site: Site, over: ast.Call, target: ast.expr) -> tuple[list[str], str]:
    """The same for `enumerate`."""
    array = over.args[0] if len(over.args) == 1 and getattr(over.func, "id", "") == "enumerate" else None
    names = [each.id for each in getattr(target, "elts", ()) if isinstance(each, ast.Name)]
    if not isinstance(array, ast.Name) or len(names) != 2:
        return [], ""
    numbers = site.name("jax.numpy.arange", over)
    return names, f"({numbers}({array.id}.shape[0]), {array.id})" if numbers else ""


def _collected(site: Site, loop: ast.For) -> _Kept | None:
    """The list that a turn ends by adding to, if it is made empty just for that, and only stacked afterwards."""
    added = _added(loop.body[-1])
    if added is None:
        return None
    owner, value = added
    made = _made_before(site, loop, owner.id)
    uses = [each for each in _names_of(site, loop, owner.id) if each is not owner]
    read = [each for each in uses if isinstance(each.ctx, ast.Load)]
    if made is None or not read or len(uses) != len(read) + 1:
        return None
    return (
        _Kept(owner.id, made, loop.body[-1], value) if all(_is_stacked(site, each) for each in read) else None
    )


def _added(statement: ast.stmt) -> tuple[ast.Name, ast.expr] | None:
    """The list and the value of ``xs.append(v)``."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or len(call.args) != 1 or isinstance(call.args[0], ast.Starred):
        return None
    owner = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "append" else None
    return (owner, call.args[0]) if isinstance(owner, ast.Name) else None


def _names_of(site: Site, loop: ast.For, name: str) -> list[ast.Name]:
    scope = site.document.scope(loop)
    return [each for each in ast.walk(scope) if isinstance(each, ast.Name) and each.id == name]


def _made_before(site: Site, loop: ast.For, name: str) -> ast.Assign | None:
    """The one statement above a loop that makes an empty list of a name."""
    block = site.document.block(loop)
    above = [each for each in block[: block.index(loop)] if name in stores(each)]
    made = above[0] if len(above) == 1 else None
    return made if isinstance(made, ast.Assign) and _is_empty_list(site, made) else None


def _is_empty_list(site: Site, statement: ast.Assign) -> bool:
    is_alone = len(statement.targets) == 1 and site.document.is_alone(statement)
    return is_alone and isinstance(statement.value, ast.List) and not statement.value.elts


def _is_stacked(site: Site, node: ast.Name) -> bool:
    call = site.document.parent(node)
    return (
        isinstance(call, ast.Call) and call.args[:1] == [node] and site.names.meaning(call.func) in _STACKING
    )


def _scan(
    site: Site, loop: ast.For, carried: list[str], kept: _Kept | None, turn: list[str], rows: str
) -> Patch | None:
    function = site.name("jax.lax.scan" if carried else "jax.lax.map", loop)
    name, unused = site.names.fresh("body", "loop_body", "turn"), site.names.unread("_", "unused")
    if function is None:
        return None
    step, before = site.document.step(), site.names.fresh("carry", "state", "values")
    row = turn[0] if len(turn) == 1 else site.names.fresh("numbered", "row")
    given = [*([carried[0] if len(carried) == 1 else before] if carried else []), row]
    head = [f"def {name}({', '.join(given)}):"]
    head += [f"{step}{listed(carried)} = {before}"] if len(carried) > 1 else []
    head += [f"{step}{', '.join(turn)} = {row}"] if len(turn) > 1 else []
    item = "None" if kept is None else site.document.argument(kept.value)
    result = f"return {grouped(carried)}, {item}" if carried else f"return {item}"
    left = kept.name if kept is not None else unused
    after = f"{left} = {function}({name}, {rows})"
    if carried:
        after = f"{grouped(carried)}, {left} = {function}({name}, {grouped(carried)}, {rows})"
    more: list[Change] = []
    if kept is not None:
        document = site.document
        start = document.line_start(document.start(kept.made))
        stop = document.line_stop(document.stop(kept.made))
        comment = document.text[document.stop(kept.made) : stop].strip()
        text = f"{document.indent(kept.made)}{comment}{document.newline}" if comment else ""
        more = [Change(start, stop, text), site.replace(kept.append, result)]
    tail = [] if kept is not None else [result]
    return rewritten(site, loop, [], head, tail, [after], f"use `{function}`", *more)
