"""Where an exception has to come from to be that of a finding (layer: ``confirm``). Reads source with `ast`; runs nothing.

Python says to which columns the instruction belongs that failed. Mostly these are the finding's own. Some expressions fail
where they are used: a function that was looked up when it is called, `map` when something takes from it, the key of a
dictionary when that is made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jitlint.base.diagnostic import Span
from jitlint.base.text import split_lines
from jitlint.confirm.watch.spots import Columns

_LAZY = frozenset({"map", "filter", "zip", "enumerate", "reversed", "iter"})
_ABOUT = frozenset({"shape", "ndim", "size", "dtype", "aval", "weak_type", "nbytes", "itemsize"})
_DOES = (ast.Call, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp)
"""What can fail by itself."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_STATEMENTS = (ast.stmt, ast.match_case, ast.ExceptHandler)
_HOLDERS = (ast.Starred, ast.keyword, ast.Tuple, ast.List, ast.Dict)


def columns_at(source: str, span: Span) -> Columns:
    """A span in the way that Python counts: offsets in bytes."""
    lines = split_lines(source)

    def offset(line: int, column: int) -> int:
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        return len(text[: column - 1].encode("utf-8"))

    return span.line, offset(span.line, span.column), span.end_line, offset(span.end_line, span.end_column)


def columns_of_node(node: ast.AST) -> Columns:
    """The columns of a node that has a place."""
    line, start = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    return (
        line,
        start,
        getattr(node, "end_lineno", None) or line,
        getattr(node, "end_col_offset", None) or start,
    )


class Places:
    """The places of one file."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree

    def accepted(self, columns: Columns, wide: bool) -> list[Columns]:
        """Columns at which the flagged expression fails. ``wide``: also where it is an operand or an argument."""
        way = self._way(columns)
        found = [columns, *(columns_of_node(part) for node in way[-1:] for part in _tests(node))]
        if way:
            found += _where_used(way)
            if wide:
                found += _as_operand(way)
        return list(dict.fromkeys(found))

    def is_alone(self, columns: Columns) -> bool:
        """Whether nothing else on its lines can fail, which Python before 3.11 does not tell apart: all that is done there
        is done to the flagged expression, or inside of it."""
        way = self._way(columns)
        statements = [node for node in way if isinstance(node, _STATEMENTS)]
        if not way or not statements:
            return False
        header = list(_header(statements[-1]))
        if sum(isinstance(part, type(way[-1])) for part in header) != 1:
            return False
        known = {id(part) for part in (*way, *ast.walk(way[-1]))}
        if any(isinstance(part, _DOES) and id(part) not in known for part in header):
            return False
        first, last = _lines(statements[-1])
        others = (part for part in ast.walk(self._tree) if isinstance(part, _STATEMENTS))
        return not any(
            first <= end and start <= last
            for part in others
            if part is not statements[-1]
            for start, end in [_lines(part)]
        )

    def is_store(self, columns: Columns) -> bool:
        """Whether something is stored there."""
        way = self._way(columns)
        return bool(way) and not isinstance(getattr(way[-1], "ctx", ast.Load()), ast.Load)

    def calls(self, columns: Columns) -> bool:
        """Whether the expression calls or makes anything: it is another value each time, then."""
        way = self._way(columns)
        return any(isinstance(part, (ast.Call, ast.Lambda)) for node in way[-1:] for part in ast.walk(node))

    def repeats(self, columns: Columns) -> bool:
        """Whether the expression names a variable more than once."""
        parts = [part for node in self._way(columns)[-1:] for part in ast.walk(node)]
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        return len(names) > len(set(names))

    def names(self, columns: Columns) -> list[str]:
        """The variables of the statement around the columns."""
        statements = [node for node in self._way(columns) if isinstance(node, (ast.stmt, ast.match_case))]
        parts = list(_header(statements[-1])) if statements else []
        # What is only asked for its shape does not go anywhere.
        about = {id(part.value) for part in parts if isinstance(part, ast.Attribute) and part.attr in _ABOUT}
        return sorted({part.id for part in parts if isinstance(part, ast.Name) and id(part) not in about})

    def _way(self, columns: Columns) -> list[ast.AST]:
        """The nodes that hold the columns, outermost first; the last one is the flagged expression."""
        way: list[ast.AST] = []
        node: ast.AST | None = self._tree
        while node is not None:
            way.append(node)
            if isinstance(node, (ast.expr, ast.pattern)) and columns_of_node(node) == columns:
                break
            node = next((child for child in ast.iter_child_nodes(node) if _holds(child, columns)), None)
        return way[1:]


def _holds(node: ast.AST, columns: Columns) -> bool:
    if not hasattr(node, "lineno"):
        return any(_holds(child, columns) for child in ast.iter_child_nodes(node))
    first, start, last, end = columns_of_node(node)
    for decorator in getattr(node, "decorator_list", ()):
        first, start = min((first, start), columns_of_node(decorator)[:2])
    return (first, start) <= columns[:2] and columns[2:] <= (last, end)


def _tests(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a condition that are asked for their truth."""
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield value
            yield from _tests(value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
        yield from _tests(node.operand)


def _where_used(way: list[ast.AST]) -> Iterator[Columns]:
    """Where an expression fails that does not fail by itself."""
    node = way[-1]
    around = way[-2] if len(way) > 1 else None
    yield from _as_method(way)
    lazy = isinstance(around, (ast.Call, ast.Starred)) and _is_lazy(node)
    key = isinstance(around, ast.Dict) and node in around.keys
    if around is not None and (lazy or key or (isinstance(around, ast.DictComp) and node is around.key)):
        yield columns_of_node(around)
    if isinstance(around, ast.DictComp) and node is around.key:  # since Python 3.12, the pair
        yield *columns_of_node(node)[:2], *columns_of_node(around.value)[2:]
    if isinstance(around, ast.withitem):
        yield columns_of_node(way[-3])  # what is left at the end belongs to the whole statement
    if isinstance(node, ast.alias):
        yield columns_of_node(around or node)
    if isinstance(node, ast.Compare) and isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not):
        yield columns_of_node(around)  # since Python 3.13 a comparison makes the bool that is turned round
    yield from _alike(way)


def _as_method(way: list[ast.AST]) -> Iterator[Columns]:
    """A method, or what has it, fails when the method is called."""
    node, around = way[-1], way[-2] if len(way) > 1 else None
    if isinstance(around, ast.Attribute) and len(way) > 2:
        yield from _calls(way[-3], around)
    if isinstance(around, ast.Call) and isinstance(node, ast.Attribute):
        yield from _calls(around, node)


def _alike(way: list[ast.AST]) -> Iterator[Columns]:
    """What is done to the same value before: the other literals of a pattern, other items of a container that is changed."""
    node = way[-1]
    for either in [part for part in way if isinstance(part, ast.MatchOr)][-1:]:
        literals = (part for part in either.patterns if isinstance(part, ast.MatchValue))
        yield from (columns_of_node(part.value) for part in literals)
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        same = ast.dump(node.value)
        for part in ast.walk(next(part for part in reversed(way) if isinstance(part, ast.stmt))):
            if isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load):
                yield from [columns_of_node(part)] * (ast.dump(part.value) == same)


def _calls(call: ast.AST, method: ast.Attribute) -> Iterator[Columns]:
    """The columns of calling a method: of a call over several lines, they may begin at the method's name."""
    if not isinstance(call, ast.Call) or call.func is not method:
        return
    first, start, last, end = columns_of_node(call)
    yield first, start, last, end
    name_line, name_end = method.end_lineno or first, method.end_col_offset or start
    yield name_line, name_end - len(method.attr.encode("utf-8")), last, end


def _is_lazy(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _LAZY


def _as_operand(way: list[ast.AST]) -> Iterator[Columns]:
    """The operation or the call that gets the expression at once, also in a container."""
    node = way[-1]
    for around in reversed(way[:-1]):
        if isinstance(around, _HOLDERS):
            node = around
            continue
        if isinstance(around, (ast.Attribute, ast.Subscript)) and node is around.value:
            if isinstance(around, ast.Subscript):
                yield columns_of_node(around)
            node = around  # `x` of `x.at[0].set(1)`
            continue
        if isinstance(around, ast.Call) and node is around.func and isinstance(node, ast.Attribute):
            yield from _calls(around, node)
        if isinstance(around, (ast.BinOp, ast.Compare, ast.UnaryOp, ast.Subscript)):
            yield columns_of_node(around)
        if isinstance(around, ast.Call) and node is not around.func:
            yield columns_of_node(around)
            if isinstance(around.func, ast.Attribute):
                yield from _calls(around, around.func)
        return


def _lines(statement: ast.AST) -> tuple[int, int]:
    """The first and the last line of what runs with a statement; of a compound one, of its header."""
    parts = [part for part in _header(statement) if part is not statement and hasattr(part, "lineno")]
    lines = [columns_of_node(part)[::2] for part in parts]
    if isinstance(statement, (ast.stmt, ast.ExceptHandler)):
        lines.append((statement.lineno, statement.lineno))
    return min(first for first, _ in lines), max(last for _, last in lines)


def _header(statement: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement that run with it: of a compound one, of its header."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        for name, value in ast.iter_fields(node):
            blocks = name in ("body", "orelse", "finalbody", "handlers", "cases")
            if blocks and not isinstance(node, (*_FUNCTIONS[2:], ast.IfExp)):
                continue
            waiting += [
                part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST)
            ]
