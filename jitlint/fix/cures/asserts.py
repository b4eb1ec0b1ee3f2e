"""Assertions of chex about values (layer: ``fix``)."""

from __future__ import annotations

import ast

from jitlint.fix.patch import Change, Patch
from jitlint.fix.site import Site

_FINITE = "chex.assert_tree_all_finite"
_OF_CHEX = {
    "jax.numpy.allclose": ("chex.assert_trees_all_close", {"rtol": "1e-05", "atol": "1e-08"}),
    "jax.numpy.array_equal": ("chex.assert_trees_all_equal", {}),
}
"""What compares two arrays: the assertion, and what the comparison allows unless it is told otherwise."""


def of_chex(site: Site, statement: ast.Assert) -> Patch | None:
    call, function = statement.test, site.document.scope(statement)
    if not isinstance(call, ast.Call) or not isinstance(function, ast.FunctionDef):
        return None
    finite = _tested_finite(site, call)
    name, given = "", {}
    if finite is not None:
        name, given = _FINITE, {"": site.document.argument(finite)}
    elif len(call.args) == 2 and site.names.meaning(call.func) in _OF_CHEX:
        name, defaults = _OF_CHEX[site.names.meaning(call.func)]
        options = {each.arg or "**": site.document.argument(each.value) for each in call.keywords}
        if options.keys() - defaults.keys():
            return None
        given = {"": ", ".join(map(site.document.argument, call.args)), **defaults, **options}
    spelled, allowed = site.name(name, statement) if name else None, _chexified(site, function)
    if spelled is None or allowed is None:
        return None
    if isinstance(statement.msg, ast.Constant):
        given["custom_message"] = site.document.source(statement.msg)
    arguments = ", ".join(f"{option}={text}" if option else text for option, text in given.items())
    what = f"use `{spelled}`, in a function that `chex.chexify` lets fail"
    return site.patch(False, what, site.replace(statement, f"{spelled}({arguments})"), *allowed)


def _tested_finite(site: Site, call: ast.Call) -> ast.expr | None:
    """``x`` of ``jnp.all(jnp.isfinite(x))`` and ``jnp.isfinite(x).all()``."""
    inner: ast.expr | None = None
    if site.names.meaning(call.func) == "jax.numpy.all" and len(call.args) == 1 and not call.keywords:
        inner = call.args[0]
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "all" and not call.args:
        inner = call.func.value
    if not isinstance(inner, ast.Call) or site.names.meaning(inner.func) != "jax.numpy.isfinite":
        return None
    return inner.args[0] if len(inner.args) == 1 and not inner.keywords else None


def _chexified(site: Site, function: ast.FunctionDef) -> tuple[Change, ...] | None:
    """What lets assertions of values fail in a compiled function: nothing where the file does it, or a decorator."""
    document = site.document
    nodes = [each for each in ast.walk(document.tree) if isinstance(each, ast.Name | ast.Attribute)]
    if any(site.names.meaning(each) == "chex.chexify" for each in nodes):
        return ()
    uses = [each for each in nodes if isinstance(each, ast.Name) and each.id == function.name]
    # It must be the outermost function that is compiled.
    if any(document.scope(each) is not document.tree for each in (function, *uses)):
        return None
    first = function.decorator_list[0] if function.decorator_list else None
    if first is None or site.names.meaning(first) != "jax.jit":
        return None
    decorator, indent, at = (
        site.name("chex.chexify", function),
        document.indent(function),
        document.first(function),
    )
    if decorator is None or indent is None:
        return None
    return (Change(at, at, f"@{decorator}{document.newline}{indent}"),)
