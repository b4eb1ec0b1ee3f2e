"""The options about fixes: what they write, what they leave, what they say."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from jitlint.frontends.cli import main

STORE = """\
import jax
import jax.numpy as jnp


@jax.jit
def mark(x, i):
    x[0] = 1.0  # the first
    x.at[i].set(2.0)
    return x


mark(jnp.ones(3), 1)
"""
SAFE = STORE.replace("x[0] = 1.0", "x = x.at[0].set(1.0)")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    file = tmp_path / "a.py"
    file.write_text(STORE)
    return file


@dataclass(frozen=True, slots=True)
class Result:
    exit_code: int
    output: str


def run(*arguments: str) -> Result:
    """What the command says on either stream."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        code = main(["check", "--jobs", "1", "--no-cache", *arguments])
    return Result(code, stream.getvalue())


def test_fix_writes_what_is_safe_and_reports_the_rest(path: Path) -> None:
    result = run("--fix", "--output-format", "concise")
    assert path.read_text() == SAFE
    assert "JIT403" in result.output and "JIT401" not in result.output
    assert "Fixed 1 finding in 1 file." in result.output
    assert result.exit_code == 1


def test_unsafe_fixes_are_asked_for(path: Path) -> None:
    result = run("--fix", "--unsafe-fixes")
    assert "x = x.at[i].set(2.0)" in path.read_text()
    assert result.exit_code == 0


def test_a_difference_is_shown_and_nothing_written(path: Path) -> None:
    result = run("--diff-fixes")
    assert path.read_text() == STORE
    assert "-    x[0] = 1.0  # the first\n+    x = x.at[0].set(1.0)  # the first\n" in result.output
    assert result.exit_code == 1
    path.write_text("x = 1\n")
    assert run("--diff-fixes").exit_code == 0


def test_json_holds_the_fix_with_its_edits(path: Path) -> None:
    (first, second) = json.loads(run("--show-fixes", "--output-format", "json").output)
    assert first["fix"]["safety"] == "safe"
    assert first["fix"]["edits"][0] == {
        "path": "a.py",
        "cell": None,
        "line": 7,
        "column": 5,
        "end_line": 7,
        "end_column": 5,
        "text": "x = ",
    }
    assert second["fix"]["safety"] == "unsafe"
    assert [each["fix"] for each in json.loads(run("--output-format", "json").output)] == [None, None]


def test_sarif_holds_the_fix(path: Path) -> None:
    run_of = json.loads(run("--show-fixes", "--output-format", "sarif").output)["runs"][0]
    fix = run_of["results"][0]["fixes"][0]
    change = fix["artifactChanges"][0]
    assert change["artifactLocation"]["uri"] == "a.py"
    assert change["replacements"][0]["insertedContent"]["text"] == "x = "
    assert fix["properties"]["safety"] == "safe"


def test_people_read_what_would_be_done(path: Path) -> None:
    assert "= fix (safe): write `x = x.at[...].set(...)`" in run("--show-fixes").output


def test_a_stub_is_shown_and_never_written(path: Path) -> None:
    """How many there may be is for the author to say."""
    text = STORE.replace("x[0] = 1.0  # the first", "(i,) = jnp.nonzero(x)").replace(
        "x.at[i].set(2.0)", "x = x[i]"
    )
    path.write_text(text)
    (shown, *_) = json.loads(run("--show-fixes", "--output-format", "json").output)
    assert shown["code"] == "JIT204" and shown["fix"]["message"] == "say how many: fill in `size=...`"
    assert [each["text"] for each in shown["fix"]["edits"]] == [", size=..."]
    run("--fix", "--unsafe-fixes")
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("table", "text"),
    [('fixable = ["JIT403"]', STORE), ('unfixable = ["array-setitem"]', STORE), ('fixable = ["JIT4"]', SAFE)],
)
def test_configuration_says_what_may_be_fixed(path: Path, table: str, text: str) -> None:
    (path.parent / "pyproject.toml").write_text(f"[tool.jitlint]\n{table}\n")
    run("--fix")
    assert path.read_text() == text


def test_a_rule_that_does_not_exist_is_named(path: Path) -> None:
    (path.parent / "pyproject.toml").write_text('[tool.jitlint]\nfixable = ["JIT999"]\n')
    result = run("--fix")
    assert result.exit_code == 2 and "JIT999" in result.output


@pytest.mark.parametrize(
    "options",
    [
        ("--unsafe-fixes",),
        ("--fix", "--diff-fixes"),
        ("--fix", "--add-noqa"),
        ("--fix", "--write-baseline", "b.json"),
    ],
)
def test_what_does_not_go_together_is_refused(path: Path, options: tuple[str, ...]) -> None:
    assert run(*options).exit_code == 2
    assert path.read_text() == STORE


def test_what_the_baseline_knows_stays(path: Path) -> None:
    run("--write-baseline", "b.json")
    run("--fix", "--baseline", "b.json")
    assert path.read_text() == STORE


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_line_ends_encoding_and_mode_are_kept(path: Path, newline: str, encoding: str) -> None:
    text = f"# coding: {encoding.removesuffix('-sig')}\n# é\n" + STORE
    path.write_bytes(text.replace("\n", newline).encode(encoding))
    path.chmod(0o640)
    run("--fix")
    wanted = text.replace("x[0] = 1.0", "x = x.at[0].set(1.0)")
    assert path.read_bytes() == wanted.replace("\n", newline).encode(encoding)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_fix_that_brings_another_finding_is_not_made(path: Path) -> None:
    """What NumPy answers goes on as an answer of JAX, which the `if` cannot stand."""
    text = STORE.replace("x[0] = 1.0  # the first", "n = int(x[0])").replace("x.at[i].set(2.0)", "x = x[:n]")
    path.write_text(text)
    run("--fix", "--unsafe-fixes")
    assert path.read_text() == text


def test_a_fix_whose_value_stops_another_function_is_not_made(path: Path) -> None:
    """The whole number goes on as an array, and the function that gets it needs a number."""
    text = """\
import jax
import jax.numpy as jnp


def grid(n):
    return jnp.linspace(0.0, 1.0, n)


@jax.jit
def points(x):
    count = int(x * 10)
    return grid(count)


points(1.0)
"""
    path.write_text(text)
    run("--fix", "--unsafe-fixes")
    assert path.read_text() == text


def test_a_file_that_has_changed_meanwhile_is_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jitlint.fix import writing

    def late(name: str, data: bytes) -> None:
        raise AssertionError("written")

    original = writing.write

    def changed_before(repaired: object) -> list[tuple[str, str]]:
        path.write_text("x = 1\n")
        return original(repaired)  # type: ignore[arg-type]

    monkeypatch.setattr(writing, "write", changed_before)
    monkeypatch.setattr(writing, "write_file", late)
    result = run("--fix")
    assert result.exit_code == 2 and "it changed meanwhile" in result.output
    assert path.read_text() == "x = 1\n"


def test_killed_runs_leave_no_half_file(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    texts = [("a = 1\n" * 200_000).encode(), ("b = 22\n" * 200_000).encode()]
    path.write_bytes(texts[0])
    script = (
        "import sys\nfrom jitlint.driver.writing import write_file\n"
        "texts = [b'a = 1\\n' * 200_000, b'b = 22\\n' * 200_000]\n"
        "print(flush=True)\n"
        "while True:\n    for text in texts:\n        write_file(sys.argv[1], text)\n"
    )
    for turn in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, cwd=os.getcwd()
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.003 * turn)
        process.kill()
        process.wait()
        process.stdout.close()
        assert path.read_bytes() in texts
