"""What `jitlint why` says of the shapes of arrays is what JAX makes of them."""

from __future__ import annotations

import ast
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.values import observed_shapes, programs, told
from jitlint.base.config import Settings
from jitlint.base.result import ValueRow
from jitlint.driver.why import values
from tests.fixtures.marks import FIXTURES

SAMPLED = random.Random(11).sample(programs([FIXTURES]), 40)
PROGRAM = Path(__file__).with_name("shapes.py")
_SHAPE = re.compile(r"of shape \(([^)]*)\)")


def said(row: ValueRow) -> tuple[int | None, ...] | None:
    """The one shape that is said of a value, if it is one."""
    found = _SHAPE.findall(row.kind)
    if len(found) != 1 or " or " in row.kind:
        return None
    words = [word.strip() for word in found[0].split(",") if word.strip()]
    return tuple(None if word == "?" else int(word) for word in words)


def fits(shape: tuple[int | None, ...], real: tuple[int, ...] | None) -> bool:
    return real is not None and len(shape) == len(real) and all(a in (None, b) for a, b in zip(shape, real))


def lines_of_functions_that_raise(path: Path) -> set[int]:
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and any(isinstance(part, ast.Raise) for part in ast.walk(node))
    ]
    return {line for node in functions for line in range(node.lineno, (node.end_lineno or 0) + 1)}


@pytest.mark.parametrize("path", SAMPLED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_name_has_another_shape(path: Path) -> None:
    """A place that runs with several shapes has one of those that are said of it. Functions that raise are left out: what is
    said behind the `raise` may be of a run that did not come so far."""
    shapes: dict[tuple[int, int], list[tuple[int | None, ...]]] = {}
    raising = lines_of_functions_that_raise(path)
    for row in told(path):
        shape = said(row)
        if shape is not None and row.span.line not in raising:
            shapes.setdefault((row.span.line, row.span.column), []).append(shape)
    seen = observed_shapes(path)
    wrong = [
        (place, shapes[place], seen[place])
        for place in sorted(shapes.keys() & seen.keys())
        if not any(fits(shape, real) for shape in shapes[place] for real in seen[place])
    ]
    assert wrong == []


def made() -> dict[str, Any]:
    """The variables of the program, made by the real libraries."""
    import jax

    scope: dict[str, Any] = {}
    exec(compile(PROGRAM.read_text(encoding="utf-8"), str(PROGRAM), "exec"), scope)
    return {
        name: value
        for name, value in scope.items()
        if isinstance(value, (jax.Array, np.ndarray)) and "key" not in name
    }


def test_every_array_of_the_program_has_the_shape_that_is_known_of_it(tmp_path: Path) -> None:
    """And each size is known. The program is looked at for itself."""
    alone = tmp_path / "shapes.py"
    alone.write_bytes(PROGRAM.read_bytes())
    rows = {row.text: row for row in values(str(alone), Settings(), use_cache=False) if not row.code}
    real = made()
    known = {name: said(rows[name]) for name in real if name in rows}
    assert len(real) > 60
    assert {n: known.get(n) for n, v in real.items() if not fits(known.get(n) or (-1,), v.shape)} == {}
    assert {n for n in real if None in (known[n] or ())} == set()
