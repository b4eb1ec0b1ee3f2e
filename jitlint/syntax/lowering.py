"""Text to IR: parse once with libcst, then lower once.

What it does: the guard, the parse, the lowering; every way a text can be bad becomes a `SyntaxProblem`.
What it does not: read files, compute positions (`spans`). Layer: ``syntax``.
"""

from __future__ import annotations

import gc
import re
from typing import Any

import libcst as cst

from jitlint.syntax import ir
from jitlint.syntax.lower_stmt import TRACED_PRAGMA, lower_block
from jitlint.syntax.scopes import Lowering
from jitlint.syntax.source import SYNTAX_ERROR, TOO_COMPLEX, SyntaxProblem

_LONE_CR = re.compile(r"\r(?!\n)")


def lower(text: str) -> ir.Module | SyntaxProblem:
    """Lower the text of one module, or say why that is impossible."""
    lowered = lower_with_nodes(text)
    return lowered if isinstance(lowered, SyntaxProblem) else lowered[0]


def lower_with_nodes(text: str) -> tuple[ir.Module, list[Any], cst.Module] | SyntaxProblem:
    """As `lower`; also what each origin stands for (see `Lowering.nodes`) and the tree itself.

    Only for `jitlint.syntax.spans`: the nodes pin the whole tree in memory.
    """
    collecting = gc.isenabled()
    gc.disable()  # a young tree is all alive: collecting costs half the parse again and frees nothing
    try:
        tree = parse(text)
        if isinstance(tree, SyntaxProblem):
            return tree
        state = Lowering(TRACED_PRAGMA.search(text) is not None)
        body = lower_block(tree.body, state)
        functions = [function for function in state.functions if function is not None]
        module = ir.Module(body, functions, list(state.mentions), len(state.nodes))
        return module, state.nodes, tree
    except RecursionError:
        return SyntaxProblem(TOO_COMPLEX, "the code is nested too deeply to be analysed")
    finally:
        if collecting:
            gc.enable()


def parse(text: str) -> cst.Module | SyntaxProblem:
    """Parse a module with libcst."""
    if "\0" in text:
        before = text[: text.index("\0")]
        line = before.count("\n") + 1
        return SyntaxProblem(SYNTAX_ERROR, "null byte in the source", line, len(before) - before.rfind("\n"))
    if "\r" in text:
        # A lone carriage return ends a line too, but libcst does not reproduce it. Same length, same lines.
        text = _LONE_CR.sub("\n", text)
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        return SyntaxProblem(SYNTAX_ERROR, _message(error), max(error.raw_line, 1), error.raw_column + 1)
    except (cst.CSTValidationError, UnicodeError, ValueError) as error:
        return SyntaxProblem(SYNTAX_ERROR, f"cannot be parsed: {error}")


def _message(error: cst.ParserSyntaxError) -> str:
    return "syntax error: " + error.message.strip().splitlines()[0]
