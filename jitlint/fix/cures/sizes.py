"""Sizes: those that shapes have already, and those that somebody has to decide (layer: ``fix``)."""

from __future__ import annotations

import ast

from jitlint.fix.patch import Change, Patch
from jitlint.fix.site import Site

_ARRAYS = ("jax.numpy.array", "jax.numpy.asarray")
_PROD = "jax.numpy.prod"


def of_shape(site: Site) -> Patch | None:
    """``jnp.prod(jnp.array(x.shape))``, which is traced, becomes ``math.prod(x.shape)``, which is a number."""
    node = site.node(ast.expr)
    if node is None:
        return None
    for each in _within(site, node):
        shape = _product(site, each)
        if shape is None:
            continue
        function = site.name("math.prod", each)
        if function is None:
            return None
        text = f"{function}({site.document.argument(shape)})"
        return site.patch(True, f"use `{function}`, which computes while tracing", site.replace(each, text))
    return None


def _within(site: Site, node: ast.expr) -> list[ast.expr]:
    """Calls in an expression, and in what its names are bound to where they are bound once."""
    found: list[ast.expr] = []
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            found.append(each)
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            stores = site.stores(each.id, node)
            around = site.document.parent(stores[0]) if len(stores) == 1 else None
            value = around.value if isinstance(around, ast.Assign) else None
            found += [part for part in ast.walk(value) if isinstance(part, ast.Call)] if value else []
    return found


def _product(site: Site, node: ast.expr) -> ast.expr | None:
    """The shape whose product a call computes, `int` around it included."""
    if not isinstance(node, ast.Call) or len(node.args) > 1 or node.keywords:
        return None
    if isinstance(node.func, ast.Name) and node.func.id == "int" and node.args:
        return _product(site, node.args[0]) if site.names.is_builtin("int", node) else None
    if site.names.meaning(node.func) == _PROD and node.args:
        given = node.args[0]
        return _listed(site, given) or _shape(given)
    is_method = isinstance(node.func, ast.Attribute) and node.func.attr == "prod" and not node.args
    return _listed(site, node.func.value) if is_method and isinstance(node.func, ast.Attribute) else None


def _listed(site: Site, node: ast.expr) -> ast.expr | None:
    """The shape that is made an array."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    return _shape(node.args[0]) if site.names.meaning(node.func) in _ARRAYS else None


def _shape(node: ast.expr) -> ast.expr | None:
    """A shape or a part of one; what else is listed may be traced itself."""
    inner = node.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else node
    return node if isinstance(inner, ast.Attribute) and inner.attr == "shape" else None


def sized(site: Site) -> Patch | None:
    """``jnp.nonzero(x)`` gets ``size=...``: a stub, as nobody but the author knows how many there may be."""
    call, name = site.node(ast.Call), site.facts.get("cure", "")
    if call is None or not name.isidentifier() or any(each.arg in (name, None) for each in call.keywords):
        return None
    if not call.args or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    last = max([*call.args, *(each.value for each in call.keywords)], key=site.document.stop)
    stop = site.document.stop(last)
    closing = site.document.text[stop : site.document.stop(call)]
    if closing.strip(" \t\r\n,") != ")":
        return None  # brackets around the last argument, or a comment
    return site.patch(False, f"say how many: fill in `{name}=...`", Change(stop, stop, f", {name}=..."))
