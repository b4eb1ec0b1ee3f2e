"""Python's and NumPy's functions on traced values: those of `jax.numpy` (layer: ``fix``)."""

from __future__ import annotations

import ast

from jitlint.catalogue.load import catalogue
from jitlint.fix.patch import Change, Patch
from jitlint.fix.site import Site

_SAME = (
    "sqrt exp exp2 log log2 log10 log1p expm1 sin cos tan sinh cosh tanh isnan isinf isfinite fabs hypot copysign"
    " degrees radians fmod cbrt"
).split()
_RENAMED = {
    "pow": "power",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
_WHOLE = ("floor", "ceil", "trunc")
_ELSEWHERE = {
    "erf": "jax.scipy.special.erf",
    "erfc": "jax.scipy.special.erfc",
    "lgamma": "jax.scipy.special.gammaln",
}
_WITH_TWO = frozenset({"power", "arctan2", "hypot", "copysign", "fmod"})
_SCALARS = frozenset({"sum", "mean", "max", "min", "prod", "any", "all", "std", "var", "argmax", "argmin"})
_TYPES = ("int", "float", "complex", "bool")


def cast(site: Site) -> Patch | None:
    """``float(x)``, ``x.item()``, ``round(x)``, ``math.sqrt(x)`` on a traced value."""
    call = site.node(ast.Call)
    if call is None or not _is_positional(call):
        return None
    to = site.facts.get("to", "")
    if to == "math":
        return _mathematics(site, call, site.facts.get("what", ""))
    if to == "item":
        return _item(site, call)
    if not isinstance(call.func, ast.Name) or call.func.id != to or not site.names.is_builtin(to, call):
        return None
    if to == "round" and call.args:
        function = site.name("jax.numpy.round", call)
        if function is not None:
            return site.patch(
                site.is_always_traced(call), f"use `{function}`", site.replace(call.func, function)
            )
    function = site.name("jax.numpy.asarray", call)
    if to not in _TYPES or len(call.args) != 1 or function is None:
        return None
    text = f"{function}({site.document.argument(call.args[0])}, dtype={to})"
    what = f"use `{function}(..., dtype={to})`"
    return site.patch(site.is_always_traced(call), what, site.replace(call, text))


def _is_positional(call: ast.Call) -> bool:
    return not call.keywords and not any(isinstance(each, ast.Starred) for each in call.args)


def _item(site: Site, call: ast.Call) -> Patch | None:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "item" or call.args:
        return None
    value, stop = call.func.value, site.document.stop(call)
    closing = site.document.text.rindex(".", site.document.stop(value), stop)
    text = "" if _is_scalar(value) else ".reshape(())"
    return site.patch(site.is_always_traced(call), "keep the array", Change(closing, stop, text))


def _is_scalar(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _SCALARS
        and not node.args
        and not node.keywords
    )


def _mathematics(site: Site, call: ast.Call, what: str) -> Patch | None:
    module, _, name = what.rpartition(".")
    if module != "math":
        return None
    wanted = name if name in (*_SAME, *_WHOLE) else _RENAMED.get(name, "")
    dotted = f"jax.numpy.{wanted}" if wanted else _ELSEWHERE.get(name, "")
    if not dotted or len(call.args) != (2 if wanted in _WITH_TWO else 1):
        return None
    function = site.name(dotted, call)
    if function is None:
        return None
    changes = [site.replace(call.func, function)]
    if name in _WHOLE:
        changes.append(Change(site.document.stop(call), site.document.stop(call), ".astype(int)"))
    return site.patch(site.is_always_traced(call), f"use `{function}`", *changes)


def of_numpy(site: Site) -> Patch | None:
    """``np.f(x)`` becomes ``jnp.f(x)``; a table of NumPy that is indexed becomes an array of JAX."""
    return _of_numpy(site, True)


def silently_wrong(site: Site) -> Patch | None:
    """The same where NumPy answers, wrongly: the answer changes."""
    return _of_numpy(site, False)


def _of_numpy(site: Site, safe: bool) -> Patch | None:
    call = site.node(ast.Call)
    if call is None:
        return _table(site)
    meaning = site.names.meaning(call.func)
    if catalogue().numpy(meaning) is None or any(
        each.arg in ("out", "order", "subok") for each in call.keywords
    ):
        return None
    dotted = f"jax.{meaning}"
    if catalogue().function(dotted) is None:
        return None
    function = site.name(dotted, call)
    if function is None:
        return None
    safe = safe and meaning.startswith("numpy.") and site.is_always_traced(call)
    return site.patch(safe, f"use `{function}`", *site.called(call.func, function))


def _table(site: Site) -> Patch | None:
    subscript = site.node(ast.Subscript)
    if (
        subscript is None
        or not isinstance(subscript.ctx, ast.Load)
        or "index" not in site.facts.get("what", "")
    ):
        return None
    function = site.name("jax.numpy.asarray", subscript)
    if function is None:
        return None
    start, stop = site.document.start(subscript.value), site.document.stop(subscript.value)
    return site.patch(
        site.is_always_traced(subscript),
        f"index `{function}(...)`",
        Change(start, start, f"{function}("),
        Change(stop, stop, ")"),
    )


def listed_numbers(site: Site) -> Patch | None:
    """``RATES[i]`` of a list of numbers or arrays becomes ``jnp.array(RATES)[i]``."""
    subscript = site.node(ast.Subscript)
    if subscript is None or not isinstance(subscript.ctx, ast.Load) or isinstance(subscript.slice, ast.Slice):
        return None
    if site.facts.get("what") not in ("list index", "tuple index"):
        return None
    function = site.name("jax.numpy.array", subscript)
    if function is None or not _may_be_numbers(site, subscript.value):
        return None
    start, stop = site.document.start(subscript.value), site.document.stop(subscript.value)
    return site.patch(
        False, f"index `{function}(...)`", Change(start, start, f"{function}("), Change(stop, stop, ")")
    )


def _may_be_numbers(site: Site, node: ast.expr) -> bool:
    """Whether a sequence is written out where one can see it, and no item is a text or a function."""
    if isinstance(node, ast.Name):
        for scope in (site.document.scope(node), site.document.tree):
            values = [
                each.value
                for each in ast.walk(scope)
                if isinstance(each, ast.Assign) and any(getattr(t, "id", "") == node.id for t in each.targets)
            ]
            if values:
                return (
                    len(values) == 1
                    and not isinstance(values[0], ast.Name)
                    and _may_be_numbers(site, values[0])
                )
        return False
    if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
        return False
    functions = {each.name for each in ast.walk(site.document.tree) if isinstance(each, ast.FunctionDef)}
    return all(_is_number(each, functions) for each in node.elts)


def _is_number(node: ast.expr, functions: set[str]) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float | complex)
    if isinstance(node, ast.Name):
        return node.id not in functions
    return isinstance(node, ast.UnaryOp | ast.BinOp | ast.Call)
