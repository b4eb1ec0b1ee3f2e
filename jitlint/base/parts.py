"""Which part of a function runs whenever its line does (layer: ``base``).

The event of a line says that the line was come to. That proves that an expression on it ran only if nothing on the way
from the statement to the expression is conditional: the right side of ``and`` and ``or``, a branch of a conditional
expression, an element of a comprehension, the body of a lambda, the body of a statement on the line of its header. This
module reads that off Python's own syntax tree; it does not look at what was recorded.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jitlint.base.diagnostic import Span
from jitlint.base.text import split_lines

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Part:
    """Where a span stands. function: name and first line of the function around it ("" and 0: none), as code objects say
    it. lines: of the statement, or of a compound statement's header. names: the function's own ones in the span.
    always: whether the span runs whenever these lines do."""

    function: tuple[str, int]
    lines: range
    names: frozenset[str]
    always: bool


def parsed(text: str) -> ast.Module | None:
    """Python's own tree of a text; None if it is no Python. Says nothing of what Python warns of in it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the user's string escapes, say
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


class Parts:
    """The parts of one file."""

    def __init__(self, text: str) -> None:
        self._lines = split_lines(text)
        self._tree = parsed(text)

    def at(self, span: Span) -> Part | None:
        """The part at a span; None if no single statement holds it."""
        if self._tree is None:
            return None
        start = (span.line, self._offset(span.line, span.column))
        end = (span.end_line, self._offset(span.end_line, span.end_column))
        way = list(_way(self._tree, start, end))
        statements = [node for node in way if isinstance(node, ast.stmt)]
        if not statements or isinstance(statements[-1], (*_FUNCTIONS, ast.ClassDef)):
            return None
        statement = statements[-1]
        header = _header(statement, way)
        if header is None:
            return None
        inner = way[way.index(header) :]
        functions = [node for node in statements if isinstance(node, _FUNCTIONS)]
        parts = [inner[-1], *_inside(inner[-1], start, end)]
        return Part(
            _code(functions[-1]) if functions else ("", 0),
            range(header.lineno, (header.end_lineno or header.lineno) + 1),
            _names(parts, functions),
            _is_alone(statements)
            and not any(map(_is_conditional, inner, inner[1:]))
            and not any(map(_decides, parts)),
        )

    def _offset(self, line: int, column: int) -> int:
        """A column in code points from 1 as an offset in bytes, which is how the tree counts."""
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return len(text[: column - 1].encode("utf-8"))


def _way(tree: ast.AST, start: tuple[int, int], end: tuple[int, int]) -> Iterator[ast.stmt | ast.expr]:
    """The nodes that hold the span, outermost first."""
    node: ast.AST | None = tree
    while node is not None:
        node = next((child for child in _children(node) if _holds(child, start, end)), None)
        if isinstance(node, (ast.stmt, ast.expr)):
            yield node


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The children with a place of their own."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _children(child)


def _holds(node: ast.AST, start: tuple[int, int], end: tuple[int, int]) -> bool:
    if not isinstance(node, (ast.stmt, ast.expr, ast.keyword, ast.arg, ast.excepthandler)):
        return False
    first = (node.lineno, node.col_offset)
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and node.decorator_list:
        first = min(first, *((each.lineno, each.col_offset) for each in node.decorator_list))
    return first <= start and end <= (node.end_lineno or node.lineno, node.end_col_offset or 0)


def _header(statement: ast.stmt, way: list[ast.stmt | ast.expr]) -> ast.stmt | ast.expr | None:
    """What runs at once: a simple statement, or the expression of a compound one that holds the span."""
    if isinstance(statement, (ast.If, ast.While)):
        headers: list[ast.expr] = [statement.test]
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        headers = [statement.iter]
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        headers = [item.context_expr for item in statement.items]
    elif isinstance(statement, ast.Match):
        headers = [statement.subject]
    elif isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar":
        headers = []
    else:
        return statement
    return next((header for header in headers if header in way), None)


def _is_conditional(node: ast.AST, child: ast.AST) -> bool:
    """Whether the child may be left out when the node runs."""
    if isinstance(node, ast.BoolOp):
        return child is not node.values[0]
    if isinstance(node, ast.IfExp):
        return child is not node.test
    if isinstance(node, ast.Compare):
        return child in node.comparators[1:]
    if isinstance(node, _COMPREHENSIONS):
        return child is not node.generators[0].iter
    if isinstance(node, ast.Assert):
        return child is not node.test
    if isinstance(node, ast.AnnAssign):
        return child is node.annotation
    return isinstance(node, ast.Lambda)


def _inside(node: ast.AST, start: tuple[int, int], end: tuple[int, int]) -> Iterator[ast.AST]:
    """The node's parts that lie in the span."""
    for each in ast.walk(node):
        if not isinstance(each, ast.expr) or start > (each.lineno, each.col_offset):
            continue
        if (each.end_lineno or each.lineno, each.end_col_offset or 0) <= end:
            yield each


def _decides(node: ast.AST) -> bool:
    """Whether some of the node may be left out: which part of it a finding means is not known then."""
    if isinstance(node, ast.Compare):
        return len(node.ops) > 1
    return isinstance(node, (ast.BoolOp, ast.IfExp, ast.Lambda, *_COMPREHENSIONS))


def _is_alone(statements: list[ast.stmt]) -> bool:
    """Whether the innermost statement starts on a line after the header of the one around it."""
    if len(statements) < 2:
        return True
    around, inner = statements[-2:]
    ends = [around.lineno]
    for name in ("test", "iter", "subject", "returns"):
        part = getattr(around, name, None)
        ends += [part.end_lineno] if isinstance(part, ast.expr) and part.end_lineno else []
    for item in getattr(around, "items", ()):
        ends.append(item.context_expr.end_lineno or around.lineno)
    return max(ends) < inner.lineno


def _code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, int]:
    return function.name, min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _names(parts: Iterable[ast.AST], functions: Iterable[ast.AST]) -> frozenset[str]:
    """The names that the functions bind: their values, not the modules and functions that they use."""
    bound: set[str] = set()
    for node in (each for function in functions for each in ast.walk(function)):
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    return frozenset(each.id for each in parts if isinstance(each, ast.Name) and each.id in bound)
