"""Checks of arguments that a program goes past only if they hold: what stands behind them (layer: ``confirm``).

Where tracing ends at the test of ``if ...: raise``, or at an ``assert``, whatever comes after runs only past that check, however it
is mended. So the same run without the check shows what comes after. Of an ``if`` that does anything else nobody knows.
"""

from __future__ import annotations

import ast

from jitlint.base.parts import parsed

# Line and column of a statement.
At = tuple[int, int]


def check_at(source: str, line: int) -> At | None:
    """The check whose test stands on a line; None if there is none, or more than one, or something around it that may go on
    where it fails."""
    tree = parsed(source)
    found = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, (ast.If, ast.Assert))
        and node.test.lineno <= line <= (node.test.end_lineno or node.test.lineno)
    ]
    around = (
        isinstance(node, (ast.Try, ast.With, ast.AsyncWith)) and node.lineno <= line <= (node.end_lineno or 0)
        for node in (ast.walk(tree) if tree is not None else ())
    )
    if len(found) != 1 or not _is_check(found[0]) or any(around):
        return None
    return found[0].lineno, found[0].col_offset


def _is_check(node: ast.If | ast.Assert) -> bool:
    if isinstance(node, ast.Assert):
        return True
    calm = all(isinstance(each, (ast.Assign, ast.Expr)) for each in node.body[:-1])
    named = any(isinstance(each, ast.NamedExpr) for each in ast.walk(node.test))
    return isinstance(node.body[-1], ast.Raise) and calm and not node.orelse and not named


class Without(ast.NodeTransformer):
    """Takes checks out of a tree; lines and columns of all other code stay as they are."""

    def __init__(self, checks: set[At]) -> None:
        self._checks = checks

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Every node is looked at."""
        if isinstance(node, (ast.If, ast.Assert)) and (node.lineno, node.col_offset) in self._checks:
            return ast.copy_location(ast.Pass(), node)
        return super().generic_visit(node)
