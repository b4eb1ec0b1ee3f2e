"""Which parameters of a file's functions arrive as tracers, for hints beside them (layer: ``frontends``)."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable

from jitlint.base.result import ValueRow

Place = tuple[int, int]


def parameters(source: str, rows: Iterable[ValueRow], cell: int) -> dict[Place, str]:
    """The place behind each parameter of a traced function, and whether it is traced, static or mixed there.

    Nothing is said of functions that no transform runs, and of what is not known.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines = source.split("\n")
    ends: dict[Place, Place] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            listed = node.args
            for one in (*listed.posonlyargs, *listed.args, *listed.kwonlyargs):
                before = lines[one.lineno - 1].encode("utf-8")[: one.col_offset].decode("utf-8", "replace")
                ends[one.lineno, len(before) + 1] = (one.lineno, len(before) + 1 + len(one.arg))
    found: dict[Place, set[str]] = {}
    for row in rows:
        place = (row.span.line, row.span.column)
        if row.in_trace and row.span.cell == cell and place in ends:
            found.setdefault(ends[place], set()).add(row.status)
    said = {place: statuses.pop() if len(statuses) == 1 else "mixed" for place, statuses in found.items()}
    return {place: status for place, status in sorted(said.items()) if status != "unknown"}
