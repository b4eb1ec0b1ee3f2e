"""Arrays that never change: stores, updates, lists in their places (layer: ``fix``)."""

from __future__ import annotations

import ast

from jitlint.fix.patch import Change, Patch
from jitlint.fix.site import Site, is_place, is_plain, root_of

_METHODS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
}
"""What `.at[]` has for an operator in every JAX that is supported."""
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Sub: "-",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_LIMITS = {
    name: method
    for method, module in (("min", "minimum"), ("max", "maximum"))
    for name in (method, f"numpy.{module}", f"jax.numpy.{module}")
}
_IN_PLACE = {"sort": ("jax.numpy.sort", ""), "fill": ("jax.numpy.full_like", ", ")}
"""Methods of NumPy's arrays that change them: the function that makes the array instead."""


def stored(site: Site) -> Patch | None:
    """``x[i] = v`` becomes ``x = x.at[i].set(v)``, and the like for ``+=``."""
    document = site.document
    target = site.node(ast.Subscript)
    statement = document.parent(target) if target is not None else None
    if target is None or not isinstance(statement, ast.Assign | ast.AugAssign):
        return None
    if not _is_taken(site, target, statement):
        return None
    base = target.value
    has_at = isinstance(base, ast.Attribute) and base.attr == "at" and isinstance(statement, ast.Assign)
    if isinstance(base, ast.Attribute) and has_at:
        base = base.value
    found = _update(site, target, statement)
    if found is None or not is_place(base) or not _is_kept(site, base, statement):
        return None
    method, operation = found
    start, end = document.start(target), document.stop(target)
    stop = document.stop(statement)
    tail = document.text.index("=", end) + 1
    tail += len(document.text[tail:]) - len(document.text[tail:].lstrip(" \t"))
    opening, closing = _around(site, statement.value, operation)
    limit = _limit(site, target, statement)
    ends = Change(stop, stop, f"{closing})")
    if limit is not None:
        method, value = limit
        opening, tail, ends = "", document.start(value), Change(document.stop(value), stop, ")")
    whole = document.source(base)
    return site.patch(
        _is_own(site, base, target),
        f"write `{whole} = {whole}.at[...].{method}(...)`",
        Change(start, start, f"{whole} = "),
        *(() if has_at else (Change(document.stop(base), document.stop(base), ".at"),)),
        Change(end, tail, f".{method}({opening}"),
        ends,
    )


def _is_taken(site: Site, target: ast.Subscript, statement: ast.Assign | ast.AugAssign) -> bool:
    """Whether a statement stores in one place, and JAX takes what it stores there as far as one can see."""
    if isinstance(statement, ast.AugAssign):
        return True
    return statement.targets == [target] and not _is_one_row(site, statement.value, target.slice)


def _is_one_row(site: Site, value: ast.expr, index: ast.expr) -> bool:
    """Whether a single place gets what is seen to be an array of one element, which NumPy takes and JAX does not."""
    if isinstance(index, ast.Slice | ast.Tuple):
        return False
    if isinstance(value, ast.Name):
        made = [site.document.parent(each) for each in site.stores(value.id, value)]
        values = [each.value for each in made if isinstance(each, ast.Assign)]
        return any(_is_one_row(site, each, index) for each in values if not isinstance(each, ast.Name))
    given = [*value.args, *(each.value for each in value.keywords)] if isinstance(value, ast.Call) else []
    return any(isinstance(each, ast.Tuple) and ast.unparse(each) == "(1,)" for each in given)


def _limit(
    site: Site, target: ast.expr, statement: ast.Assign | ast.AugAssign
) -> tuple[str, ast.expr] | None:
    """The method and the value of ``x[i] = min(x[i], v)``, which `.at[]` has as one."""
    call = statement.value
    if not isinstance(statement, ast.Assign) or not isinstance(call, ast.Call) or call.keywords:
        return None
    name = site.names.meaning(call.func)
    if isinstance(call.func, ast.Name) and site.names.is_builtin(call.func.id, call):
        name = call.func.id
    method = _LIMITS.get(name)
    if method is None or len(call.args) != 2 or not is_plain(target):
        return None
    same = [ast.unparse(each) == ast.unparse(target) for each in call.args]
    value = call.args[same.index(True) - 1] if sum(same) == 1 else None
    if value is None or isinstance(value, ast.Starred | ast.GeneratorExp | ast.NamedExpr):
        return None
    return method, value


def _around(site: Site, value: ast.expr, operation: str) -> tuple[str, str]:
    """What stands before and behind the value in its new place: brackets, where it needs some."""
    is_open = isinstance(value, ast.Tuple | ast.GeneratorExp | ast.Yield | ast.YieldFrom)
    if is_open or (operation and not site.document.is_atom(value)):
        return f"{operation}(", ")"
    return operation, ""


def masked(site: Site) -> Patch | None:
    """``x[x < 0] = v`` becomes ``x = jnp.where(x < 0, v, x)``."""
    document = site.document
    target = site.node(ast.Subscript)
    statement = document.parent(target) if target is not None else None
    if target is None or not isinstance(statement, ast.Assign | ast.AugAssign):
        return None
    base, mask = target.value, target.slice
    is_mask = isinstance(mask, ast.Compare) or (
        isinstance(mask, ast.UnaryOp | ast.BinOp) and isinstance(mask.op, ast.Invert | ast.BitAnd | ast.BitOr)
    )
    if not is_mask or not isinstance(base, ast.Name) or not _is_kept(site, base, statement):
        return None
    if isinstance(statement, ast.Assign) and len(statement.targets) != 1:
        return None
    where = site.name("jax.numpy.where", statement)
    value = document.argument(statement.value)
    if isinstance(statement, ast.AugAssign):
        sign = (
            document.text[document.stop(target) : document.start(statement.value)].partition("=")[0].strip()
        )
        value = f"{base.id} {sign} {document.operand(statement.value)}"
    if where is None:
        return None
    text = f"{base.id} = {where}({document.argument(mask)}, {value}, {base.id})"
    return site.patch(False, f"use `{where}`", site.replace(statement, text))


def _update(
    site: Site, target: ast.Subscript, statement: ast.Assign | ast.AugAssign
) -> tuple[str, str] | None:
    """The method of `.at[]`, and what stands before the value in its argument."""
    if isinstance(statement, ast.Assign):
        return "set", ""
    method = _METHODS.get(type(statement.op))
    if method is not None:
        return method, ""
    if isinstance(statement.op, ast.Sub) and not is_plain(target.slice):
        return "add", "-"
    if not is_plain(target.slice):
        return None
    return "set", f"{site.document.source(target)} {_OPERATORS[type(statement.op)]} "


def _is_kept(site: Site, base: ast.expr, at: ast.stmt) -> bool:
    """Whether the new array will be seen: the name is the scope's own, and read afterwards."""
    root = root_of(base)
    if not site.is_local(root, at):
        return False
    return not isinstance(base, ast.Name) or site.is_read_later(root, at)


def _is_own(site: Site, base: ast.expr, target: ast.Subscript) -> bool:
    """Whether nobody else holds the array that was to be changed, as far as the scope shows, and no index comes twice."""
    if not isinstance(base, ast.Name):
        return False
    scope = site.document.scope(target)
    if not all(_is_made(site.document.parent(name)) for name in site.stores(base.id, target)):
        return False
    if isinstance(scope, ast.Module):
        return True
    returned = [node for node in ast.walk(scope) if isinstance(node, ast.Return | ast.Yield)]
    is_parameter = any(isinstance(node, ast.arg) and node.arg == base.id for node in ast.walk(scope))
    if is_parameter and not any(
        node.value is not None and base.id in _names(node.value) for node in returned
    ):
        return False
    return isinstance(site.document.parent(target), ast.Assign) or _is_single(target.slice)


def _is_made(around: ast.AST | None) -> bool:
    """Whether a statement binds its name to what it makes itself."""
    value = around.value if isinstance(around, ast.Assign | ast.AnnAssign | ast.AugAssign) else None
    if isinstance(value, ast.Call):
        return not _may_share(value)
    return isinstance(value, ast.BinOp | ast.UnaryOp | ast.IfExp)


def _may_share(call: ast.Call) -> bool:
    """Whether what a call gives may be (a part of) one of its arguments in NumPy: a view."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in {"reshape", "ravel", "view", "transpose", "squeeze", "asarray", "swapaxes", "atleast_1d"}


def _is_single(index: ast.expr) -> bool:
    """Whether an index names each element once, whatever its names are."""
    if isinstance(index, ast.Tuple):
        return all(map(_is_single, index.elts))
    if isinstance(index, ast.UnaryOp):
        return _is_single(index.operand)
    return isinstance(index, ast.Slice | ast.Constant)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def dropped(site: Site) -> Patch | None:
    """``x.at[i].set(v)`` alone in a line is bound to the name."""
    call = site.node(ast.Call)
    statement = site.document.parent(call) if call is not None else None
    if call is None or not isinstance(statement, ast.Expr):
        return None
    node: ast.expr = call
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        inner = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Attribute) and node.attr == "at":
            break
        node = inner
    else:
        return None
    base = node.value
    if not is_place(base) or not _is_kept(site, base, statement):
        return None
    start, whole = site.document.start(statement), site.document.source(base)
    if start != site.document.start(call):
        return None
    return site.patch(False, f"bind the new array to `{whole}`", Change(start, start, f"{whole} = "))


def changed_in_place(site: Site) -> Patch | None:
    """``x.sort()`` becomes ``x = jnp.sort(x)``, ``del x[i]`` uses `jnp.delete`, ``out=c`` becomes ``c = ...``."""
    operation = site.facts.get("op")
    if operation == "method":
        return _method(site)
    if operation == "out":
        return _out(site)
    return _deleted(site) if operation == "delitem" else None


def _method(site: Site) -> Patch | None:
    function = site.node(ast.Attribute)
    call = site.document.parent(function) if function is not None else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        return None
    statement, base = site.document.parent(call), call.func.value
    known = _IN_PLACE.get(call.func.attr)
    if known is None or not isinstance(statement, ast.Expr) or not isinstance(base, ast.Name):
        return None
    if len(call.args) != bool(known[1]) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    name = site.name(known[0], call) if _is_kept(site, base, statement) else None
    if name is None:
        return None
    rest = known[1] + ", ".join(map(site.document.argument, call.args))
    text = f"{base.id} = {name}({base.id}{rest})"
    return site.patch(False, f"write `{text}`", site.replace(call, text))


def _deleted(site: Site) -> Patch | None:
    target = site.node(ast.Subscript)
    statement = site.document.parent(target) if target is not None else None
    if target is None or not isinstance(statement, ast.Delete) or len(statement.targets) != 1:
        return None
    base = target.value
    if not isinstance(base, ast.Name) or not isinstance(target.slice, ast.Constant | ast.UnaryOp | ast.Name):
        return None
    function = site.name("jax.numpy.delete", statement)
    if function is None or not _is_kept(site, base, statement):
        return None
    text = f"{base.id} = {function}({base.id}, {site.document.source(target.slice)})"
    return site.patch(False, f"write `{text}`", site.replace(statement, text))


def _out(site: Site) -> Patch | None:
    call = site.node(ast.Call)
    statement = site.document.parent(call) if call is not None else None
    if call is None or not isinstance(statement, ast.Expr):
        return None
    given = next((each for each in call.keywords if each.arg == "out"), None)
    if given is None or not isinstance(given.value, ast.Name) or not _is_kept(site, given.value, statement):
        return None
    meaning = site.names.meaning(call.func)
    document = site.document
    start, stop = document.start(given), document.stop(given)
    before = document.text.rindex(",", 0, start)
    if document.text[before + 1 : start].strip():
        return None
    changes = [Change(document.start(statement), document.start(statement), f"{given.value.id} = ")]
    if meaning.startswith("numpy."):
        function = site.name(f"jax.{meaning}", call)
        if function is None:
            return None
        changes = [
            Change(document.start(call.func), document.stop(call.func), f"{given.value.id} = {function}")
        ]
    return site.patch(False, f"bind the result to `{given.value.id}`", *changes, Change(before, stop, ""))


def listed(site: Site) -> Patch | None:
    """``jnp.sum([a, b])`` becomes ``jnp.sum(jnp.array([a, b]))``."""
    call = site.node(ast.Call)
    if call is None or site.facts.get("detail"):
        return None  # what it gets is no list
    parameter = site.facts.get("parameter", "")
    named = [each.value for each in call.keywords if each.arg == parameter]
    sequences = [each for each in (*named, *call.args) if isinstance(each, ast.List | ast.Tuple)]
    if len(sequences) != 1 or (call.args and not named and call.args[0] is not sequences[0]):
        return None
    sequence = sequences[0]
    if any(isinstance(each, ast.Starred) for each in sequence.elts) or not sequence.elts:
        return None
    function = site.name("jax.numpy.array", call)
    if function is None:
        return None
    start, stop = site.document.start(sequence), site.document.stop(sequence)
    return site.patch(
        True, f"wrap it in `{function}(...)`", Change(start, start, f"{function}("), Change(stop, stop, ")")
    )


def indexed_by_list(site: Site) -> Patch | None:
    """``x[[0, -1]]`` becomes ``x[jnp.array([0, -1])]``."""
    subscript = site.node(ast.Subscript)
    if subscript is None or site.facts.get("problem") != "list":
        return None
    index = subscript.slice
    lists = [index] if isinstance(index, ast.List) else []
    if isinstance(index, ast.Tuple):
        lists = [each for each in index.elts if isinstance(each, ast.List)]
    function = site.name("jax.numpy.array", subscript) if lists and all(each.elts for each in lists) else None
    if function is None:
        return None
    changes: list[Change] = []
    for each in lists:
        start, stop = site.document.start(each), site.document.stop(each)
        changes += [Change(start, start, f"{function}("), Change(stop, stop, ")")]
    return site.patch(True, f"make the index an array with `{function}`", *changes)
