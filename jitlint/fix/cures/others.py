"""Random keys, clocks, names of modules, comments that silence nothing (layer: ``fix``)."""

from __future__ import annotations

import ast
import re
from typing import Final

from jitlint.base.diagnostic import Safety, Span
from jitlint.fix.patch import Change, Patch
from jitlint.fix.site import Site

_LOOPS = (ast.For, ast.While)
_SIMPLE = (ast.Assign, ast.Expr, ast.AugAssign, ast.AnnAssign, ast.Return)

_CALLED_KEY: Final = re.compile(r"key|rng|^k\d*$|^k_|_k$")


def split(site: Site) -> Patch | None:
    """A key that is used again: it is split before the first use, which takes the new key."""
    how = site.facts.get("how", "")
    if how in ("again", "seed"):
        step = next(
            (each for each in site.finding.related if each.message == "the key is used first here"), None
        )
        if step is None or step.path != site.finding.path or step.span == site.finding.span:
            return None
        return _split_before(site, step.span)
    return _split_before(site, site.finding.span, True) if how == "loop" else None


def _split_before(site: Site, use: Span, in_loop: bool = False) -> Patch | None:
    document = site.document
    first = next((each for each in document.nodes(use) if isinstance(each, ast.Call)), None)
    again = site.node(ast.Call)
    if first is None or again is None or document.scope(first) is not document.scope(again):
        return None
    key, statement = _key(site, first, again), document.statement(first)
    indent = document.indent(statement) if isinstance(statement, _SIMPLE) else None
    if key is None or statement is None or indent is None or not _may_be_split(site, key, first, statement):
        return None
    if not (_is_in_loop(site, statement) if in_loop else _are_apart(site, statement, again)):
        return None
    function = _as_there(site, first) or site.name("jax.random.split", first)
    if function is None:
        return None
    new = site.names.fresh("subkey", f"{key.id}_now", "draw_key")
    text = f"{key.id}, {new} = {function}({key.id}){document.newline}{indent}"
    at = document.start(statement)
    return site.patch(
        False,
        f"split `{key.id}` before it is used: other random numbers",
        Change(at, at, text),
        site.replace(key, new),
    )


def _may_be_split(site: Site, key: ast.Name, use: ast.Call, statement: ast.stmt) -> bool:
    """Whether the function has one key in that name, and may bind the name anew above the statement."""
    if key.id.endswith("s") or not isinstance(use.func, ast.Name | ast.Attribute):
        return False  # several keys
    # What is bound to the key in the very statement would take the place of the new one.
    stored = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return key.id not in stored and site.is_local(key.id, use) and not _is_in_comprehension(site, use)


def _is_in_loop(site: Site, statement: ast.stmt) -> bool:
    loop = next((each for each in site.document.above(statement) if isinstance(each, _LOOPS)), None)
    return loop is not None and site.document.scope(loop) is site.document.scope(statement)


def _as_there(site: Site, call: ast.Call) -> str:
    """`split` of the module whose function is called."""
    function = call.func
    if not isinstance(function, ast.Attribute) or site.names.meaning(function.value) != "jax.random":
        return ""
    return f"{site.document.source(function.value)}.split"


def _key(site: Site, first: ast.Call, again: ast.Call) -> ast.Name | None:
    """The key that both calls get, as the first one has it. What a function of the project gets may have the key inside."""
    names = {each.id for each in _arguments(again) if isinstance(each, ast.Name)}
    found = [each for each in _arguments(first) if isinstance(each, ast.Name) and each.id in names]
    likely = [each for each in found if _CALLED_KEY.search(each.id.lower())]
    chosen = found if len(found) == 1 and _as_there(site, first) else likely
    return chosen[0] if len(chosen) == 1 else None


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(each.value for each in call.keywords)]


def _are_apart(site: Site, statement: ast.stmt, again: ast.Call) -> bool:
    """Whether the second use stands behind the first one's statement, in its block."""
    block = site.document.block(statement)
    behind = block[block.index(statement) + 1 :]
    return any(again in ast.walk(each) for each in behind)


def _is_in_comprehension(site: Site, node: ast.AST) -> bool:
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for around in site.document.above(node):
        if isinstance(around, ast.stmt):
            return False
        if isinstance(around, kinds):
            return True
    return False


def waited(site: Site) -> Patch | None:
    """What is measured is waited for before the clock is read."""
    step = site.finding.related[-1] if site.finding.related else None
    if step is None or step.path != site.finding.path or "starts here" not in step.message:
        return None
    call = next((each for each in site.document.nodes(step.span) if isinstance(each, ast.Call)), None)
    around = site.document.parent(call) if call is not None else None
    if call is None or not isinstance(around, ast.Expr | ast.Assign | ast.AnnAssign):
        return None
    if isinstance(around, ast.Expr) and not _may_give(site, call):
        return None
    function = site.name("jax.block_until_ready", call)
    if function is None:
        return None
    start, stop = site.document.start(call), site.document.stop(call)
    return site.patch(
        False,
        f"wait for the result with `{function}`, on every run",
        Change(start, start, f"{function}("),
        Change(stop, stop, ")"),
    )


def _may_give(site: Site, call: ast.Call) -> bool:
    """Whether a call whose result nobody keeps may have one to wait for, as far as the file says."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    found = [
        each
        for each in ast.walk(site.document.tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name == name
    ]
    if found:
        parts = [part for each in found for part in ast.walk(each)]
        return any(isinstance(part, ast.Return) and part.value is not None for part in parts)
    is_own = isinstance(function, ast.Attribute) and getattr(function.value, "id", "") in ("self", "cls")
    return not is_own


def renamed(site: Site) -> Patch | None:
    """``import jax.numpy as np`` becomes ``as jnp``, with every use."""
    document = site.document
    statement = site.node(ast.Import) or site.node(ast.ImportFrom)
    name = site.facts.get("name", "")
    if statement is None or document.parent(statement) is not document.tree or not site.names.is_free("jnp"):
        return None
    aliases = [each for each in statement.names if (each.asname or each.name) == name]
    others = [node for node in ast.walk(document.tree) if _is_called(node, name) and node not in aliases]
    if len(aliases) != 1 or others:
        return None
    uses = _uses(site, name)
    if uses is None:
        return None
    alias = aliases[0]
    changes = [site.replace(alias, f"{alias.name} as jnp"), *(site.replace(node, "jnp") for node in uses)]
    return site.patch(True, "call it `jnp`, here and at every use", *changes)


def _uses(site: Site, name: str) -> list[ast.Name] | None:
    """Where a name is read; None if one of these places cannot be told."""
    nodes = ast.walk(site.document.tree)
    found = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    return found if all(site.document.source(node) == name for node in found) else None


def _is_called(node: ast.AST, name: str) -> bool:
    """Whether something gets the name, or may be meant by it in a text."""
    if isinstance(node, ast.alias):
        return (node.asname or node.name.partition(".")[0]) == name
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Constant):
        return bool(node.value == name)
    return isinstance(node, ast.arg) and node.arg == name


def silences_nothing(site: Site) -> Patch | None:
    """A comment that silences nothing goes; what else the line has stays."""
    document, span = site.document, site.finding.span
    start, stop = document.offset(span.line, span.column), document.offset(span.end_line, span.end_column)
    text = document.text
    line_start, line_stop = document.line_start(start), document.line_stop(start)
    behind = text[stop:line_stop].rstrip("\r\n")
    if not text.startswith("#", start) or (behind.strip() and not behind.lstrip().startswith("#")):
        return None
    if behind.strip():
        stop += len(behind) - len(behind.lstrip())
    elif not text[line_start:start].strip():
        start, stop = line_start, line_stop
    else:
        start, stop = line_start + len(text[line_start:start].rstrip()), stop + len(behind)
    return Patch(Safety.SAFE, "remove the comment", (Change(start, stop, ""),))
