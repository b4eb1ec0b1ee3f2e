"""What `jitlint why` says of the names in the fixtures is what JAX makes of them: tracers or not.

Every name that a function of a fixture reads is looked at while real JAX runs all cases. A name that is said to be
traced was a tracer at least once, one that is said to be static never was.
"""

from __future__ import annotations

import ast
import random
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import pytest

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Confidence
from jitlint.driver.why import values
from tests.fixtures.marks import FIXTURES, cases, needs

Place = tuple[int, int]

FILES = sorted(
    path
    for path in FIXTURES.glob("*/*.py")
    if path.name in ("good.py", "bad.py") and not path.parent.name.startswith("_")
)
SAMPLED = random.Random(7).sample(FILES, 24)


class _Looking(ast.NodeTransformer):
    """Hands every name that a function reads to ``__see__``, with its place."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.body = [self._inside(statement) for statement in node.body]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return self.generic_visit(node)

    def _inside(self, statement: ast.stmt) -> ast.stmt:
        return _Names().visit(statement)  # type: ignore[no-any-return]


class _Names(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return _Looking().visit_FunctionDef(node)

    def visit_Name(self, node: ast.Name) -> Any:
        if not isinstance(node.ctx, ast.Load) or node.id == "super":
            return node
        place = [ast.Constant(node.lineno), ast.Constant(node.col_offset + 1)]
        call = ast.Call(ast.Name("__see__", ast.Load()), [*place, node], [])
        return ast.copy_location(call, node)

    def visit_match_case(self, node: ast.match_case) -> Any:
        node.body = [self.visit(statement) for statement in node.body]
        return node


def _observed(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[Place, set[bool]]:
    """Place of every name that was read: whether a tracer was in its value."""
    import jax

    found: dict[Place, set[bool]] = {}

    def see(line: int, column: int, value: Any) -> Any:
        leaves = jax.tree_util.tree_leaves(value)
        found.setdefault((line, column), set()).add(any(isinstance(leaf, jax.core.Tracer) for leaf in leaves))
        return value

    tree = ast.fix_missing_locations(_Looking().visit(ast.parse(path.read_text(encoding="utf-8"))))
    module = types.ModuleType(f"looked_at_{path.parent.name}")
    module.__dict__["__see__"] = see
    with warnings.catch_warnings(), monkeypatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setitem(sys.modules, module.__name__, module)
        exec(compile(tree, str(path), "exec"), module.__dict__)
        for case in cases(path):
            try:
                getattr(module, case)()
            except Exception:  # the bad ones raise
                continue
    return found


def _said(path: Path) -> dict[Place, set[str]]:
    said: dict[Place, set[str]] = {}
    for row in values(str(path), Settings(), use_cache=False):
        if row.text.isidentifier() and row.confidence is not Confidence.POSSIBLE and not row.code:
            said.setdefault((row.span.line, row.span.column), set()).add(row.status)
    return said


@pytest.mark.parametrize("path", SAMPLED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_names_are_what_they_are_said_to_be(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if why := needs(path):
        pytest.skip(why)
    said, observed = _said(path), _observed(path, monkeypatch)
    both = said.keys() & observed.keys()
    wrong = [
        (place, said[place], observed[place])
        for place in sorted(both)
        if (said[place] == {"traced"} and True not in observed[place])
        or (said[place] == {"static"} and True in observed[place])
    ]
    assert wrong == []
    assert both or not said
