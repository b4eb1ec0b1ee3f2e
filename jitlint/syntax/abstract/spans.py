"""Origins to positions, as Python's own tree has them.

What it does: lower again, and read off the nodes behind the wanted origins where they stand.
What it does not: know where everything is: what stands inside f-strings (before Python 3.12) and parts of longer chains
of ``and`` and ``or`` is for `jitlint.syntax.concrete`. Layer: ``syntax``.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection
from typing import Any

from jitlint.base.diagnostic import Span
from jitlint.base.text import split_lines
from jitlint.syntax.abstract.statements import Decorator, NameOf
from jitlint.syntax.lowering import lower_abstract

_LINES_OF_HEAD = 4
_DEF = re.compile(r"(?:async(?:\s|\\\n)+)?def(?:\s|\\\n)+(\w+)")


def compute_spans(text: str, wanted: Collection[int]) -> dict[int, Span] | None:
    """The spans of these origins in ``text``, the very text that was lowered; None if one of them is not to be had."""
    lowered = lower_abstract(text)
    if lowered is None:
        return None
    lines = split_lines(text)
    spans: dict[int, Span] = {}
    for origin in wanted:
        if 0 <= origin < len(lowered[1]):
            span = _span(lowered[1][origin], lines)
            if span is None:
                return None
            spans[origin] = span
    return spans


def _span(node: Any, lines: list[str]) -> Span | None:
    if node is None:
        return None
    if type(node) is NameOf:
        return _of_name(_of_node(node.function, lines), lines)
    if type(node) is Decorator:
        return _with_sign(_of_node(node.expression, lines), lines)
    return _of_node(node, lines)


def _of_node(node: Any, lines: list[str]) -> Span:
    end_line = node.end_lineno
    return Span(
        node.lineno,
        _column(lines[node.lineno - 1], node.col_offset),
        end_line,
        _column(lines[end_line - 1], node.end_col_offset),
    )


def _column(line: str, offset: int) -> int:
    """The column of an offset in bytes."""
    return (
        offset + 1
        if line.isascii()
        else len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8")) + 1
    )


def _of_name(function: Span, lines: list[str]) -> Span | None:
    head = "\n".join(lines[function.line - 1 : function.line + _LINES_OF_HEAD])
    found = _DEF.match(head, function.column - 1)
    if found is None:
        return None
    before = head[: found.start(1)]
    line, column = function.line + before.count("\n"), len(before) - before.rfind("\n")
    return Span(line, column, line, column + len(found[1]))


def _with_sign(decorator: Span, lines: list[str]) -> Span | None:
    sign = lines[decorator.line - 1].rfind("@", 0, decorator.column - 1)
    return None if sign < 0 else dataclasses.replace(decorator, column=sign + 1)
