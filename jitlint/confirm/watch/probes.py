"""Sees the values that single expressions come to (layer: ``confirm``). Runs in the worker only.

What a call answers cannot be read off a variable. So the few expressions that are asked for get a call around them when their
file is compiled, which notes the value and hands it on; lines and columns of all code stay as they are.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib.machinery
import os
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from jitlint.confirm.watch.spots import Columns

_NAME = "__jitlint_probe__"


class Probes:
    """wanted: by file, the columns of expressions and the findings that they belong to. values: what was seen since
    `begin`. texts: by file, what is compiled in its place, as UTF-8."""

    def __init__(self, wanted: Mapping[str, Mapping[Columns, int]]) -> None:
        self._wanted = {os.path.realpath(path): dict(columns) for path, columns in wanted.items()}
        self.values: dict[int, set[object]] = {}
        self.texts: dict[str, bytes] = {}

    def begin(self) -> None:
        """Forget what was seen."""
        self.values = {}

    def note(self, number: int, value: Any) -> Any:
        """What the call around an expression does."""
        from jitlint.confirm.watch.compare import fingerprint

        try:
            # What answers nothing changes something, which is another question.
            seen: object = fingerprint(value) if value is not None else None
        except Exception:  # a value that does not like to be looked at
            seen = None
        self.values.setdefault(number, set()).add(seen)
        return value

    def changes(self, path: str) -> bool:
        """Whether something is wanted of a file."""
        place = os.path.realpath(path)
        return place in self._wanted or place in self.texts

    def changed(self, tree: ast.Module, path: str) -> ast.Module:
        """The file's tree with the calls put in."""
        wanted = self._wanted.get(os.path.realpath(path))
        if wanted:
            _Put(wanted).visit(tree)
        return tree

    def compiled(self, source: bytes, path: str) -> CodeType:
        """The file's code."""
        if not self.changes(path):
            code: CodeType = compile(source, path, "exec", dont_inherit=True)
            return code
        text = self.texts.get(os.path.realpath(path))
        tree = self.changed(ast.parse(source if text is None else text.decode(), path), path)
        code = compile(tree, path, "exec", dont_inherit=True)
        return code

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Inside the block, the files are compiled with the calls when they are imported."""
        loader = importlib.machinery.SourceFileLoader
        original = loader.get_code
        probes = self

        def get_code(self: Any, fullname: str) -> CodeType | None:
            path = self.get_filename(fullname)
            if probes.changes(path):
                return probes.compiled(self.get_data(path), path)
            return original(self, fullname)

        setattr(builtins, _NAME, self.note)
        loader.get_code = get_code  # type: ignore[method-assign]
        try:
            yield
        finally:
            loader.get_code = original  # type: ignore[method-assign]


class _Put(ast.NodeTransformer):
    """Puts the calls in, the outermost expression first if several have the same columns."""

    def __init__(self, wanted: Mapping[Columns, int]) -> None:
        self._wanted = dict(wanted)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Every node is looked at."""
        number = None
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), (ast.Load, type(None))):
            place = node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0
            number = self._wanted.pop(place, None) if not isinstance(node, ast.Starred) else None
        super().generic_visit(node)
        if number is None or not isinstance(node, ast.expr):
            return node
        name = ast.Name(_NAME, ast.Load())
        call = ast.Call(name, [ast.Constant(number), node], [])
        for part in (name, call.args[0], call):
            ast.copy_location(part, node)
        return call


def wanted_of(flags: Iterable[Any]) -> dict[str, dict[Columns, int]]:
    """What to look for: the expressions of these findings."""
    found: dict[str, dict[Columns, int]] = {}
    for flag in flags:
        if flag.accepted:
            found.setdefault(flag.path, {})[flag.columns] = flag.number
    return found
