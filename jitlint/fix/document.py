"""One file as those see it who change it: text, Python's own syntax tree, and how places of the two belong together.

What it does: finds the nodes that a finding's span means, gives the text of a node as it is written, says what names
mean at a place as far as the file itself tells. What it does not: change anything. Layer: ``fix``.

Spans of findings are those of `ast`, so nodes are found by their place. Text is copied, never generated from the tree:
comments and layout of what stays are what they were.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from jitlint.base.diagnostic import Span
from jitlint.fix.patch import Change, applied
from jitlint.syntax.guard import guard, python_parse
from jitlint.syntax.source import end_lines

_LINE_END = re.compile(r"\r\n|\r|\n")

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Scope = Function | ast.ClassDef | ast.Module
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Module)
_NEED_BRACKETS = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.GeneratorExp, ast.Tuple, ast.Starred)
_ATOMS = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.Constant,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.JoinedStr,
)


class Document:
    """The text of a file and its tree."""

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.text = text
        self.tree = tree
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._wide = not text.isascii()
        self._parents: dict[ast.AST, ast.AST] = {}
        self._by_place: dict[tuple[int, int, int, int], list[ast.AST]] = {}
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
            if hasattr(node, "lineno") and hasattr(node, "end_lineno"):
                place = self.span(self.start(node), self.stop(node))
                key = (place.line, place.column, place.end_line, place.end_column)
                self._by_place.setdefault(key, []).append(node)
        newlines = [match[0] for match in _LINE_END.finditer(text)]
        self.newline = max(set(newlines), key=newlines.count) if newlines else "\n"
        self.comments = _comments(text, self._starts)

    # ------------------------------------------------------------ places

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and a column, both counted from 1."""
        return min(self._starts[min(line, len(self._starts)) - 1] + column - 1, len(self.text))

    def _place(self, line: int, column: int) -> int:
        """The offset of what `ast` says: columns count bytes from 0."""
        # Up to Python 3.11 what stands in an f-string may have a place outside of the text.
        start = self._starts[min(line, len(self._starts)) - 1]
        if not self._wide:
            return min(start + column, len(self.text))
        stop = self._starts[line] if line < len(self._starts) else len(self.text)
        return start + len(
            self.text[start:stop].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore")
        )

    def start(self, node: ast.AST) -> int:
        """Where a node begins; a decorated function at its ``def``."""
        return self._place(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def stop(self, node: ast.AST) -> int:
        """Where a node ends."""
        return self._place(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def span(self, start: int, stop: int) -> Span:
        """The lines and columns of a range."""
        first, last = bisect_right(self._starts, start), bisect_right(self._starts, stop)
        return Span(first, start - self._starts[first - 1] + 1, last, stop - self._starts[last - 1] + 1)

    def nodes(self, span: Span) -> list[ast.AST]:
        """The nodes that stand exactly there, outermost first."""
        return self._by_place.get((span.line, span.column, span.end_line, span.end_column), [])

    def line_start(self, offset: int) -> int:
        """Where the line of an offset begins."""
        return self._starts[bisect_right(self._starts, offset) - 1]

    def line_stop(self, offset: int) -> int:
        """Where the line of an offset ends, its line end included."""
        line = bisect_right(self._starts, offset)
        return self._starts[line] if line < len(self._starts) else len(self.text)

    # ------------------------------------------------------------ text

    def source(self, node: ast.AST) -> str:
        """The text of a node as it is written, without brackets around."""
        return self.text[self.start(node) : self.stop(node)]

    def argument(self, node: ast.expr) -> str:
        """The text of an expression, fit to stand between commas in a call, on however many lines."""
        text = self.source(node)
        if isinstance(node, ast.GeneratorExp) or (isinstance(node, ast.Tuple) and self._is_bracketed(node)):
            return text if text.startswith("(") else f"({text})"
        return f"({text})" if isinstance(node, _NEED_BRACKETS) else text

    def operand(self, node: ast.expr) -> str:
        """The text of an expression, in brackets unless it is an atom: fit to stand anywhere."""
        text = self.source(node)
        if isinstance(node, _ATOMS) or (isinstance(node, ast.Tuple) and self._is_bracketed(node)):
            return f"({text})" if "\n" in text else text
        return f"({text})"

    def is_atom(self, node: ast.expr) -> bool:
        """Whether an expression is one beside any operator."""
        return isinstance(node, _ATOMS)

    def _is_bracketed(self, node: ast.Tuple) -> bool:
        """Whether the brackets at a tuple's ends belong together: its first item begins behind them."""
        return not node.elts or self.start(node) < self.start(node.elts[0])

    def indent(self, statement: ast.stmt) -> str | None:
        """The white space before a statement that is the first on its line; None for others."""
        start = self.first(statement)
        before = self.text[self.line_start(start) : start]
        return before if not before.strip(" \t\f") else None

    def is_alone(self, statement: ast.stmt) -> bool:
        """Whether nothing but a comment shares the statement's lines."""
        if self.indent(statement) is None:
            return False
        stop = self.stop(statement)
        rest = self.text[stop : self.line_stop(stop)].strip()
        return not rest or rest.startswith("#")

    def step(self) -> str:
        """What one level of indentation is in this file."""
        for node in ast.walk(self.tree):
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list) and body:
                outer, inner = self.indent(node), self.indent(body[0])
                if outer is not None and inner is not None and inner.startswith(outer) and inner != outer:
                    return inner[len(outer) :]
        return "    "

    def first(self, statement: ast.stmt) -> int:
        """Where a statement begins, decorators included."""
        decorators = getattr(statement, "decorator_list", [])
        return min([self.start(statement), *(self.text.rindex("@", 0, self.start(d)) for d in decorators)])

    def moved(self, body: list[ast.stmt], inner: str, changes: Sequence[Change] = ()) -> list[str] | None:
        """The lines of statements, with the comments above them, changed and indented otherwise; None where that would
        change a text."""
        own, stop = self.indent(body[0]), self.line_stop(self.stop(body[-1]))
        if own is None or any(self.indent(each) is None or _goes_over_lines(each) for each in body):
            return None
        start = self.comments_above(self.line_start(self.first(body[0])))
        within = sorted(Change(each.start - start, each.stop - start, each.text) for each in changes)
        text = applied(self.text[start:stop], within)
        lines = [inner + line[len(own) :] if line.startswith(own) else line for line in text.splitlines()]
        return [line if line.strip() else "" for line in lines]

    def comments_above(self, start: int) -> int:
        """Where the lines of comments above a line begin."""
        while start:
            above = self.line_start(start - 1)
            if not self.text[above:start].lstrip().startswith("#"):
                break
            start = above
        return start

    # ------------------------------------------------------------ the tree

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around."""
        return self._parents.get(node)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around, innermost first."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement around a node, or itself."""
        if isinstance(node, ast.stmt):
            return node
        return next((each for each in self.above(node) if isinstance(each, ast.stmt)), None)

    def scope(self, node: ast.AST) -> Scope:
        """The function, class or module whose names the node uses."""
        return next((each for each in self.above(node) if isinstance(each, _SCOPES)), self.tree)

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements among which one stands."""
        parent = self._parents.get(statement)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        for handler in getattr(parent, "handlers", []):
            if statement in handler.body:
                return list(handler.body)
        return [statement]


def open_document(path: str, text: str) -> Document | None:
    """The file with this text, if this Python can parse it."""
    if guard(text) is not None:
        return None
    tree = python_parse(end_lines(text))
    return Document(path, text, tree) if isinstance(tree, ast.Module) else None


def _goes_over_lines(statement: ast.stmt) -> bool:
    """Whether a text goes over lines, whose beginnings belong to it."""
    return any(
        isinstance(each, ast.JoinedStr | ast.Constant) and each.lineno != (each.end_lineno or each.lineno)
        for each in ast.walk(statement)
    )


def _comments(text: str, starts: list[int]) -> list[tuple[int, str]]:
    """Offset and text of each comment."""
    found: list[tuple[int, str]] = []
    if "#" not in text:
        return found
    try:
        for token in tokenize.generate_tokens(io.StringIO(end_lines(text), newline="").readline):
            if token.type == tokenize.COMMENT:
                found.append((starts[token.start[0] - 1] + token.start[1], token.string.rstrip("\r\n")))
    except (tokenize.TokenError, SyntaxError):
        pass
    return found
