"""What a function closes over when it runs after the one around it is over (layer: ``link``, room ``roots``)."""

from __future__ import annotations

from collections.abc import Iterator

from jitlint.infer.program import FuncInfo
from jitlint.infer.values import UNKNOWN, Arr, Func
from jitlint.link.tables.ir_walk import bound_by
from jitlint.link.values import pytrees


def forget_rebound(func: Func) -> None:
    """Variables of the functions around that get another value after this function was made mean one that is not known to
    who runs it later: what is an array at last is taken for one of any shape before."""
    scope, names, made = func.scope, set(func.fn.outer_names), func.fn.node.at
    while (around := scope.fn) is not None and scope.parent is not None:
        for name in names & _rebound(around, made) & scope.vars.keys():
            value = scope.vars[name]
            scope.vars[name] = pytrees.with_rank(value, None) if type(value) is Arr else UNKNOWN
        scope, made = scope.parent, around.node.at


def _rebound(fn: FuncInfo, made: int) -> set[str]:
    """The variables that a function sets both above and below a place."""
    found = list(_bound(fn))
    return {name for name, at in found if at < made} & {name for name, at in found if at > made}


def _bound(fn: FuncInfo) -> Iterator[tuple[str, int]]:
    """The variables that a function sets, and where."""
    yield from ((param.name, fn.node.at) for param in fn.node.params)
    for node in fn.parts:
        yield from ((name, node.at) for name in bound_by(node))
