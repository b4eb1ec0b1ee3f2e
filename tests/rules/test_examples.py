"""The examples of every rule do under real JAX what the rule predicts, and the checker says so."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
import traceback
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import BakesConstant, Raises, RunsOnce
from jitlint.confirm.planning.statements import statement_around
from jitlint.confirm.statement import Statement
from jitlint.confirm.watch.observe import Watch, class_name
from jitlint.confirm.watch.runs import Runs
from jitlint.confirm.witness import evidence, incident
from tests.checking import checked
from tests.rules.catalog import EXAMPLES, RULES, Example
from tests.versions import UPGRADES

os.environ.setdefault("JAX_PLATFORMS", "cpu")

BAD = [example for example in EXAMPLES if example.kind == "bad"]
GOOD = [example for example in EXAMPLES if example.kind == "good"]
RAISING = [example for example in BAD if isinstance(example.rule.outcome, Raises)]
SILENT = [example for example in BAD if not isinstance(example.rule.outcome, Raises)]


def _run(example: Example) -> dict[str, Any]:
    """Run an example; what it leaves in variables is its result."""
    return _execute(compile(example.text, example.name, "exec", dont_inherit=True), example)


def _run_for_values(example: Example) -> dict[str, Any]:
    """The same, with the values of calls that stand alone (``f(1.0)``): what a reader of the example would look at."""
    tree = ast.parse(example.text, example.name)
    for statement in tree.body:
        if isinstance(statement, ast.Expr):
            keep = ast.parse("_values.append(0)", mode="eval").body
            assert isinstance(keep, ast.Call)
            keep.args = [statement.value]
            statement.value = ast.fix_missing_locations(ast.copy_location(keep, statement.value))
    return _execute(compile(tree, example.name, "exec", dont_inherit=True), example)


def _execute(code: CodeType, example: Example) -> dict[str, Any]:
    pytest.importorskip("jax", reason="the examples run under real JAX")
    variables: dict[str, Any] = {"__name__": example.name, "_values": []}
    # Witnesses read lines, as those of a file.
    linecache.cache[example.name] = (len(example.text), None, example.text.splitlines(True), example.name)
    exec(code, variables)
    kept = {name: value for name, value in variables.items() if not name.startswith("_")}
    return {**kept, "values": variables["_values"]}


def _runs(example: Example) -> Runs:
    compared = isinstance(example.rule.outcome, (RunsOnce, BakesConstant))
    run = _run_for_values if compared else _run
    watches = {(example.name, line): [Watch(-1, frozenset(), (), True, True)] for line, _ in example.marks}
    return Runs(lambda: run(example), lambda filename: filename == example.name, watches)


def _innermost_line(error: BaseException, filename: str) -> int | None:
    if isinstance(error, SyntaxError):
        return error.lineno
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == filename
    ]
    return lines[-1]


def _told_line(text: str, line: int) -> int:
    """The line that Python tells; before 3.11, what a decorator raises has that of the function."""
    is_decorator = text.splitlines()[line - 1].startswith("@")
    return statement_around(text, line)[1] if is_decorator and sys.version_info < (3, 11) else line


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
        assert _innermost_line(caught.value, example.name) == _told_line(example.text, line)


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
    found = {}
    for before in ("", *UPGRADES.values()):
        below = folder / (before or "now")
        below.mkdir()
        for example in EXAMPLES:
            if UPGRADES.get(example.rule.code, "") == before:
                (below / f"{example.name}.py").write_text(example.text, encoding="utf-8")
        found |= _check(below, before)
    return found


@functools.lru_cache
def _check(folder: Path, before: str) -> dict[str, list[tuple[int, str]]]:
    upgrade = ["--from-jax-version", before] if before else []
    # 2: one of the examples is no Python
    items = checked(folder, "--select", "ALL", "--severity", "info", *upgrade, codes=(0, 1, 2))
    found: dict[str, list[tuple[int, str]]] = {path.stem: [] for path in folder.glob("*.py")}
    # What is off by default counts in its own examples only.
    on = {rule.code for rule in RULES if rule.default and rule.severity is not Severity.INFO}
    for item in items:
        name, code = Path(item["path"]).stem, item["code"]
        if code in on or name.startswith(code.lower()):
            found[name].append((item["line"], code))
    return found


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_checker_reports_the_marks_and_nothing_else(
    example: Example, findings: dict[str, list[tuple[int, str]]]
) -> None:
    assert sorted(findings[example.name]) == example.marks
