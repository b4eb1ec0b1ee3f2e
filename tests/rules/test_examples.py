"""The examples of every rule do under real JAX what the rule predicts, and the checker says so."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

from jitlint.base.outcome import Raises
from jitlint.confirm.observe import Runs, class_name
from jitlint.confirm.statements import statement_around
from jitlint.confirm.witness import Statement, evidence, incident
from tests.rules.catalog import EXAMPLES, Example

os.environ.setdefault("JAX_PLATFORMS", "cpu")

BAD = [example for example in EXAMPLES if example.kind == "bad"]
GOOD = [example for example in EXAMPLES if example.kind == "good"]
RAISING = [example for example in BAD if isinstance(example.rule.outcome, Raises)]
SILENT = [example for example in BAD if not isinstance(example.rule.outcome, Raises)]


def _run(example: Example) -> dict[str, Any]:
    """Run an example; the variables it leaves behind are its results."""
    pytest.importorskip("jax", reason="the examples run under real JAX")
    code = compile(example.text, example.name, "exec", dont_inherit=True)
    variables: dict[str, Any] = {"__name__": example.name}
    exec(code, variables)
    return {name: value for name, value in variables.items() if not name.startswith("_")}


def _runs(example: Example) -> Runs:
    return Runs(lambda: _run(example), lambda filename: filename == example.name)


def _innermost_line(error: BaseException, filename: str) -> int | None:
    if isinstance(error, SyntaxError):
        return error.lineno
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == filename
    ]
    return lines[-1]


@pytest.mark.parametrize("example", RAISING, ids=lambda example: example.name)
def test_bad_example_raises_what_the_rule_predicts_where_it_predicts(example: Example) -> None:
    outcome = example.rule.outcome
    assert isinstance(outcome, Raises)
    ((line, code),) = example.marks
    assert code == example.rule.code
    with pytest.raises(Exception) as caught:  # noqa: PT011 (the class is compared exactly below)
        _run(example)
    assert class_name(caught.value) in outcome.classes
    if not outcome.later:
        assert _innermost_line(caught.value, example.name) == line


@pytest.mark.parametrize("example", SILENT, ids=lambda example: example.name)
def test_bad_example_shows_the_effect_that_the_rule_predicts(example: Example) -> None:
    ((line, code),) = example.marks
    assert code == example.rule.code
    runs = _runs(example)
    first, last = statement_around(example.text, line)
    found = evidence(example.rule.outcome, Statement(example.name, line, first, last), runs)
    assert found, f"no sign of it; raised: {runs.jitted.raised}"
    assert runs.jitted.raised is None


@pytest.mark.parametrize("example", RAISING, ids=lambda example: example.name)
def test_explanation_quotes_what_jax_says(example: Example) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 (any class: the other test compares it)
        _run(example)
    said = f"{type(caught.value).__name__}: {caught.value}"
    quoted = [line[2:] for line in example.rule.explanation.splitlines() if line.startswith("> ")]
    # Shapes, dtypes and addresses vary; the first words do not.
    assert any(said.startswith(quote[:25]) for quote in quoted), said


@pytest.mark.parametrize("example", GOOD, ids=lambda example: example.name)
def test_good_example_runs_clean(example: Example) -> None:
    assert example.marks == []
    assert incident(example.rule.outcome, _runs(example)) is None


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[int, str]]]:
    """Line and code of every finding in the example programs, from one run of the checker."""
    folder = tmp_path_factory.mktemp("examples")
    for example in EXAMPLES:
        (folder / f"{example.name}.py").write_text(example.text, encoding="utf-8")
    return _check(folder)


@functools.lru_cache
def _check(folder: Path) -> dict[str, list[tuple[int, str]]]:
    command = [sys.executable, "-m", "jitlint", "check", "--output-format", "json", "--no-cache", "."]
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1, 2), done.stderr  # 2: one of the examples is no Python
    found: dict[str, list[tuple[int, str]]] = {example.name: [] for example in EXAMPLES}
    for item in json.loads(done.stdout):
        found[Path(item["path"]).stem].append((item["line"], item["code"]))
    return found


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_checker_reports_the_marks_and_nothing_else(
    example: Example, findings: dict[str, list[tuple[int, str]]]
) -> None:
    assert sorted(findings[example.name]) == example.marks
