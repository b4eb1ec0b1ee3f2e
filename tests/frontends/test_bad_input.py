"""Bad input, through the command line: one clear diagnostic each, never a traceback, and the rest is analysed.

What the layers below do with it is tested with them; here it is whole processes, as users and machines start them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import jitlint
from jitlint.driver import pages, pipeline
from jitlint.frontends.cli import main
from tests.conftest import Write

BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
FOUND = ("JIT101", 6, 8)

Capture = pytest.CaptureFixture[str]
Row = tuple[str, int, int]

# What a file holds, and the finding or the problem that it leads to.
CASES: dict[str, tuple[bytes, list[Row]]] = {
    "good": (BRANCH.encode(), [FOUND]),
    "empty": (b"", []),
    "only_a_mark": (b"\xef\xbb\xbf", []),
    "only_white_space": (b"\t\n  \n\f\n", []),
    "syntax_error": (b"import jax\ndef f(:\n", [("JIT001", 2, 7)]),
    "old_python": (b"import jax\nprint 'x'\n", [("JIT001", 2, 1)]),
    "mixed_tabs": (b"import jax\nif 1:\n\tx = 1\n        y = 2\n", [("JIT001", 4, 1)]),
    "ends_in_a_backslash": (BRANCH.encode() + b"x = 1 \\", [FOUND, ("JIT001", 9, 8)]),
    "control_character": (BRANCH.encode() + b"\x1a", [("JIT001", 9, 1)]),
    "null_byte": (b"import jax\0\n", [("JIT001", 1, 11)]),
    "latin_without_a_line": (b"import jax\nx = '\xe9'\n", [("JIT002", 2, 6)]),
    "latin": (b"# coding: latin-1\n# \xe9\n" + BRANCH.encode(), [("JIT101", 8, 8)]),
    "surrogate": (b"import jax\nx = '\xed\xa0\x80'\n", [("JIT002", 2, 6)]),
    "mark": (b"\xef\xbb\xbf" + BRANCH.encode(), [FOUND]),
    "two_marks": (b"\xef\xbb\xbf\xef\xbb\xbf" + BRANCH.encode(), [("JIT001", 1, 1)]),
    "mark_against_line": (b"\xef\xbb\xbf# coding: latin-1\n" + BRANCH.encode(), [("JIT002", 1, 1)]),
    "utf_16": (BRANCH.encode("utf-16"), [("JIT002", 1, 1)]),
    "unknown_encoding": (b"# coding: nonsense\n" + BRANCH.encode(), [("JIT002", 1, 1)]),
    "no_text_encoding": (b"# coding: base64\n" + BRANCH.encode(), [("JIT002", 1, 1)]),
    "crlf": (BRANCH.replace("\n", "\r\n").encode(), [FOUND]),
    "cr": (BRANCH.replace("\n", "\r").encode(), [FOUND]),
    "no_line_end": (BRANCH.rstrip().encode(), [FOUND]),
    "form_feed": (BRANCH.replace("@jax", "\f\n\f@jax").encode(), [("JIT101", 7, 8)]),
    "form_feed_in_a_block": (BRANCH.replace("    if", "\f    if").encode(), [("JIT101", 6, 9)]),
    "brackets": (b"import jax\nx = " + b"(" * 2000 + b")" * 2000, [("JIT003", 2, 105)]),
    "operators": (b"import jax\nx = " + b"-" * 2000 + b"1", [("JIT003", 2, 203)]),
    "blocks": (
        b"import jax\n" + b"".join(b" " * i + b"if 1:\n" for i in range(2000)) + b" " * 2000 + b"pass\n",
        [("JIT003", 102, 1)],
    ),
    "huge_numbers": (
        BRANCH.encode() + b"y = " + b"9" * 5000 + b"\nz = 10**10**10 + (1 << 10**12)\n",
        [FOUND],
    ),
    "fifty_thousand_lines": (
        BRANCH.replace("    if", "    x = x + 1\n" * 50_000 + "    if").encode(),
        [("JIT101", 50_006, 8)],
    ),
}


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(jitlint.__file__).parents[1]), **more}


def _run(*arguments: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own; nothing it does may end in a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "jitlint", "check", *arguments],
        cwd=cwd,
        env=_environment(**more),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "Traceback" not in done.stdout + done.stderr
    assert "internal error" not in done.stdout + done.stderr
    return done


def _rows(done: subprocess.CompletedProcess[str]) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for item in json.loads(done.stdout):
        rows.setdefault(item["path"], []).append((item["code"], item["line"], item["column"]))
    return rows


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    """What a single run over all cases reports, by file."""
    root = tmp_path_factory.mktemp("bad")
    (root / "pyproject.toml").touch()
    names = [f"{name}.py" for name in CASES]
    for name, (data, _) in zip(names, CASES.values()):
        (root / name).write_bytes(data)
    # Named one by one, or files that do not speak of JAX would not be looked into.
    done = _run("--no-cache", "--output-format", "json", *names, cwd=root)
    assert (done.returncode, done.stderr) == (2, "")
    return _rows(done)


@pytest.mark.parametrize("name", CASES)
def test_contents(name: str, together: dict[str, list[Row]]) -> None:
    assert together.get(f"{name}.py", []) == CASES[name][1]


def test_things_that_are_no_files(project: Write) -> None:
    root = project({"good.py": BRANCH, "folder.py/inner.py": BRANCH, "sub/x.txt": ""})
    os.symlink("nowhere", root / "dangling.py")
    os.symlink("two.py", root / "one.py")
    os.symlink("one.py", root / "two.py")
    os.symlink("..", root / "sub" / "up")
    os.symlink(".", root / "sub" / "self")
    os.symlink("/dev/zero", root / "endless.py")
    if hasattr(os, "mkfifo"):
        os.mkfifo(root / "pipe.py")
    done = _run("--output-format", "json", cwd=root)
    problem = [("JIT002", 1, 1)]
    expected = {
        "good.py": [FOUND],
        "folder.py/inner.py": [FOUND],
        "dangling.py": problem,
        "one.py": problem,
        "two.py": problem,
    }
    assert (done.returncode, _rows(done)) == (2, expected)
    named = _run("--output-format", "json", "endless.py", "folder.py", "missing.py", "good.py", cwd=root)
    expected = {
        "good.py": [FOUND],
        "folder.py/inner.py": [FOUND],
        "endless.py": problem,
        "missing.py": problem,
    }
    assert (named.returncode, _rows(named)) == (2, expected)


def _remove_chain(top: Path, name: str) -> None:
    """Remove directories that hold nothing but one another, from the top: the next one is moved up first."""
    os.rename(top / name, top / "chain")
    while (top / "chain" / name).exists():
        os.rename(top / "chain" / name, top / "next")
        (top / "chain").rmdir()
        os.rename(top / "next", top / "chain")
    (top / "chain").rmdir()


def test_directories_two_thousand_deep(project: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project({"good.py": BRANCH})
    for _ in range(2000):
        os.mkdir("d")
        os.chdir("d")
    monkeypatch.chdir(root)
    try:
        done = _run("--output-format", "concise", "-q", cwd=root)
    finally:  # whoever tidies up afterwards may not be able to go as deep
        _remove_chain(root, "d")
    assert done.stdout.startswith("good.py:6:8: JIT101 ")
    # Names have a greatest length: what lies deeper cannot be read.
    assert [line.split()[1] for line in done.stdout.splitlines()[1:]] in ([], ["JIT002"])


def test_modules_of_the_project_do_not_replace_those_of_the_tool(project: Write) -> None:
    trap = "raise SystemExit('imported')\n"
    root = project(
        {"good.py": BRANCH, **{f"{name}.py": trap for name in ("zlib", "click", "json", "libcst")}}
    )
    done = _run("--output-format", "json", cwd=root)
    assert (done.returncode, _rows(done)) == (1, {"good.py": [FOUND]})


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.cfg", "jitlint.toml", ".gitignore"])
def test_a_directory_in_the_place_of_a_configuration_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(BRANCH)
    (tmp_path / name).mkdir()
    done = _run("--output-format", "json", ".", cwd=tmp_path)
    assert (done.returncode, _rows(done)) == (1, {"good.py": [FOUND]})


def test_a_cache_folder_that_cannot_be_written(project: Write) -> None:
    root = project({"good.py": BRANCH, "file": ""})
    done = _run("--output-format", "json", cwd=root, JITLINT_CACHE_DIR=str(root / "file"))
    assert (done.returncode, done.stderr, _rows(done)) == (1, "", {"good.py": [FOUND]})
    assert (root / "file").read_text() == ""


def test_runs_at_once_on_one_cache(project: Write) -> None:
    names = [f"m{i}.py" for i in range(30)]
    root = project(dict.fromkeys(names, BRANCH))
    command = [sys.executable, "-m", "jitlint", "check", "--output-format", "concise", "-q"]
    for _ in range(2):
        runs = [
            subprocess.Popen(
                command,
                cwd=root,
                env=_environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(4)
        ]
        for run in runs:
            out, err = run.communicate(timeout=300)
            assert (run.returncode, err) == (1, "")
            assert sorted(line.split(":")[0] for line in out.splitlines()) == sorted(names)
    assert not list((root / ".jitlint_cache").glob("*.tmp"))


# ------------------------------------------------------------ files that change or vanish while the run is on


def _change(path: Path) -> None:
    path.write_text("import jax\nx = (\n")


def _become_a_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


BLOWS: dict[str, Callable[[Path], None]] = {
    "vanishes": Path.unlink,
    "changes": _change,
    "becomes a directory": _become_a_directory,
}


@pytest.mark.parametrize("blow", BLOWS.values(), ids=BLOWS)
@pytest.mark.parametrize("moment", ["before parsing", "before the positions"])
@pytest.mark.parametrize("known", [False, True], ids=["first run", "known to the cache"])
def test_a_file_that_is_lost_during_the_run(
    moment: str,
    blow: Callable[[Path], None],
    known: bool,
    project: Write,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    root = project({"good.py": BRANCH, "victim.py": BRANCH})
    for path in root.glob("*.py"):
        os.utime(path, ns=(10**18, 10**18))
    if known:
        main(["check", "-q"])
        for path in (root / ".jitlint_cache").glob("[rn]*" if moment != "before parsing" else "[lnprt]*"):
            path.unlink()
        capsys.readouterr()
    module, name = (pipeline, "lower_files") if moment == "before parsing" else (pages, "locate")
    before = getattr(module, name)

    def then(*arguments: object) -> object:
        blow(root / "victim.py")
        return before(*arguments)

    monkeypatch.setattr(module, name, then)
    code = main(["check", "--output-format", "concise", "-q"])
    captured = capsys.readouterr()
    first, second = captured.out.splitlines()
    assert first.startswith("good.py:6:8: JIT101 ")
    # What the first run has read it keeps; what is known from the cache is read when it is needed.
    expected = "victim.py:1:1: JIT002 cannot read the file: " if known else "victim.py:6:8: JIT101 "
    assert second.startswith(expected)
    assert (code, captured.err) == (2 if known else 1, "")
    # The next run is not told lies by the cache, neither about the victim as it is nor as it was.
    monkeypatch.undo()
    monkeypatch.chdir(root)
    if (root / "victim.py").is_dir():
        (root / "victim.py").rmdir()
    (root / "victim.py").write_text(BRANCH)
    os.utime(root / "victim.py", ns=(10**18, 10**18))
    assert main(["check", "--output-format", "concise", "-q"]) == 1
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "good.py:6:8:",
        "victim.py:6:8:",
    ]


# ------------------------------------------------------------ streams and places that are not there

_SHELL = pytest.mark.skipif(os.name != "posix", reason="the shell's redirections")


@_SHELL
@pytest.mark.parametrize(
    ("redirection", "code", "message"),
    [
        (">&-", 1, ""),
        ("2>&-", 1, ""),
        (">&- 2>&-", 1, ""),
        ("- <&-", 0, ""),
        pytest.param(
            "> /dev/full",
            2,
            "jitlint: error: the output cannot be written: No space left on device\n",
            marks=pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here"),
        ),
    ],
)
def test_streams_that_are_closed_or_full(redirection: str, code: int, message: str, project: Write) -> None:
    root = project({"good.py": BRANCH})
    done = subprocess.run(
        f'"{sys.executable}" -m jitlint check {redirection}',
        cwd=root,
        env=_environment(),
        shell=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (code, message)


@_SHELL
def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    done = subprocess.run(
        f'mkdir gone && cd gone && rmdir ../gone && "{sys.executable}" -m jitlint check',
        cwd=tmp_path,
        env=_environment(),
        shell=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    message = "jitlint: error: the working directory cannot be used: No such file or directory\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
