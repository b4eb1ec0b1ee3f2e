"""Operators and builtins that ask a traced value for its truth; asserts (layer: ``fix``)."""

from __future__ import annotations

import ast

from jitlint.fix.cures.asserts import of_chex
from jitlint.fix.cures.branches import logical, of_test
from jitlint.fix.cures.loops import while_of_test
from jitlint.fix.patch import Change, Patch
from jitlint.fix.site import Site, is_plain, names_in

_OF_MANY = {"max": "jax.numpy.maximum", "min": "jax.numpy.minimum"}
_OF_ONE = {
    "max": "jax.numpy.max",
    "min": "jax.numpy.min",
    "any": "jax.numpy.any",
    "all": "jax.numpy.all",
    "sorted": "jax.numpy.sort",
}


def asked(site: Site) -> Patch | None:
    """``a and b``, ``not a``, ``a < b < c``, ``x in ...``, ``any(...)``, ``max(a, b)`` on traced values."""
    form = site.facts.get("form", "")
    if form in ("and", "or", "not", "comparison-chain", "in"):
        return _operator(site)
    call = site.node(ast.Call)
    if (
        call is None
        or call.keywords
        or any(isinstance(each, ast.Starred) for each in call.args)
        or not call.args
    ):
        return None
    if not isinstance(call.func, ast.Name) or call.func.id != form or not site.names.is_builtin(form, call):
        return None
    return _builtin(site, call, form)


def _operator(site: Site) -> Patch | None:
    node: ast.expr | None = site.node(ast.expr)
    if node is None:
        return None
    around = site.document.parent(node)
    while isinstance(around, ast.BoolOp) or (
        isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not)
    ):
        node, around = around, site.document.parent(around)
    branch = of_test(site, node)
    if branch is not None:
        return branch
    if isinstance(around, ast.While) and around.test is node:
        return while_of_test(site, node)
    if isinstance(around, ast.If | ast.IfExp | ast.While | ast.Assert):
        return None if getattr(around, "test", None) is node else _replaced(site, node)
    return _replaced(site, node)


def _replaced(site: Site, node: ast.expr) -> Patch | None:
    text = logical(site, node)
    if isinstance(node, ast.BoolOp) and not all(map(_is_truth, node.values)):
        text = _one_of(site, node) or text
    if text is None or text == site.document.source(node):
        return None
    safe = _is_truth(node) and site.is_always_traced(node)
    return site.patch(safe, "use the function of `jax.numpy`", site.replace(node, text))


def _one_of(site: Site, node: ast.BoolOp) -> str | None:
    """``a or b`` gives one of its operands: `jnp.where`, which needs the first one twice."""
    where = site.name("jax.numpy.where", node)
    if where is None or len(node.values) != 2 or not is_plain(node.values[0]):
        return None
    first, second = map(site.document.argument, node.values)
    chosen = f"{first}, {second}" if isinstance(node.op, ast.Or) else f"{second}, {first}"
    return f"{where}({first}, {chosen})"


def _is_truth(node: ast.expr) -> bool:
    """Whether the expression gives a truth value, as the function does, and has nothing that must not be computed."""
    if isinstance(node, ast.BoolOp):
        return all(map(_is_truth, node.values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not any(isinstance(each, ast.Call) for each in ast.walk(node))
    return isinstance(node, ast.Compare) and not any(isinstance(each, ast.Call) for each in ast.walk(node))


def _builtin(site: Site, call: ast.Call, name: str) -> Patch | None:
    document = site.document
    if name == "bool":
        function = site.name("jax.numpy.asarray", call)
        if function is None or len(call.args) != 1:
            return None
        text = f"{function}({document.argument(call.args[0])}, dtype=bool)"
        what = f"use `{function}(..., dtype=bool)`"
        return site.patch(site.is_always_traced(call), what, site.replace(call, text))
    if len(call.args) == 1:
        return _of_one(site, call, name)
    function = site.name(_OF_MANY[name], call) if name in _OF_MANY else None
    if function is None:
        return None
    text = document.argument(call.args[-1])
    for each in reversed(call.args[:-1]):
        text = f"{function}({document.argument(each)}, {text})"
    return site.patch(
        _is_in_computation(site, call) and site.is_always_traced(call),
        f"use `{function}`",
        site.replace(call, text),
    )


def _is_in_computation(site: Site, call: ast.Call) -> bool:
    """Whether what is around goes on computing, rather than, say, collecting the numbers of a shape."""
    around = site.document.parent(call)
    if isinstance(around, ast.Call):
        return site.names.meaning(around.func).startswith("jax.")
    return isinstance(around, ast.Return | ast.BinOp | ast.UnaryOp | ast.Compare)


def _of_one(site: Site, call: ast.Call, name: str) -> Patch | None:
    given = call.args[0]
    function = site.name(_OF_ONE[name], call) if name in _OF_ONE else None
    if function is None or isinstance(given, ast.GeneratorExp | ast.ListComp | ast.Dict | ast.Set):
        return None
    text = site.document.argument(given)
    if isinstance(given, ast.List | ast.Tuple):
        array = site.name("jax.numpy.array", call)
        if array is None or not given.elts:
            return None
        text = f"{array}({text})"
    return site.patch(
        name != "sorted" and site.is_always_traced(call),
        f"use `{function}`",
        site.replace(call, f"{function}({text})"),
    )


def asserted(site: Site) -> Patch | None:
    """``assert c`` becomes `eqx.error_if`, `checkify.check` or an assertion of chex, where the file uses one of them."""
    test = site.node(ast.expr)
    statement = site.document.parent(test) if test is not None else None
    if test is None or not isinstance(statement, ast.Assert) or statement.test is not test:
        return None
    message, condition = _message(site, statement), logical(site, test)
    meanings = {meaning for meaning in site.names.imports(site.document.tree).values() if meaning}
    if condition is None or message is None:
        return None
    if "equinox" in meanings:
        return _error_if(site, statement, condition, message)
    used = any(getattr(node, "attr", "") == "checkify" for node in ast.walk(site.document.tree))
    if used or "jax.experimental.checkify" in meanings:
        return (
            _checked(site, statement, condition, message) if "jax.experimental.checkify" in meanings else None
        )
    return of_chex(site, statement) if "chex" in meanings else None


def _checked(site: Site, statement: ast.Assert, condition: str, message: str) -> Patch | None:
    used = any(getattr(node, "attr", "") == "checkify" for node in ast.walk(site.document.tree))
    checkify = site.name("jax.experimental.checkify.check", statement) if used else None
    if checkify is None:
        return None
    return site.patch(
        False, f"use `{checkify}`", site.replace(statement, f"{checkify}({condition}, {message})")
    )


def _message(site: Site, statement: ast.Assert) -> str | None:
    if statement.msg is None:
        return '"assertion failed"'
    is_text = isinstance(statement.msg, ast.Constant) and isinstance(statement.msg.value, str)
    return site.document.argument(statement.msg) if is_text else None


def _error_if(site: Site, statement: ast.Assert, condition: str, message: str) -> Patch | None:
    names = sorted(name for name in names_in(statement.test) if site.is_local(name, statement))
    function, negated = (
        site.name("equinox.error_if", statement),
        site.name("jax.numpy.logical_not", statement),
    )
    name = next((name for name in names if site.is_read_later(name, statement)), "")
    if not name or function is None or negated is None:
        return None
    start, stop = site.document.start(statement), site.document.stop(statement)
    text = f"{name} = {function}({name}, {negated}({condition}), {message})"
    return site.patch(False, f"use `{function}`", Change(start, stop, text))
