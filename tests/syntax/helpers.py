"""What the tests of the syntax layer share: IR as plain tuples, and a sample of real files."""

from __future__ import annotations

import ast
import os
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from jitlint.syntax import Source, SyntaxProblem, ir, lower, read_source
from jitlint.syntax.abstract.spans import compute_spans as abstract_spans
from jitlint.syntax.abstract.statements import Decorator
from jitlint.syntax.concrete.lowering import lower_with_nodes
from jitlint.syntax.concrete.spans import compute_spans as concrete_spans
from jitlint.syntax.lowering import lower_abstract


def module(text: str) -> ir.Module:
    """Lower a text that must be fine."""
    text = textwrap.dedent(text)
    lowered = lower(text)
    assert isinstance(lowered, ir.Module), lowered
    in_both_ways(text)
    return lowered


def in_both_ways(text: str) -> bool:
    """Whether both parsers understand a text; what they lead to must then be the same."""
    concrete = lower_with_nodes(text)
    abstract = lower_abstract(text)
    if abstract is None or isinstance(concrete, SyntaxProblem):
        return False
    assert abstract[0] == concrete[0]
    # With a comma behind a tuple or a slice, libcst does not know where it ends; decorators in parentheses end with them.
    known = [at for at, node in enumerate(abstract[1]) if node is not None and not _ends_loosely(node)]
    spans = abstract_spans(text, known)
    assert spans is not None
    found = concrete_spans(text, known)
    assert spans == {at: found[at] for at in known}
    return True


def _ends_loosely(node: Any) -> bool:
    return isinstance(node, (ast.Tuple, ast.Slice, Decorator))


def plain(node: Any) -> Any:
    """IR as nested tuples without origins: ``("Name", "x")``. Trailing defaults stay."""
    if isinstance(node, msgspec.Struct):
        fields = [name for name in node.__struct_fields__ if name != "at"]
        return (type(node).__name__, *(plain(getattr(node, name)) for name in fields))
    if isinstance(node, list):
        return [plain(item) for item in node]
    return node


def expr(text: str) -> Any:
    """The plain IR of one expression."""
    (statement,) = module(text).body
    assert isinstance(statement, ir.ExprStmt)
    return plain(statement.value)


def stmt(text: str) -> Any:
    """The plain IR of one statement."""
    (statement,) = module(text).body
    return plain(statement)


def function(text: str, qualname: str) -> ir.Function:
    """The function of that qualified name in a text."""
    (found,) = [f for f in module(text).functions if f.qualname == qualname]
    return found


def problem(text: str) -> SyntaxProblem:
    """Why a text cannot be lowered."""
    lowered = lower(text)
    assert isinstance(lowered, SyntaxProblem)
    return lowered


def walk(node: Any) -> Iterator[tuple[str, int]]:
    """Class name and origin of every node below ``node``, function bodies included."""
    if isinstance(node, list):
        for item in node:
            yield from walk(item)
    elif isinstance(node, ir.Function):
        for name in ("params", "decorators", "returns"):
            yield from walk(getattr(node, name))
        yield from walk(ir.decode_body(node.body))
    elif isinstance(node, msgspec.Struct):
        if "at" in node.__struct_fields__:
            yield type(node).__name__, node.at
        for name in node.__struct_fields__:
            yield from walk(getattr(node, name))


def corpus() -> list[Source]:
    """A hundred real files: every 20th of the standard library, without the deliberately broken ones."""
    root = Path(os.__file__).parent
    paths = sorted(
        path
        for path in root.rglob("*.py")
        if not {"site-packages", "lib2to3", "idlelib", "turtledemo", "tokenizedata"} & set(path.parts)
        and not path.name.startswith(("bad", "badsyntax"))
    )
    read = [read_source(path) for path in paths[::20]]
    return [source for source in read if isinstance(source, Source)]
