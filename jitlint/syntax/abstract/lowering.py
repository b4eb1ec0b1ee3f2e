"""A tree of Python's own parser to a module of IR.

What it does: lower the outermost statements one by one, noting where each begins.
What it does not: parse; look at comments (a text with pragmas is for `concrete`). Layer: ``syntax``.
"""

from __future__ import annotations

import ast
from typing import Any

from jitlint.syntax import ir
from jitlint.syntax.abstract.statements import grouped, lower_block
from jitlint.syntax.scopes import Lowering


def lower_tree(tree: ast.Module, text: str) -> tuple[ir.Module, list[Any]]:
    """Lower what a text was parsed to; also what each origin stands for (see `Lowering.nodes`). Raises KeyError with the class of a node that this version of Python is the first to have."""
    state = Lowering(False)
    body: list[ir.Stmt] = []
    firsts: list[int] = []
    members: dict[int, list[int]] = {}
    lines: list[str] = []
    for number, group in enumerate(grouped(tree.body)):
        firsts.append(len(state.nodes))
        if type(group[0]) is ast.ClassDef:
            lines = lines or text.split("\n")
            members[number] = []
            state.members = members[number] if _is_indented(group[0].body[0], lines) else None
        body += lower_block(group, state)
    functions = [function for function in state.functions if function is not None]
    module = ir.Module(body, functions, list(state.mentions), len(state.nodes), firsts, members, state.quoted)
    return module, state.nodes


def _is_indented(statement: ast.stmt, lines: list[str]) -> bool:
    """Whether nothing but blanks stands before a statement on its line."""
    return not lines[statement.lineno - 1][: statement.col_offset].strip(" \t\f")
