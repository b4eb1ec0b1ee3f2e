"""Which lines belong to the statement of a finding (layer: ``confirm``)."""

from __future__ import annotations

import ast
import functools

from jitlint.base.parts import parsed


def statement_around(source: str, line: int) -> tuple[int, int]:
    """First and last line of the innermost statement that covers ``line``; of a compound one only its header.

    ``(line, line)`` if the source cannot be parsed or nothing covers the line.
    """
    covering = [lines for lines in _headers(source) if lines[0] <= line <= lines[1]]
    return min(covering, key=lambda lines: lines[1] - lines[0], default=(line, line))


Lines = tuple[int, int]


def guarded_by(source: str, line: int) -> tuple[Lines, Lines]:
    """First and last line of the ``try`` block that the handler at ``line`` belongs to, and of the handler's own body;
    ``(0, 0)`` if there is none."""
    for block in _tries(source):
        for handler in block.handlers:
            if _header(handler)[0] <= line <= _header(handler)[1]:
                return _lines(block.body), _lines(handler.body)
    return (0, 0), (0, 0)


def _lines(body: list[ast.stmt]) -> Lines:
    return _first(body[0]), body[-1].end_lineno or body[-1].lineno


@functools.lru_cache(maxsize=64)
def _tries(source: str) -> tuple[ast.Try, ...]:
    tree = parsed(source)
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Try)) if tree is not None else ()


@functools.lru_cache(maxsize=64)
def _headers(source: str) -> tuple[tuple[int, int], ...]:
    tree = parsed(source)
    if tree is None:
        return ()
    ranges = []
    for node in ast.walk(tree):
        if isinstance(node, ast.match_case):
            ranges.append((node.pattern.lineno, node.pattern.lineno))
        elif isinstance(node, (ast.stmt, ast.ExceptHandler)):
            ranges.append(_header(node))
    return tuple(ranges)


def _first(node: ast.AST) -> int:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    lines = [decorator.lineno for decorator in getattr(node, "decorator_list", [])]
    return min([node.lineno, *lines]) if isinstance(node, (ast.stmt, ast.ExceptHandler)) else 1


def _header(node: ast.stmt | ast.ExceptHandler) -> tuple[int, int]:
    first = _first(node)
    inner = getattr(node, "cases", None) or getattr(node, "body", None)
    if inner:
        return first, max(first, _first(inner[0]) - 1)
    return first, node.end_lineno or first
