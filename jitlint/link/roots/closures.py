"""What a function closes over when it runs after the one around it is over (layer: ``link``, room ``roots``)."""

from __future__ import annotations

from jitlint.infer.program import FuncInfo
from jitlint.infer.values import UNKNOWN, Arr, Func
from jitlint.link.tables.ir_walk import bound_by
from jitlint.link.values import pytrees


def forget_rebound(func: Func) -> None:
    """Variables of the functions around that get another value after this function was made mean one that is not known to
    who runs it later: what is an array at last is taken for one of any shape before."""
    scope, made = func.scope, func.fn.node.at
    while (around := scope.fn) is not None and scope.parent is not None:
        rebound = _rebound(around, made)
        for name in rebound.intersection(func.fn.outer_names) & scope.vars.keys() if rebound else ():
            value = scope.vars[name]
            scope.vars[name] = pytrees.with_rank(value, None) if type(value) is Arr else UNKNOWN
        scope, made = scope.parent, around.node.at


def _rebound(fn: FuncInfo, made: int) -> set[str]:
    """The variables that a function sets both above and below a place."""
    if fn.spans is None:
        fn.spans = _spans(fn)
    return {name for name, (first, last) in fn.spans.items() if first < made < last}


def _spans(fn: FuncInfo) -> dict[str, tuple[int, int]]:
    """The variables that a function sets more than once, and where it does so first and last."""
    found = {param.name: (fn.node.at, fn.node.at) for param in fn.node.params}
    for node in fn.parts:
        for name in bound_by(node):
            first, last = found.get(name, (node.at, node.at))
            found[name] = min(first, node.at), max(last, node.at)
    return {name: span for name, span in found.items() if span[0] < span[1]}
