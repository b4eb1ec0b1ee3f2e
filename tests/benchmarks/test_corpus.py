"""The corpus: labels outlive moved lines, figures count what was decided, and two versions are told apart."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import corpus
from jitlint.record.store import RecordedError, RecordedFunction, Store, digest, write_store

TREE = """\
import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    if x > 0:
        return x
    return -x


def store(y):
    y = jnp.asarray(y)
    y[0] = 1
    return y


step(jnp.ones(()))
"""
JIT101 = "if x > 0:"


def _arguments(folder: Path) -> list[str]:
    """A made-up corpus of one repository with two mistakes and an unreadable file, below ``folder``."""
    (folder / "corpus.csv").write_text(
        "repository,commit,use\nan/example,abc,tune\nnot/taken,def,exam\n", encoding="utf-8"
    )
    tree = folder / "trees" / "an+example"
    tree.mkdir(parents=True)
    (tree / "model.py").write_text(TREE, encoding="utf-8")
    (tree / "broken.py").write_text("import jax; def\n", encoding="utf-8")
    return [
        *("--corpus", str(folder / "corpus.csv"), "--trees", str(folder / "trees")),
        *("--labels", str(folder / "labels.jsonl"), "--runs", str(folder / "runs")),
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What jitlint finds in it; it runs once."""
    folder = tmp_path_factory.mktemp("run")
    corpus.main(_arguments(folder))
    return (folder / "runs" / "an+example.json").read_text(encoding="utf-8")


@pytest.fixture
def command(tmp_path: Path, run: str) -> list[str]:
    """The arguments for the made-up corpus with its run kept."""
    arguments = _arguments(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "an+example.json").write_text(run, encoding="utf-8")
    return arguments


def _label(tmp_path: Path, command: list[str], verdicts: dict[str, str]) -> None:
    """Fill in a verdict for each code, as a reader does."""
    todo = tmp_path / "todo.jsonl"
    corpus.main([*command, "--todo", str(todo)])
    rows = [json.loads(line) for line in todo.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["verdict"], row["mechanism"] = verdicts.get(row["code"], ""), "because"
    todo.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    corpus.main([*command, "--take", str(todo)])


def test_findings_without_a_label_are_listed_and_claim_no_precision(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    corpus.main([*command, "--unlabelled"])
    text = capsys.readouterr().out
    assert "1 repositories" in text
    assert "errors: 2 in 19 lines;      – true (0 of 0); 2 unlabelled" in text
    assert "an/example model.py:7:8 error[JIT101] certain" in text
    assert "an/example model.py:14:5 error[JIT401] certain" in text
    assert "counted apart: JIT001 1" in text


def test_precision_counts_the_decided_findings_only(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _label(tmp_path, command, {"JIT101": "true", "JIT401": "false"})
    capsys.readouterr()
    corpus.main(command)
    text = capsys.readouterr().out
    assert "errors: 2 in 19 lines;  50.0% true (1 of 2)\n" in text
    assert f"false errors per 100,000 lines: {100_000 / 19:.2f}" in text
    assert "JIT101                              1  100.0% true (1 of 1)" in text
    assert "an/example                          2   50.0% true (1 of 2)" in text
    assert "1  because" in text


def test_an_unfilled_row_is_no_label_and_a_strange_verdict_is_refused(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _label(tmp_path, command, {"JIT101": "undecided"})
    assert "1 undecided, 1 unlabelled" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="a verdict is one of"):
        _label(tmp_path, command, {"JIT401": "perhaps"})


def test_a_label_survives_moved_and_indented_lines_but_not_another_function(
    command: list[str], tmp_path: Path
) -> None:
    lines = TREE.splitlines()
    line = next(n for n, text in enumerate(lines, 1) if JIT101 in text)
    mark = corpus.digest(TREE, line, 8)
    moved = "# a comment\n\n" + TREE.replace("    if x > 0:", "\n    if x > 0:")
    assert corpus.digest(moved, line + 3, 8) == mark
    assert corpus.digest(TREE.replace("def step", "def other"), line, 8) != mark
    assert corpus.digest(TREE.replace("if x > 0", "if x > 1"), line, 8) != mark
    assert corpus.digest(TREE, line, 4) != mark


def test_two_runs_differ_in_what_is_gone_and_what_is_new(
    command: list[str], run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _label(tmp_path, command, {"JIT101": "true", "JIT401": "false"})
    kept = json.loads(run)
    fewer = tmp_path / "fewer"
    fewer.mkdir()
    (fewer / "an+example.json").write_text(
        json.dumps([item for item in kept if item["code"] != "JIT401"]), encoding="utf-8"
    )
    capsys.readouterr()
    corpus.main([*command, "--runs", str(fewer), "--against", str(tmp_path / "runs")])
    text = capsys.readouterr().out
    assert "gone: 1, 1 false errors\n  false: an/example model.py:14:5" in text
    assert "new: 0" in text
    corpus.main([*command, "--against", str(fewer)])
    assert "gone: 0\n\nnew: 1, 1 false errors\n" in capsys.readouterr().out


def test_another_tree_of_jitlint_is_run_in_the_place_of_a_kept_run(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    corpus.main([*command, "--against", str(corpus.ROOT)])
    assert "gone: 0\n\nnew: 0\n" in capsys.readouterr().out


def test_the_labels_of_the_project_are_whole_and_unique() -> None:
    rows = corpus.LABELS.read_text(encoding="utf-8").splitlines()
    labels = corpus.read_labels(corpus.LABELS)
    assert len(labels) == len(rows) > 0
    for label in labels.values():
        assert label.verdict in corpus.VERDICTS
        assert label.useful in ("", "yes", "no")
        assert label.mechanism and len(label.mechanism) < 200


def test_what_the_repositorys_tests_went_through_is_counted(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "trees" / "an+example" / "model.py"
    step = RecordedFunction("model.py", 5, "step", 1, lines=[7], returned=[7], held={"7": ["x"]})
    store = Store(functions=[step], ran={"model.py": [13]}, digests={"model.py": digest(str(model))})
    kept = str(tmp_path / "runs" / "an+example.recorded.json")
    tests = tmp_path / "tests.csv"
    tests.write_text("repository,seconds,arguments\nan/example,60,-c pass\n", encoding="utf-8")
    run = [*command, "--execute", sys.executable, "--tests", str(tests)]

    def counts() -> list[str]:
        corpus.main(run)
        text = capsys.readouterr().out
        assert text.splitlines()[0].split()[:6] == [
            "errors", "refuted", "supported", "not", "executed", "other",
        ]  # fmt: skip
        (line,) = [line for line in text.splitlines() if line.startswith("an/example")]
        return line.split()[1:7]

    write_store(store, kept)
    assert counts() == ["2", "1", "0", "1", "0", "0"]
    step.held = {}
    write_store(store, kept)
    assert counts() == ["2", "0", "0", "1", "1", "0"]
    step.errors = [RecordedError("model.py", 7, "jax.errors.TracerBoolConversionError")]
    write_store(store, kept)
    assert counts() == ["2", "0", "1", "1", "0", "0"]
    model.write_text(TREE + "\n", encoding="utf-8")  # another text than the one that ran
    assert counts() == ["2", "0", "0", "2", "0", "0"]


def test_the_tests_of_a_repository_are_run_and_what_they_did_is_kept(
    command: list[str], tmp_path: Path
) -> None:
    tests = tmp_path / "tests.csv"
    arguments = "-c \"open('ran','w').write('x')\""
    rows = f"repository,seconds,arguments\nan/example,60,{arguments}\n".replace('"', '""')
    rows = rows.replace("60,", '60,"').rstrip() + '"\n'
    tests.write_text(rows, encoding="utf-8")
    corpus.main([*command, "--execute", sys.executable, "--tests", str(tests)])
    assert (tmp_path / "trees" / "an+example" / "ran").read_text() == "x"
    assert (tmp_path / "runs" / "an+example.recorded.json").is_file()
