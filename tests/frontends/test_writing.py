"""Every command that writes leaves devices and pipes what they are, and says clearly what it could not write.

Special files are made for the test; what writing a file means is tested with `jitlint.driver.writing`.
"""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import jitlint
from jitlint.frontends.cli import main
from tests.conftest import Write
from tests.special_files import FULL, NULL, Reader, device, is_device, pipe

pytestmark = pytest.mark.skipif(os.name != "posix", reason="special files as POSIX has them")

BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
Capture = pytest.CaptureFixture[str]
BEFORE = '{"version": 2, "findings": []}'
"""What a file may hold that is overwritten: a baseline only takes the place of another one."""

# Command, exit code, and what the file that it writes begins with.
COMMANDS: dict[str, tuple[list[str], int, bytes]] = {
    "check --output-file": (
        ["check", "-q", "--output-format", "json", "-o", "FILE"],
        1,
        b'[\n{"code"',
    ),
    "check --write-baseline": (["check", "-q", "--write-baseline", "FILE"], 0, b'{\n "version": 2'),
    "confirm --html": (["confirm", "-q", "--no-cache", "--html", "FILE", "."], 1, b"<!DOCTYPE html>"),
    "merge --output-file": (
        ["merge", "-q", "--output-format", "json", "-o", "FILE", "part.json"],
        1,
        b'[\n{"code"',
    ),
    "merge --write-baseline": (
        ["merge", "-q", "--write-baseline", "FILE", "part.json"],
        0,
        b'{\n "version": 2',
    ),
    "record --store": (["record", "--store", "FILE", "--", sys.executable, "-c", ""], 0, b'{\n "version": 1'),
}
every_command = pytest.mark.parametrize("name", COMMANDS)


def _run(name: str, path: Path) -> int:
    if name.startswith("merge"):
        assert main(["check", "-q", "--no-cache", "--shard", "1/1", "-o", "part.json", "a.py"]) == 0
    return main([str(path) if word == "FILE" else word for word in COMMANDS[name][0]])


def test_no_option_for_a_file_is_forgotten() -> None:
    from jitlint.frontends.cli import cli

    read_only = {"--config", "--baseline", "--stdin-filename"}
    found = {
        f"{command} {option.opts[0]}"
        for command, body in cli.commands.items()
        for option in body.params
        if getattr(option, "metavar", None) == "FILE" and not read_only & set(option.opts)
    }
    assert found == set(COMMANDS)


@every_command
def test_a_file(name: str, project: Write) -> None:
    root = project({"a.py": BRANCH, "out": BEFORE})
    (root / "out").chmod(0o640)
    os.symlink("out", root / "link")
    _, code, start = COMMANDS[name]
    assert _run(name, root / "link") == code
    assert (root / "link").is_symlink()
    assert (root / "out").read_bytes().startswith(start)
    assert stat.S_IMODE((root / "out").stat().st_mode) == 0o640


@every_command
def test_a_pipe(name: str, project: Write) -> None:
    root = project({"a.py": BRANCH})
    path = pipe(root / "pipe")
    reader = Reader(path)
    _, code, start = COMMANDS[name]
    assert _run(name, path) == code
    assert reader.text().startswith(start[:2])
    assert stat.S_ISFIFO(path.lstat().st_mode)


@every_command
def test_a_device_that_forgets(name: str, project: Write) -> None:
    root = project({"a.py": BRANCH})
    path = device(root / "null", NULL)
    assert _run(name, path) == COMMANDS[name][1]
    assert is_device(path, NULL)


@every_command
def test_a_device_that_is_full(name: str, project: Write, capsys: Capture) -> None:
    root = project({"a.py": BRANCH})
    path = device(root / "full", FULL)
    assert _run(name, path) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"jitlint: error: {path}: cannot be written: No space left on device"
    )
    assert is_device(path, FULL)


@every_command
def test_a_folder_that_is_not_there(name: str, project: Write, capsys: Capture) -> None:
    root = project({"a.py": BRANCH})
    path = root / "missing" / "out"
    assert _run(name, path) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"jitlint: error: {path}: cannot be written: No such file or directory"
    )


def _shell(
    command: str, cwd: Path, limit: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(jitlint.__file__).parents[1])}
    return subprocess.run(
        command.replace("jitlint", f'"{sys.executable}" -m jitlint'),
        cwd=cwd,
        env=environment,
        shell=True,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=limit,
    )


def _hardly_any_room() -> None:
    """No file may grow beyond this: a disk that is full after some bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


@pytest.mark.parametrize("option", ["--output-format json -o", "--write-baseline"])
def test_no_room_for_all_of_it(option: str, project: Write) -> None:
    root = project({"a.py": BRANCH, "out": BEFORE})
    done = _shell(f"jitlint check --no-cache {option} out", root, _hardly_any_room)
    assert (done.returncode, done.stderr) == (2, "jitlint: error: out: cannot be written: File too large\n")
    assert (root / "out").read_text() == BEFORE
    assert sorted(os.listdir(root)) == ["a.py", "out", "pyproject.toml"]


def test_no_room_for_a_comment(project: Write) -> None:
    source = BRANCH + "# more than fits\n" * 10
    root = project({"a.py": source})
    done = _shell("jitlint check --no-cache --add-noqa", root, _hardly_any_room)
    assert (done.returncode, done.stderr) == (2, "jitlint: error: a.py: left alone: File too large\n")
    assert (root / "a.py").read_text() == source
    assert sorted(os.listdir(root)) == ["a.py", "pyproject.toml"]


def test_no_room_for_the_cache(project: Write) -> None:
    root = project({"a.py": BRANCH})
    done = _shell("jitlint check --output-format json", root, _hardly_any_room)
    assert (done.returncode, done.stderr) == (1, "")
    assert not list((root / ".jitlint_cache").glob(".jitlint-*"))


def test_comments_are_written_through_links_and_keep_permissions(project: Write) -> None:
    root = project({"real/a.py": BRANCH})
    (root / "real" / "a.py").chmod(0o751)
    os.symlink("real/a.py", root / "b.py")
    assert main(["check", "-q", "--add-noqa", "b.py"]) == 0
    assert (root / "b.py").is_symlink()
    assert "# noqa: JIT101" in (root / "real" / "a.py").read_text()
    assert stat.S_IMODE((root / "real" / "a.py").stat().st_mode) == 0o751


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="this system gives streams no names")
@pytest.mark.parametrize("redirection", ["", "> out", ">> out", "| cat"])
def test_standard_output_by_its_name(redirection: str, project: Write) -> None:
    """The same as without the option, whatever standard output is."""
    root = project({"a.py": BRANCH})
    shown = []
    for option in ("", "-o /dev/stdout", "-o /dev/fd/1"):
        (root / "out").write_text("before\n")
        done = _shell(f"jitlint check {option} {redirection}", root)
        assert done.stderr == ""
        shown.append((done.stdout, (root / "out").read_text()))
    assert shown[0] == shown[1] == shown[2]
    assert any("JIT101" in text and text.rstrip().endswith("(1 file checked).") for text in shown[0])


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="this system gives streams no names")
@pytest.mark.parametrize("redirection", [">> out", "| cat >> out"])
def test_a_baseline_on_standard_output(redirection: str, project: Write) -> None:
    root = project({"a.py": BRANCH, "out": ""})
    done = _shell(f"jitlint check -q --write-baseline /dev/stdout {redirection}", root)
    assert done.stderr == ""
    assert json.loads((root / "out").read_text())["findings"][0]["code"] == "JIT101"


def test_special_files_in_the_place_of_the_cache(project: Write) -> None:
    root = project({"a.py": BRANCH, ".jitlint_cache/CACHEDIR.TAG": ""})
    for name in ("index", "pack", "confirm"):
        pipe(root / ".jitlint_cache" / name)
    done = _shell("jitlint check --output-format json", root)
    assert (done.returncode, done.stderr) == (1, "")
    assert all(stat.S_ISFIFO((root / ".jitlint_cache" / n).lstat().st_mode) for n in ("index", "pack"))
