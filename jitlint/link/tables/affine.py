"""Integer expressions as sums of products of names, to see what two of them differ by (layer: ``link``, room ``tables``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from jitlint.syntax import ir

Sum = dict[tuple[str, ...], int]
"""Products of names (sorted; empty for the constant) and how often each is in the sum."""

MAX_TERMS = 12


def parse(node: ir.Node | None, expand: Callable[[str], ir.Node | None], depth: int = 6) -> Sum | None:
    """The sum that an expression is, or None. ``expand`` gives the expression that a name stands for, or None."""
    if depth == 0:
        return None
    if type(node) is ir.Const:
        return {(): node.value} if type(node.value) is int else None
    if type(node) is ir.Name:
        found = _parse_name(node.id, expand, depth)
        return found if found is not None else {(node.id,): 1}
    if type(node) is ir.Attr:
        path = path_of(node)
        return {(path,): 1} if path else None
    if type(node) is ir.UnaryOp and node.op == "-":
        found = parse(node.operand, expand, depth - 1)
        return None if found is None else scaled(found, -1)
    if type(node) is ir.BinOp and node.op in _COMBINED:
        left, right = parse(node.left, expand, depth - 1), parse(node.right, expand, depth - 1)
        return None if left is None or right is None else _COMBINED[node.op](left, right)
    return None


def _parse_name(name: str, expand: Callable[[str], ir.Node | None], depth: int) -> Sum | None:
    value = expand(name)
    return parse(value, expand, depth - 1) if value is not None else None


def path_of(node: ir.Node | None) -> str:
    """A dotted path of plain names as text, or ""."""
    if type(node) is ir.Name:
        return str(node.id)
    if type(node) is ir.Attr:
        inner = path_of(node.obj)
        return f"{inner}.{node.name}" if inner else ""
    return ""


def scaled(a: Sum, factor: int) -> Sum:
    """A sum times a number."""
    return {term: count * factor for term, count in a.items()}


def minus(a: Sum, b: Sum) -> Sum:
    """The difference of two sums, without terms that cancel."""
    out = dict(a)
    for term, count in b.items():
        out[term] = out.get(term, 0) - count
    return {term: count for term, count in out.items() if count}


def _product(a: Sum, b: Sum) -> Sum | None:
    out: Sum = {}
    for left, m in a.items():
        for right, n in b.items():
            term = tuple(sorted((*left, *right)))
            out[term] = out.get(term, 0) + m * n
    return out if len(out) <= MAX_TERMS else None


_COMBINED: Final[dict[str, Callable[[Sum, Sum], Sum | None]]] = {
    "*": _product,
    "-": minus,
    "+": lambda left, right: minus(left, scaled(right, -1)),
}
