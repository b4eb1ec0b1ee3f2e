"""Results of derivatives that are unpacked in another order than they come in (layer: ``link``, room ``domains``).

``grads, loss = jax.value_and_grad(f)(params)``: the value comes first. What it does: reads the names of the targets. What it does not:
speak of names that say nothing of gradients.
Source: https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.objects import unwrapped
from jitlint.infer.values import Func, Py, Xform
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import last_name, same_text
from jitlint.link.tables.results import only_returned
from jitlint.link.values.questions import derivatives
from jitlint.syntax import ir

_CALLED: Final = frozenset({"grad", "grads", "gradient", "gradients"})
_VALUED: Final = frozenset({"loss", "losses", "value", "val", "cost", "energy", "objective", "nll", "elbo"})


def order(x: Xform, target: ir.Tuple) -> str:
    """In which order a derivative gives its results, if the names that they get say it the other way round; else ""."""
    first, second = target.elts
    option = x.options.get("has_aux")
    aux = type(option) is Py and option.const is True
    if option is not None and not aux:
        return ""
    if x.spec.result == derivatives.VALUED and aux:
        return _order_with_aux(x, first, second)
    if x.spec.result == derivatives.VALUED and _is_gradient(first) and _is_value(second):
        return "the value, then the gradients"
    if x.spec.result == "grad" and aux and _is_gradient(second) and _says_other(first):
        return "the gradients, then the auxiliary data"
    return ""


def _order_with_aux(x: Xform, first: ir.Expr, second: ir.Expr) -> str:
    """The same of a derivative that gives the value, auxiliary data and gradients."""
    if _swaps_aux(first, second):
        return "the pair of value and auxiliary data, then the gradients"
    return "the value, then the auxiliary data, then the gradients" if _crosses(x, first) else ""


def _swaps_aux(first: ir.Expr, second: ir.Expr) -> bool:
    """``(loss, grads), aux``."""
    inner = first.elts if type(first) is ir.Tuple else []
    return len(inner) == 2 and _is_value(inner[0]) and _is_gradient(inner[1]) and _says_other(second)


def _crosses(x: Xform, target: ir.Expr) -> bool:
    """Whether one of two names is that of the other result in the function: ``return loss, error``, ``(error, rest), grads = ...``."""
    names = target.elts if type(target) is ir.Tuple else []
    inner = unwrapped(x)
    returned = only_returned(inner.fn.parts) if type(inner) is Func else None
    results = returned.elts if type(returned) is ir.Tuple else []
    if len(names) != 2 or len(results) != 2:
        return False
    return any(
        type(names[i]) is ir.Name
        and same_text(names[i], results[1 - i])
        and not same_text(names[1 - i], results[1 - i])
        for i in range(2)
    )


def _is_gradient(node: ir.Expr) -> bool:
    return _has(node, _CALLED) and not _has(node, _VALUED)


def _is_value(node: ir.Expr) -> bool:
    return _has(node, _VALUED) and not _has(node, _CALLED)


def _says_other(node: ir.Expr) -> bool:
    """Whether a name says something, and nothing of gradients."""
    return bool(last_name(node).strip("_")) and not _has(node, _CALLED)


def _has(node: ir.Expr, words: frozenset[str]) -> bool:
    return naming.has_word(last_name(node), words)
