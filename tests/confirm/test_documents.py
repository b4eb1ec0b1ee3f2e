"""Notebooks and texts are run as somebody runs them who goes on below a cell that fails; places are those of their cells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Confidence, Finding, Severity, Span
from jitlint.base.result import CheckResult, Statistics
from jitlint.confirm.engine import Options, prove
from jitlint.confirm.planning.cells import Cells
from jitlint.confirm.verdict import Confirmation, Verdict
from jitlint.syntax.documents import read_document
from tests.confirm.project import confirmed, run, write

pytest.importorskip("jax", reason="proof needs JAX")

Seen = tuple[str, int, int, str]

CELLS = (
    "%matplotlib inline\nimport jax\nimport jax.numpy as jnp",
    "@jax.jit\ndef gate(x, limit):\n    if x > limit:\n        return x\n    return limit",
    "gate(1.0, 2.0)",
    "!pip list\nrows = open('missing.csv').read()\nunreached = 1",
    "@jax.jit\ndef loud(x):\n    print('x is', x)\n    return x + 1\n\nfor n in range(3):\n    loud(jnp.float32(n))",
    "%timeit -n 1 jnp.ones(3)\nx = jnp.zeros(3)\nx[0] = 1.0",
    "scale = 2.0\n\n@jax.jit\ndef scaled(x):\n    return x * scale\n\nprint(scaled(1.0))",
    "scale = 3.0\nscaled(1.0)",
    "def asked(y):\n    return int(y)\n\nasked_j = jax.jit(asked)",
)
TEXT = """\
# A text

```python
import jax
import jax.numpy as jnp

@jax.jit
def positive(x):
    if x > 0:
        return x
    return -x
```

and below

```python
positive(3.0)
```

    >>> nothing

```python
>>> x = jnp.zeros(3)
>>> x[0] = 1.0
```
"""


def _notebook(cells: Sequence[str]) -> str:
    """A notebook with a title above its cells of code, which are numbered from 2, therefore."""
    code = [{"cell_type": "code", "metadata": {}, "source": cell} for cell in cells]
    title = {"cell_type": "markdown", "metadata": {}, "source": "# Title"}
    return json.dumps({"cells": [title, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def _seen(rows: Sequence[dict[str, Any]]) -> set[Seen]:
    return {(row["code"], row["cell"] or 0, row["line"], row["verdict"]) for row in rows}


def _proved(path: Path, *wanted: tuple[str, int, int, str]) -> list[Confirmation]:
    """The verdicts on made-up findings: the code, the cell, the line of it, and the text there."""
    document = read_document(str(path), path.read_bytes())
    texts = document.text.split("\n")
    findings = []
    for code, cell, line, text in wanted:
        places = [n for n, row in enumerate(document.rows) if (row.cell, row.line) == (cell, line)]
        column = next(texts[n].index(text) for n in places if text in texts[n]) + 1
        span = Span(line, column, line, column + len(text), cell)
        findings.append(Finding(code, "", Severity.ERROR, Confidence.CERTAIN, "", str(path), span))
    checked = CheckResult(findings, [], Statistics())
    return prove(checked, [str(path)], Settings(), Options(jobs=1, use_cache=False)).confirmations


def test_each_finding_of_a_notebook_is_proved_in_its_cell_behind_cells_that_fail(tmp_path: Path) -> None:
    write(tmp_path, {"n.ipynb": _notebook(CELLS)})
    rows = confirmed(tmp_path, "--jobs", "1")
    assert _seen(rows) == {
        ("JIT101", 3, 3, "confirmed"),
        ("JIT301", 6, 3, "confirmed"),
        ("JIT401", 7, 3, "confirmed"),
        ("JIT306", 8, 5, "confirmed"),
        ("JIT108", 10, 2, "confirmed"),
    }
    said = {row["code"]: row["evidence"] for row in rows}
    assert said["JIT301"] == "line 3 of cell 6 ran once; without jit it runs 3 times"
    assert said["JIT306"] == "the results differ: line 2 of cell 9: 2 with jit, 3 without"
    table = run(tmp_path, "--jobs", "1").stdout.splitlines()
    assert any(line.startswith("confirmed  n.ipynb:cell 3:3  JIT101 ") for line in table)


def test_the_code_of_a_text_is_proved_at_the_lines_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, {})
    (tmp_path / "t.md").write_text(TEXT, encoding="utf-8")
    rows = confirmed(tmp_path, "--jobs", "1", "t.md")
    assert _seen(rows) == {("JIT101", 0, 9, "confirmed"), ("JIT401", 0, 24, "confirmed")}
    assert {row["inputs"] for row in rows} == {"a part of t.md, past TracerBoolConversionError at line 17"}


def test_a_module_that_is_not_there_is_named_for_the_cells_that_need_it(tmp_path: Path) -> None:
    cells = [
        "import jax",
        "import nowhere\n\n@jax.jit\ndef first(x):\n    nowhere.note()\n    if x > 0:\n        return x\n\nfirst(1.0)",
        "@jax.jit\ndef second(x):\n    return float(x)\n\nsecond(1.0)",
    ]
    write(tmp_path, {"n.ipynb": _notebook(cells)})
    rows = confirmed(tmp_path, "--jobs", "1")
    assert ("JIT108", 4, 3, "confirmed") in _seen(rows)
    (first,) = (row for row in rows if row["cell"] == 3)
    assert (first["verdict"], first["line"]) == ("could-not-import", 6)
    assert first["evidence"] == "ModuleNotFoundError: No module named 'nowhere'"


def test_an_error_elsewhere_confirms_nothing(tmp_path: Path) -> None:
    cells = [
        "import jax\nimport jax.numpy as jnp",
        "@jax.jit\ndef refused(x):\n    return float(x)\n\nrefused(1.0)",
        "y = jnp.ones(())\nfloat(y)",
        "@jax.jit\ndef fine(x):\n    return x.shape[0] + float(2)\n\nfine(jnp.ones(3))",
    ]
    path = tmp_path / "n.ipynb"
    write(tmp_path, {"n.ipynb": _notebook(cells)})
    wanted = [("JIT108", 3, 3, "float(x)"), ("JIT108", 4, 2, "float(y)"), ("JIT108", 5, 3, "float(2)")]
    words = [each.verdict for each in _proved(path, *wanted)]
    assert words[0] is Verdict.CONFIRMED
    assert Verdict.CONFIRMED not in words[1:]


def test_what_a_failing_cell_leaves_undone_is_no_effect_of_another(tmp_path: Path) -> None:
    # With jit the second cell fails, and `total` stays: not because `scale` is read once.
    cells = [
        "import jax\nimport jax.numpy as jnp\nscale = 2.0\ntotal = 0",
        "@jax.jit\ndef refused(x):\n    return 1 if x > 0 else 0\n\ntotal = refused(jnp.ones(()))",
        "@jax.jit\ndef scaled(x):\n    return x * scale\n\nscaled(1.0) + total",
    ]
    path = tmp_path / "n.ipynb"
    write(tmp_path, {"n.ipynb": _notebook(cells)})
    (said,) = _proved(path, ("JIT306", 4, 3, "scale"))
    assert said.verdict is not Verdict.CONFIRMED, said.evidence


@pytest.mark.parametrize(
    ("made", "refuted"), [("n = 1", True), ("n = len(open('missing.csv').read())", False)]
)
def test_what_runs_behind_a_cell_that_fails_refutes_nothing(tmp_path: Path, made: str, refuted: bool) -> None:
    # `x.ndim` is a number for a tracer, too, with any `n` but perhaps not with the one that is missing.
    cells = [
        "import jax\nimport jax.numpy as jnp\nn = 3",
        made,
        "@jax.jit\ndef f(x):\n    if x.ndim > 1:\n        return x + 1\n    return x\n\nf(jnp.ones(n))",
        "@jax.jit\ndef g(x):\n    return float(x)\n\nif n:\n    g(1.0)",
    ]
    path = tmp_path / "n.ipynb"
    write(tmp_path, {"n.ipynb": _notebook(cells)})
    first, second = _proved(path, ("JIT101", 4, 3, "x.ndim > 1"), ("JIT108", 5, 3, "float(x)"))
    assert (first.verdict is Verdict.REFUTED) == refuted, first.evidence
    assert second.verdict is Verdict.CONFIRMED


def test_what_has_no_finding_is_told_by_its_cell(tmp_path: Path) -> None:
    cells = ["import jax", "def f(x):\n    if x > 0:  # jitlint: ignore\n        return x", "jax.jit(f)(1.0)"]
    write(tmp_path, {"n.ipynb": _notebook(cells)})
    (row,) = confirmed(tmp_path, "--jobs", "1", "--missed")
    assert (row["verdict"], row["path"], row["line"]) == ("missed", "n.ipynb:cell 3", 2)


def test_a_fix_in_a_notebook_is_not_run(tmp_path: Path) -> None:
    write(
        tmp_path, {"n.ipynb": _notebook(["import jax.numpy as jnp\nx = jnp.zeros(3)\nx[0] = 1.0\nprint(x)"])}
    )
    (row,) = confirmed(tmp_path, "--jobs", "1", "--fixes")
    assert row["verdict"] == "could-not-import"
    assert row["evidence"] == "fixes of notebooks, and of texts, are not run"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("n.ipynb", _notebook([*CELLS, "%%timeit y = 1\nz = y + 1\nz * 2", "  %time w = gate(1, 2)"])),
        ("t.md", TEXT),
    ],
)
def test_places_go_to_the_module_and_back(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    document = read_document(str(path), path.read_bytes())
    lines = document.text.split("\n")
    mapped = 0
    for number, line in enumerate(lines, 1):
        code = line.strip()
        if not code or code.startswith(("#", "pass", "def __timeit__", "__timeit__")):
            continue
        column = len(line) - len(line.lstrip()) + 1
        span = Span(number, column, number, len(line) + 1)
        finding = Finding("", "", Severity.ERROR, Confidence.CERTAIN, "", str(path), document.place(span))
        assert Cells().in_module(finding).span == span
        mapped += 1
    assert mapped > 5
