"""The command line as a user meets it: options, output, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import jitlint
from jitlint.__main__ import run
from jitlint.frontends.cli import main
from tests.conftest import Write

BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
CLEAN = "import jax\n\n\n@jax.jit\ndef f(x):\n    return x + 1\n"
KEYS = "code name severity confidence message path cell line column end_line end_column related fix url help because ground".split()

Capture = pytest.CaptureFixture[str]


def _run(*arguments: str, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
    """In a process of its own, from an empty environment but for what Python needs."""
    environment = {**os.environ, "PYTHONPATH": str(Path(jitlint.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-m", "jitlint", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("files", "options", "code"),
    [
        ({"a.py": CLEAN}, [], 0),
        ({"a.py": BRANCH}, [], 1),
        ({"a.py": BRANCH}, ["--exit-zero"], 0),
        ({"a.py": BRANCH, "b.py": "import jax\n("}, [], 2),
        ({"a.py": BRANCH, "b.py": "import jax\n("}, ["--exit-zero"], 2),
        ({"a.py": CLEAN}, ["a.py", "missing.py"], 2),
        ({"a.py": BRANCH}, ["--ignore", "JIT101"], 0),
        ({"a.py": BRANCH}, ["--select", "JIT5"], 0),
        ({"a.py": BRANCH}, ["--select", "traced-branch,JIT5"], 1),
        ({"a.py": BRANCH}, ["--select", "nonsense"], 2),
        ({"a.py": BRANCH}, ["--min-confidence", "sure"], 2),
        ({"a.py": BRANCH}, ["--output-format", "yaml"], 2),
        ({"a.py": BRANCH}, ["--jobs", "0"], 2),
        ({"a.py": BRANCH, "jitlint.toml": 'ignore = ["JIT1"]'}, [], 0),
        ({"a.py": BRANCH, "jitlint.toml": 'ignor = ["JIT1"]'}, [], 2),
        ({"a.txt": ""}, [], 0),
    ],
)
def test_exit_codes(project: Write, files: dict[str, str], options: list[str], code: int) -> None:
    project(files)
    assert main(["check", *options]) == code


def test_full_output(project: Write, capsys: Capture) -> None:
    project({"a.py": BRANCH})
    assert main(["check"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("a.py:6:8: error[JIT101] ")
    assert "6 |     if x > 0:\n  |        ^^^^^\n" in out
    assert "= traced because:\n" in out
    assert "= help: " in out
    assert out.endswith("Found 1 error in 1 file (1 file checked).\n")


def test_concise_output(project: Write, capsys: Capture) -> None:
    project({"a.py": BRANCH})
    main(["check", "--output-format", "concise", "-q"])
    out = capsys.readouterr().out
    assert out.startswith("a.py:6:8: JIT101 ")
    assert out.count("\n") == 1


def test_json_output_is_one_array_whatever_happens(project: Write, capsys: Capture) -> None:
    project({"a.py": BRANCH, "b.py": "import jax\n("})
    assert main(["check", "--output-format", "json", "--statistics"]) == 2
    captured = capsys.readouterr()
    finding, problem = json.loads(captured.out)
    assert list(finding) == list(problem) == KEYS
    assert (problem["code"], problem["path"], problem["line"]) == ("JIT001", "b.py", 2)
    assert (finding["code"], finding["line"], finding["column"], finding["end_column"]) == (
        "JIT101",
        6,
        8,
        13,
    )
    assert finding["related"]
    assert "whose function is known: " in captured.err
    project({"a.py": CLEAN, "b.py": CLEAN})
    main(["check", "--output-format", "json"])
    assert capsys.readouterr().out == "[]\n"


def test_statistics(project: Write, capsys: Capture) -> None:
    project({"a.py": BRANCH})
    main(["check", "--statistics"])
    out = capsys.readouterr().out
    assert "      1  JIT101  traced-branch\nfiles: 1 (1 analysed, context included)\nlines: 8\n" in out
    assert "whose function is known: 1 of 1 (100%)\n" in out
    assert "\ntime: files " in out


def test_traced(project: Write, capsys: Capture) -> None:
    project({"a.py": BRANCH, "b.py": "import jax\ndef alone(y):\n    return y\n"})
    assert main(["traced", ".", "--output-format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    (row,) = [row for row in rows if row["qualname"] == "f"]
    assert (row["path"], row["line"], row["modes"], row["parameters"]) == (
        "a.py",
        4,
        ["staged"],
        {"x": "traced"},
    )
    assert row["because"]
    assert set(row["because"][0]) == {"path", "cell", "line", "message"}
    assert main(["traced", "a.py", "--show-path"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0].split() == ["PLACE", "FUNCTION", "HOW", "WHY", "PARAMETERS"]
    assert table[1].split()[:4] == ["a.py:4", "f", "compiled", "your"]


def test_traced_fails_when_a_file_cannot_be_analysed(project: Write, capsys: Capture) -> None:
    project({"a.py": BRANCH, "b.py": "import jax\n("})
    assert main(["traced", "--output-format", "json"]) == 2
    captured = capsys.readouterr()
    assert [row["qualname"] for row in json.loads(captured.out)] == ["f"]
    assert "b.py:2:" in captured.err


def test_rules_lists_every_rule(capsys: Capture) -> None:
    assert main(["rules"]) == 0
    out = capsys.readouterr().out
    assert "JIT101  traced-branch " in out
    assert [line.split()[0] for line in out.splitlines()] == sorted(
        line.split()[0] for line in out.splitlines()
    )


@pytest.mark.parametrize("name", ["JIT101", "jit101", "traced-branch"])
def test_explain(name: str, capsys: Capture) -> None:
    assert main(["explain", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# JIT101 traced-branch (error)\n")
    for title in ("## Bad", "## Good", "## What to write instead", "## What JAX does"):
        assert f"\n{title}\n" in out
    assert "`jax.errors.TracerBoolConversionError`" in out


def test_explain_names_the_nearest_rule(capsys: Capture) -> None:
    assert main(["explain", "traced-brunch"]) == 2
    assert "did you mean 'traced-branch'?" in capsys.readouterr().err


def test_no_python_files_is_worth_a_word(project: Write, capsys: Capture) -> None:
    project({"a.txt": ""})
    assert main(["check"]) == 0
    assert "no Python files found" in capsys.readouterr().err


def test_version(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"jitlint {jitlint.__version__}\n"


def test_as_a_module(project: Write) -> None:
    root = project({"a.py": BRANCH})
    done = _run("check", "--output-format", "concise", cwd=root)
    assert done.returncode == 1
    assert done.stdout.startswith("a.py:6:8: JIT101 ")
    assert done.stderr == ""


def test_a_reader_that_goes_away_makes_no_noise(project: Write) -> None:
    root = project({f"m{i}.py": BRANCH for i in range(300)})
    environment = {**os.environ, "PYTHONPATH": str(Path(jitlint.__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-m", "jitlint", "check"],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals differ without fork")
def test_an_interruption_ends_quickly_and_quietly(project: Write) -> None:
    root = project({f"m{i}.py": BRANCH + "y = [1, 2, 3]\n" * 4000 for i in range(60)})
    environment = {**os.environ, "PYTHONPATH": str(Path(jitlint.__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-m", "jitlint", "check", "--jobs", "2", "--no-cache"],
        cwd=root,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # A shell's background jobs, perhaps these tests, ignore interruptions, and so would the new process.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stderr is not None
        while subprocess.run(["pgrep", "-P", str(process.pid)], stdout=subprocess.DEVNULL).returncode:
            assert process.poll() is None  # it ends only after its workers have
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().strip() == b"jitlint: error: interrupted"
        assert process.wait(timeout=30) == 2


def test_an_interruption_while_the_program_is_still_loading(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("jitlint.frontends.cli.main", interrupted)
    assert run() == 2
    assert capsys.readouterr().err == "jitlint: error: interrupted\n"


def test_names_that_the_terminal_cannot_show(project: Write) -> None:
    root = project({})
    (root / "módulo.py").write_text(BRANCH, encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(jitlint.__file__).parents[1]),
        "PYTHONIOENCODING": "ascii",
    }
    done = subprocess.run(
        [sys.executable, "-m", "jitlint", "check"], cwd=root, env=environment, capture_output=True
    )
    assert done.returncode == 1
    assert done.stdout.startswith(rb"m\xf3dulo.py:6:8: ")


def test_an_internal_error_is_one_line(
    project: Write, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError("lost")

    monkeypatch.delenv("JITLINT_DEBUG", raising=False)
    monkeypatch.setattr("jitlint.driver.run.check", fail)
    project({"a.py": BRANCH})
    assert main(["check"]) == 2
    assert capsys.readouterr().err == (
        "jitlint: error: internal error: RuntimeError: lost (JITLINT_DEBUG=1 shows where)\n"
    )


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("jitlint che", {"check"}),
        ("jitlint check --out", {"--output-format", "--output-file"}),
        ("jitlint check --select jit10", {f"JIT10{n}" for n in range(1, 10)}),
        ("jitlint explain traced-b", {"traced-branch", "traced-bool"}),
    ],
)
def test_the_shell_completes(
    words: str, offered: set[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("_JITLINT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit):
        main([])
    assert {line.partition(",")[2] for line in capsys.readouterr().out.splitlines()} == offered


def test_a_path_in_the_place_of_a_command(project: Write, capsys: Capture) -> None:
    project({"a.py": BRANCH})
    assert main(["a.py"]) == 2
    assert "to check it: jitlint check a.py" in capsys.readouterr().err
    assert main(["chekc"]) == 2
    assert "to check it" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "config", "message"),
    [
        (
            ["check", "--select", "traced-rang"],
            "",
            "--select: 'traced-rang' matches no rule; did you mean 'traced-range'?",
        ),
        (["check", "--ignore", "JIT9"], "", "--ignore: 'JIT9' matches no rule; `jitlint rules` lists them"),
        (["check"], 'ignore = ["JIT9"]', "jitlint.toml: ignore: 'JIT9' matches no rule"),
        (
            ["check"],
            '[tool.jitlint]\nignore = ["JIT1"]',
            "jitlint.toml: here the keys stand at the top, not below [tool.jitlint]",
        ),
        (["explain", "traced-rang"], "", "no rule 'traced-rang'; did you mean 'traced-range'?"),
        (["explain", "JIT999"], "", "no rule 'JIT999'; `jitlint rules` lists them"),
    ],
)
def test_a_mistake_is_named_where_it_was_made(
    project: Write, capsys: Capture, arguments: list[str], config: str, message: str
) -> None:
    project({"a.py": BRANCH, "jitlint.toml": config})
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_every_option_of_check_is_under_a_heading(capsys: Capture) -> None:
    main(["check", "--help"])
    other = capsys.readouterr().out.partition("Other options:\n")[2]
    assert other.split() == ["-h,", "--help", "Show", "this", "message", "and", "exit."]
