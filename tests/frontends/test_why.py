"""`jitlint why`: what the values on a line are, how they come to be so, and that the check is not touched by the question."""

from __future__ import annotations

import json

import pytest

from jitlint.base.config import ConfigError
from jitlint.driver.why import Question, parse_question
from jitlint.frontends.cli import main
from jitlint.link.core.expressions import EVALUATORS
from tests.conftest import Write
from tests.notebooks import notebook

Capture = pytest.CaptureFixture[str]

TRAIN = """\
import jax
from losses import loss

@jax.jit
def step(params, batch):
    return jax.grad(loss)(params, batch["x"], batch["n"])
"""
LOSSES = """\
import jax.numpy as jnp

def loss(params, x, n):
    total = 0.0
    for i in range(n):
        total += jnp.sum(params * x[i])
    return total
"""
FILES = {"train.py": TRAIN, "losses.py": LOSSES}


def _why(capsys: Capture, *arguments: str) -> list[str]:
    assert main(["why", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def _statuses(capsys: Capture, place: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in json.loads("\n".join(_why(capsys, place, "--output-format", "json"))):
        found.setdefault(row["text"], set()).add(row["status"])
    return found


def test_a_line_with_its_path(project: Write, capsys: Capture) -> None:
    project(FILES)
    assert _why(capsys, "losses.py:5") == [
        "losses.py:5: for i in range(n):",
        "  under a transform, in `loss`:",
        "    i         static   Python int",
        "    range(n)  static   range",
        "    n         traced   array, from parameter `batch` of `step`",
        "    because:",
        "      train.py:4: `step` is jitted with `jax.jit` here",
        "      train.py:6: and called here",
    ]


def test_parameters_and_columns(project: Write, capsys: Capture) -> None:
    project(FILES)
    assert _statuses(capsys, "losses.py:3") == {"params": {"traced"}, "x": {"traced"}, "n": {"traced"}}
    assert _statuses(capsys, "losses.py:6:26") == {"params": {"traced"}}
    assert _statuses(capsys, "losses.py:6:33") == {"params * x[i]": {"traced"}}
    assert _statuses(capsys, "losses.py:6")["total"] == {"traced", "static"}


def test_json_is_an_interface(project: Write, capsys: Capture) -> None:
    project({"a.py": "import jax\n\n@jax.jit\ndef f(x):\n    y = x + 1\n    return y\n\nf(2.0)\n"})
    rows = json.loads("\n".join(_why(capsys, "a.py:5:5", "--output-format", "json")))
    assert rows == [
        {
            "path": "a.py",
            "cell": None,
            "line": 5,
            "column": 5,
            "end_line": 5,
            "end_column": 6,
            "text": "y",
            "status": "traced",
            "kind": "float scalar",
            "why": "parameter `x` of `f`",
            "in_trace": True,
            "function": "f",
            "ground": "jit",
            "confidence": "certain",
            "because": [
                {
                    "path": "a.py",
                    "cell": None,
                    "line": 3,
                    "message": "`f` is jitted with `jax.jit` here",
                },
                {"path": "a.py", "cell": None, "line": 8, "message": "and called here"},
            ],
        }
    ]


def test_static_arguments_and_both_situations(project: Write, capsys: Capture) -> None:
    source = """\
import jax
from functools import partial

@partial(jax.jit, static_argnames="flag")
def f(x, flag):
    return g(x) if flag else x

def g(y):
    return y * 2

f(1.0, flag=True)
g(3)
"""
    project({"a.py": source})
    assert _statuses(capsys, "a.py:5") == {"x": {"traced"}, "flag": {"static"}}
    assert _statuses(capsys, "a.py:9")["y"] == {"traced", "static"}
    assert "  outside of any transform, in `g`:" in _why(capsys, "a.py:9")


def test_a_notebook(project: Write, capsys: Capture) -> None:
    script = "# %%\nimport jax\n# %%\n@jax.jit\ndef f(x):\n    return x + 1\n# %%\n%timeit f(1.0)\n"
    project({"n.ipynb": notebook(script)})
    assert _why(capsys, "n.ipynb:cell 2:3") == [
        "n.ipynb:cell 2:3: return x + 1",
        "  under a transform, in `f`:",
        "    x      traced   float scalar, from parameter `x` of `f`",
        "    x + 1  traced   float scalar, from parameter `x` of `f`",
        "    because:",
        "      n.ipynb:cell 2:1: `f` is jitted with `jax.jit` here",
        "      n.ipynb:cell 3:1: and called here",
    ]
    assert main(["why", "n.ipynb:3"]) == 2
    assert "there is no code at that place; write n.ipynb:cell 3:3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("import jax\n# words\n", "a.py:2"),
        ("import jax\n\ndef f():\n    pass\n", "a.py:4"),
    ],
)
def test_where_there_is_nothing(source: str, place: str, project: Write, capsys: Capture) -> None:
    project({"a.py": source})
    assert _why(capsys, place)[1:] == [
        "  nothing that jitlint knows of runs this line, or there are no values on it"
    ]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("a.py", "'a.py' is no place; write FILE:LINE or FILE:LINE:COLUMN"),
        ("a.py:0", "'a.py:0' is no place"),
        ("a.py:99", "a.py: it has no line 99"),
        ("b.py:1", "b.py: no such file or directory"),
    ],
)
def test_what_is_no_place(place: str, message: str, project: Write, capsys: Capture) -> None:
    project({"a.py": "import jax\n"})
    assert main(["why", place]) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_is_no_python(project: Write, capsys: Capture) -> None:
    project({"a.py": "import jax\ndef f(:\n"})
    assert main(["why", "a.py:2"]) == 2
    assert capsys.readouterr().err.startswith("a.py:2:7: JIT001 syntax error: ")


def test_a_statement_that_is_no_python_is_told_beside_the_answer(project: Write, capsys: Capture) -> None:
    project({"a.py": "import jax\nx = 3\n\n\ndef f(x):\n    y = x\n    return y\n\n\nz = = 4\n"})
    assert main(["why", "a.py:2"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("a.py:10:5: JIT001 ")
    assert said.out.splitlines()[-1].split() == ["x", "static", "3"]


def test_questions() -> None:
    assert parse_question("a.py:3") == Question("a.py", 3)
    assert parse_question("a:b.py:3:4:") == Question("a:b.py", 3, 4)
    assert parse_question("n.ipynb:cell 2:3:4") == Question("n.ipynb", 3, 4, 2)
    with pytest.raises(ConfigError, match="is no place"):
        parse_question("3")


def test_a_question_leaves_nothing_behind(project: Write, capsys: Capture) -> None:
    before = dict(EVALUATORS)
    project(FILES)
    _why(capsys, "losses.py:5")
    assert before == EVALUATORS


def test_a_column_without_a_value_is_told_what_the_line_has(project: Write, capsys: Capture) -> None:
    project(FILES)
    _asked, missed, *rest = _why(capsys, "losses.py:5:2")
    assert missed == "  no value is at column 2; those of the line are:"
    assert rest == _why(capsys, "losses.py:5")[1:]
    assert json.loads("\n".join(_why(capsys, "losses.py:5:2", "--output-format", "json"))) == []


RIDGE = """\
import jax

def ridge(x):
    r = x * 2
    if r < 1:
        return r
    return x

def gradient(x):
    return jax.grad(ridge)(x)

@jax.jit
def step(x):
    return gradient(x)

gradient(1.0)
step(1.0)
"""


def test_different_reasons_say_what_they_are_about(project: Write, capsys: Capture) -> None:
    project({"a.py": RIDGE})
    assert [line.strip() for line in _why(capsys, "a.py:5") if line.endswith("because:")] == [
        "`r` (traced), `r < 1` (static), because:",
        "`r < 1` (traced), because:",
    ]
    assert [line.strip() for line in _why(capsys, "a.py:5:8") if line.endswith("because:")] == ["because:"]
