"""Text to IR: parse once, lower once.

What it does: choose the parser. Python's own takes a twelfth of the time; libcst takes what is newer than the Python
that runs, and comments that say something about the code.
What it does not: read files, compute positions (`spans`). Layer: ``syntax``.
"""

from __future__ import annotations

import ast
import functools
import gc
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jitlint.syntax import ir
from jitlint.syntax.abstract.lowering import lower_tree
from jitlint.syntax.guard import guard, python_parse
from jitlint.syntax.source import BYTE_ORDER_MARK, SyntaxProblem, end_lines

# Frames that lowering and code generation may need for code as deep as the guard lets through: four a level.
_FRAMES = 4000

TRACED_PRAGMA = re.compile(r"#\s*jitlint:\s*traced\b")
"""A comment that declares a function to be traced."""


@contextmanager
def deep_stack() -> Iterator[None]:
    """Allow as many stack frames as the deepest code that passes the guard takes."""
    limit = sys.getrecursionlimit()
    if limit < _FRAMES:
        sys.setrecursionlimit(_FRAMES)
    try:
        yield
    finally:
        if limit < _FRAMES:
            sys.setrecursionlimit(limit)


@contextmanager
def no_collection() -> Iterator[None]:
    """Without the garbage collector: a young tree is all alive; collecting costs half the parse again and frees nothing."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def lower(text: str) -> ir.Module | SyntaxProblem:
    """Lower the text of one module, or say why that is impossible."""
    abstract = lower_abstract(text)
    if abstract is not None:
        return abstract[0]
    from jitlint.syntax.concrete.lowering import lower_with_nodes

    concrete = lower_with_nodes(text)
    return concrete if isinstance(concrete, SyntaxProblem) else concrete[0]


@functools.lru_cache(maxsize=1)
def lower_abstract(text: str) -> tuple[ir.Module, list[Any]] | None:
    """The module by way of Python's own parser, and what each origin stands for; not to be changed: who types is soon asked for
    positions in the text that was lowered last.

    None for what is better left to libcst, which also finds what is wrong.
    """
    if TRACED_PRAGMA.search(text) or text.startswith(BYTE_ORDER_MARK):
        return None
    text = end_lines(text)
    if guard(text) is not None:
        return None
    with no_collection(), deep_stack():
        tree = python_parse(text)
        if not isinstance(tree, ast.Module):
            return None
        try:
            return lower_tree(tree, text)
        except (RecursionError, KeyError):
            return None
