"""Masks and slices whose shape would depend on values (layer: ``fix``)."""

from __future__ import annotations

import ast

from jitlint.fix.patch import Patch
from jitlint.fix.site import Site, is_plain

_REDUCTIONS = {"sum": "", "prod": "", "mean": "", "any": "", "all": "", "std": "", "var": ""}
_WITH_START = {"max": "-{inf}", "min": "{inf}"}
_UPDATES = {
    "set": "{value}",
    "add": "{x} + {operand}",
    "multiply": "{x} * {operand}",
    "mul": "{x} * {operand}",
    "divide": "{x} / {operand}",
    "power": "{x} ** {operand}",
    "subtract": "{x} - {operand}",
}
_CHOICES = {"max": "jax.numpy.maximum", "min": "jax.numpy.minimum"}


def reduced(site: Site) -> Patch | None:
    """``jnp.sum(x[mask])`` becomes ``jnp.sum(x, where=mask)``."""
    document = site.document
    subscript = site.node(ast.Subscript)
    if subscript is None or isinstance(subscript.slice, ast.Tuple | ast.Slice):
        return None
    around = document.parent(subscript)
    array, mask = document.source(subscript.value), document.argument(subscript.slice)
    if isinstance(around, ast.Call):
        return _reduced_by_function(site, around, subscript, f"{array}, ", mask)
    call = document.parent(around) if isinstance(around, ast.Attribute) else None
    if not isinstance(around, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not around:
        return None
    rest = _where(site, call, around.attr, mask) if not call.args and not call.keywords else None
    if rest is None:
        return None
    return site.patch(False, "reduce with `where=`", site.replace(call, f"{array}.{around.attr}({rest})"))


def _reduced_by_function(
    site: Site, call: ast.Call, subscript: ast.expr, array: str, mask: str
) -> Patch | None:
    function = site.names.meaning(call.func)
    name = function.removeprefix("jax.numpy.")
    if function == name or call.args != [subscript] or call.keywords:
        return None
    rest = _where(site, call, name, mask)
    text = None if rest is None else f"{site.document.source(call.func)}({array}{rest})"
    return None if text is None else site.patch(False, "reduce with `where=`", site.replace(call, text))


def _where(site: Site, call: ast.Call, name: str, mask: str) -> str | None:
    if name in _REDUCTIONS:
        return f"where={mask}"
    if name not in _WITH_START:
        return None
    infinity = site.name("jax.numpy.inf", call)
    return None if infinity is None else f"where={mask}, initial={_WITH_START[name].format(inf=infinity)}"


def updated(site: Site) -> Patch | None:
    """``x.at[mask].set(v)`` becomes ``jnp.where(mask, v, x)``."""
    document = site.document
    subscript = site.node(ast.Subscript)
    method = document.parent(subscript) if subscript is not None else None
    call = document.parent(method) if isinstance(method, ast.Attribute) else None
    if subscript is None or not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call):
        return None
    base = subscript.value.value if isinstance(subscript.value, ast.Attribute) else None
    if base is None or call.func is not method or not is_plain(base) or not _has_one_argument(call):
        return None
    if isinstance(subscript.slice, ast.Tuple | ast.Slice) or isinstance(document.parent(call), ast.Expr):
        return None
    where, x = site.name("jax.numpy.where", call), document.operand(base)
    new = _new_value(site, method.attr, x, call.args[0])
    if where is None or new is None:
        return None
    text = f"{where}({document.argument(subscript.slice)}, {new}, {x})"
    return site.patch(False, f"use `{where}`", site.replace(call, text))


def _has_one_argument(call: ast.Call) -> bool:
    return len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred)


def _new_value(site: Site, method: str, x: str, value: ast.expr) -> str | None:
    """What an update gives where the mask is true."""
    text = site.document.argument(value)
    if method in _UPDATES:
        return _UPDATES[method].format(x=x, value=text, operand=site.document.operand(value))
    return f"{site.name(_CHOICES[method], value)}({x}, {text})" if method in _CHOICES else None


def sliced(site: Site) -> Patch | None:
    """``x[i : i + n]`` becomes ``jax.lax.dynamic_slice_in_dim(x, i, n)``."""
    document = site.document
    subscript = site.node(ast.Subscript)
    if subscript is None or not isinstance(subscript.ctx, ast.Load):
        return None
    if isinstance(subscript.value, ast.Attribute) and subscript.value.attr == "at":
        return None
    found = _moving(subscript.slice)
    function = site.name("jax.lax.dynamic_slice_in_dim", subscript)
    if found is None or function is None:
        return None
    axis, item = found
    length = _length(site, item)
    if length is None or item.lower is None:
        return None
    where = f", axis={axis}" if axis else ""
    text = (
        f"{function}({document.argument(subscript.value)}, {document.argument(item.lower)}, {length}{where})"
    )
    message = f"use `{function}`, which moves the slice at the array's end instead of cutting it"
    return site.patch(False, message, site.replace(subscript, text))


def _moving(index: ast.expr) -> tuple[int, ast.Slice] | None:
    """The one slice of an index that is not all of its axis, and the axis."""
    items = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    slices = [(axis, item) for axis, item in enumerate(items) if isinstance(item, ast.Slice)]
    moving = [(axis, item) for axis, item in slices if not _is_all(item)]
    return moving[0] if len(moving) == 1 and len(slices) == len(items) else None


def _is_all(item: ast.Slice) -> bool:
    return item.lower is None and item.upper is None and item.step is None


def _length(site: Site, item: ast.Slice) -> str | None:
    """How long a slice is, if its ends say so: ``i : i + n``, ``i - n : i``, ``i * n : (i + 1) * n``."""
    low, high = item.lower, item.upper
    if low is None or high is None or item.step is not None or not is_plain(low):
        return None
    start, stop = ast.dump(low), ast.dump(high)
    if isinstance(high, ast.BinOp) and isinstance(high.op, ast.Add):
        for one, other in ((high.left, high.right), (high.right, high.left)):
            if ast.dump(one) == start:
                return site.document.argument(other)
    if isinstance(low, ast.BinOp) and isinstance(low.op, ast.Sub) and ast.dump(low.left) == stop:
        return site.document.argument(low.right)
    return _of_blocks(site, low, high)


def _of_blocks(site: Site, low: ast.expr, high: ast.expr) -> str | None:
    if not (isinstance(low, ast.BinOp) and isinstance(high, ast.BinOp)):
        return None
    if not (isinstance(low.op, ast.Mult) and isinstance(high.op, ast.Mult)):
        return None
    next_one = {ast.dump(ast.parse(text, mode="eval").body) for text in _next(ast.unparse(low.left))}
    if ast.dump(low.right) == ast.dump(high.right) and ast.dump(high.left) in next_one:
        return site.document.argument(low.right)
    return None


def _next(text: str) -> tuple[str, str]:
    return f"({text}) + 1", f"1 + ({text})"
