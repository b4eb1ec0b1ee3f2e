"""What an editor shows between the lines: which parameters of a file's functions arrive as tracers, and what traces a function (layer: ``frontends``)."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from jitlint.base.result import Reason, ValueRow
from jitlint.frontends.server.tokens import Place, common


@dataclass(frozen=True, slots=True)
class Lens:
    """What stands above a function. line: its first one, with decorators; last: its last. reason: the first of the places that trace it."""

    line: int
    last: int
    title: str
    reason: Reason


def parameters(source: str, rows: Iterable[ValueRow], cell: int) -> dict[Place, str]:
    """The place behind each parameter of a traced function, and whether it is traced, static or mixed there.

    Nothing is said of functions that no transform runs, and of what is not known.
    """
    ends: dict[Place, Place] = {}
    for node in ast.walk(_parsed(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            ends.update({start: end for _, start, end in _parameters(node, source.split("\n"))})
    return common(
        (ends[place], row.status)
        for row in rows
        if row.in_trace and row.span.cell == cell and (place := (row.span.line, row.span.column)) in ends
    )


def function_text(source: str, rows: Sequence[ValueRow], path: str, cell: int, place: Place) -> str:
    """What there is to say of the traced function whose name stands at a place, as Markdown; "" if there is none."""
    for _, node in _functions(_parsed(source), ""):
        line = source.split("\n")[node.lineno - 1]
        start = line.find(node.name, line.find("def") + 3) + 1
        if node.lineno != place[0] or not start <= place[1] < start + len(node.name):
            continue
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        lens = next((each for each in lenses(source, rows, path, cell) if each.line == first), None)
        if lens is None:
            return ""
        said = parameters(source, rows, cell)
        own = [
            f"- `{name}`: **{said[end]}**"
            for name, _, end in _parameters(node, source.split("\n"))
            if end in said
        ]
        return "\n".join([f"`{node.name}` is {lens.title}", "", *own])
    return ""


def _parameters(
    node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]
) -> Iterator[tuple[str, Place, Place]]:
    """The name of each parameter, and where it starts and ends; lines and columns count from 1."""
    listed = node.args
    for one in (*listed.posonlyargs, *listed.args, *listed.kwonlyargs):
        before = lines[one.lineno - 1].encode("utf-8")[: one.col_offset].decode("utf-8", "replace")
        start = len(before) + 1
        yield one.arg, (one.lineno, start), (one.lineno, start + len(one.arg))


def lenses(source: str, rows: Iterable[ValueRow], path: str, cell: int) -> list[Lens]:
    """What traces the functions of a file. Nothing is said of functions that no transform runs.

    The transform that is named is the outermost: what the function's callers run under. How many there are is not said: ways
    that come with the same kinds of arguments are known as one.
    """
    inside = [row for row in rows if row.in_trace and row.span.cell == cell and row.because]
    found = []
    for name, node in _functions(_parsed(source), ""):
        last = node.end_lineno or node.lineno
        reasons = {
            row.because[0]: None
            for row in inside
            if row.function == name and node.lineno <= row.span.line <= last
        }
        if reasons:
            ordered = sorted(
                reasons, key=lambda reason: (reason.path, reason.cell, reason.line, reason.message)
            )
            more = ", among others" if len(ordered) > 1 else ""
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found.append(Lens(first, last, f"traced: {_said(ordered[0], path, cell)}{more}", ordered[0]))
    return found


def _said(reason: Reason, path: str, cell: int) -> str:
    """A reason in a few words, without marks that an editor would show as they are."""
    what = reason.message.replace("`", "").removesuffix(" here")
    where = [] if os.path.abspath(reason.path) == path else [os.path.basename(reason.path)]
    if reason.cell and (where or reason.cell != cell):
        where.append(f"cell {reason.cell}")
    return f"{what}, {' '.join([*where, f'line {reason.line}'])}"


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions of a tree by their qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + child.name, child
            yield from _functions(child, f"{prefix}{child.name}.<locals>.")
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif not isinstance(child, ast.expr):
            yield from _functions(child, prefix)


def _parsed(source: str) -> ast.Module:
    """The tree of a text; an empty one if it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])
