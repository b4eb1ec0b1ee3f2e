"""JSON is an interface: these keys, these meanings."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from jitlint.base.diagnostic import Confidence
from jitlint.base.result import Reason, Statistics, TracedRow
from jitlint.report.json import findings_json, traced_json
from jitlint.report.statistics import statistics_lines
from jitlint.report.style import Style
from jitlint.report.tables import traced_story, traced_table
from tests.report.test_text import FINDING

pytestmark = pytest.mark.installed


ROW = TracedRow(
    path="pkg/a.py",
    qualname="Model.step",
    line=7,
    modes=("staged", "batched"),
    parameters=(("self", "static"), ("x", "traced")),
    because=(Reason("train.py", 3, "`step` is jitted"),),
    ground="possible",
    confidence=Confidence.POSSIBLE,
)


def test_findings() -> None:
    assert json.loads(findings_json([FINDING], {"JIT106": "https://example.org/JIT106"})) == [
        {
            "code": "JIT106",
            "name": "traced-range",
            "severity": "error",
            "confidence": "certain",
            "message": "`range` needs a concrete integer, but `n` is traced",
            "path": "losses.py",
            "cell": None,
            "line": 2,
            "column": 14,
            "end_line": 2,
            "end_column": 22,
            "related": [
                {
                    "path": "train.py",
                    "cell": None,
                    "line": 1,
                    "column": 1,
                    "message": "`step` is jitted",
                    "because": "seen",
                },
                {
                    "path": "train.py",
                    "cell": None,
                    "line": 3,
                    "column": 12,
                    "message": "`step` calls `loss`",
                    "because": "seen",
                },
            ],
            "because": {"traced": None, "kind": None},
            "ground": FINDING.ground or None,
            "fix": None,
            "url": "https://example.org/JIT106",
            "help": FINDING.help or None,
        }
    ]


def test_no_findings_are_an_empty_array_and_no_page_is_null() -> None:
    assert findings_json([], {}) == "[]"
    assert json.loads(findings_json([FINDING], {}))[0]["url"] is None


def test_traced_functions() -> None:
    assert json.loads(traced_json([ROW])) == [
        {
            "path": "pkg/a.py",
            "cell": None,
            "qualname": "Model.step",
            "line": 7,
            "modes": ["staged", "batched"],
            "parameters": {"self": "static", "x": "traced"},
            "because": [{"path": "train.py", "cell": None, "line": 3, "message": "`step` is jitted"}],
            "ground": "possible",
            "confidence": "possible",
        }
    ]


def test_the_table_of_traced_functions_speaks_plainly() -> None:
    lines = list(traced_table([ROW], Style(), show_path=True))
    assert lines == [
        "PLACE       FUNCTION    HOW               WHY      PARAMETERS",
        "pkg/a.py:7  Model.step  compiled+batched  a guess  traced: x; static: self",
        "    train.py:3: `step` is jitted",
    ]
    story = "\n".join(traced_story([ROW], Style()))
    assert story.startswith("\n0 functions are traced, and 1 may be: JAX runs such a function in Python once")
    assert "\n  a guess: nothing traces it" in story and "\n  batched: by `vmap`" in story
    assert "differentiated" not in story  # what the table does not say needs no word


def test_where_nothing_is_traced_the_story_says_so() -> None:
    assert list(traced_table([], Style())) == []
    (line,) = traced_story([], Style())
    assert line.startswith("No function is traced:")


def test_statistics() -> None:
    statistics = Statistics(
        files=1200, lines=34567, parsed=800, jit_sites=4, jit_sites_resolved=3, seconds={"parse": 1.234}
    )
    assert list(statistics_lines([FINDING, FINDING], statistics)) == [
        "      2  JIT106  traced-range",
        "files: 1,200 (800 analysed, context included)",
        "lines: 34,567",
        "uses of `jit` and other transforms whose function is known: 3 of 4 (75%)",
        "functions: 0, gone through 0 times; observations for the rules: 0",
        "time: parse 1.23 s",
    ]


def test_statistics_count_by_name_where_findings_are_about_one() -> None:
    about = [replace(FINDING, subject=name) for name in ("`jax.b`", "`jax.a`", "`jax.b`")]
    first = list(
        statistics_lines(
            [*about, FINDING], Statistics(jax="0.12 (jax-version = 0.12), coming from 0.4.30 (why)")
        )
    )
    assert [line.split() for line in first[:3]] == [
        ["4", FINDING.code, FINDING.name],
        ["2", "`jax.b`"],
        ["1", "`jax.a`"],
    ]
    assert "JAX: 0.12 (jax-version = 0.12), coming from 0.4.30 (why)" in first
