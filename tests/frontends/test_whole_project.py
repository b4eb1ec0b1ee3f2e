"""What is said of a file is what is true of it in its project, whoever asks, however little of it is named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from jitlint.base.config import Settings
from jitlint.driver.memory.cache import Cache
from jitlint.driver.memory.fingerprint import parser_fingerprint, tool_fingerprint
from jitlint.driver.memory.pack import digest
from jitlint.driver.project import callers_of
from jitlint.driver.session import Session
from jitlint.frontends.cli import main
from tests.conftest import Write

Capture = pytest.CaptureFixture[str]

# The README's example.
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
BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"


def _places(capsys: Capture, *arguments: str) -> list[str]:
    main(["check", "--output-format", "concise", "-q", *arguments])
    return [" ".join(line.split()[:2]) for line in capsys.readouterr().out.splitlines()]


FOUND = ["losses.py:5:14: JIT106"]


@pytest.mark.parametrize("marker", ["pyproject.toml", ""], ids=["project", "two files"])
def test_a_named_file_is_judged_with_its_callers(
    marker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"train.py": TRAIN, "losses.py": LOSSES, **({marker: ""} if marker else {})}.items():
        Path(name).write_text(text)
    assert _places(capsys) == _places(capsys, "losses.py") == FOUND
    assert _places(capsys, "losses.py", "--context", "train.py") == FOUND
    assert _places(capsys, "losses.py", "--no-context") == []


def test_standard_input_is_judged_with_its_callers(
    project: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    import sys

    project({"train.py": TRAIN, "losses.py": "# before\n"})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOSSES.encode())))
    assert _places(capsys, "--stdin-filename", "losses.py", "-") == FOUND


def test_a_named_folder_is_judged_with_its_callers(project: Write, capsys: Capture) -> None:
    project(
        {
            "train.py": TRAIN.replace("from losses", "from lib.losses"),
            "lib/__init__.py": "",
            "lib/losses.py": LOSSES,
        }
    )
    assert _places(capsys, "lib") == ["lib/losses.py:5:14: JIT106"]
    assert _places(capsys, "lib", "--no-context") == []


def test_a_package_of_no_project_is_judged_with_what_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").touch()
    (tmp_path / "lib" / "losses.py").write_text(LOSSES)
    (tmp_path / "train.py").write_text(TRAIN.replace("from losses", "from lib.losses"))
    assert _places(capsys, "lib") == ["lib/losses.py:5:14: JIT106"]
    assert _places(capsys, "lib/losses.py") == ["lib/losses.py:5:14: JIT106"]
    (tmp_path / "lib" / "__init__.py").unlink()
    assert callers_of(["lib"]) == ()  # anything may lie beside a folder


def test_the_list_of_traced_functions_knows_the_callers(project: Write, capsys: Capture) -> None:
    project({"train.py": TRAIN, "losses.py": LOSSES})
    assert main(["traced", "losses.py", "--output-format", "json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["qualname"], row["ground"]) == ("loss", "jit")


def test_files_of_several_projects_are_judged_in_their_own(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "pkg").mkdir(parents=True)
        (tmp_path / name / "setup.py").touch()
        (tmp_path / name / "pkg" / "a.py").touch()
    (tmp_path / "alone").mkdir()
    for name in ("a.py", "b.py"):
        (tmp_path / "alone" / name).touch()
    paths = [str(tmp_path / name) for name in ("one/pkg/a.py", "two/pkg", "alone/a.py")]
    found = [Path(path).relative_to(tmp_path).as_posix() for path in callers_of(paths)]
    assert found == ["one", "two", "alone/b.py"]


def test_a_folder_that_cannot_be_read_is_no_mistake_of_who_names_a_file(
    project: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project({"train.py": TRAIN, "losses.py": LOSSES, "locked/a.py": ""})
    scandir = os.scandir

    def forbidden(path: str) -> object:
        if path == str(root / "locked"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", forbidden)
    assert _places(capsys, "losses.py") == FOUND
    assert main(["check", "losses.py", "--context", "locked"]) == 2
    assert "--context: locked: cannot be read: Permission denied" in capsys.readouterr().err


# ------------------------------------------------------------ the cache


def _write_unseen(path: Path, text: str) -> None:
    """Write over the file, so that its size, its inode and the time of its last change say nothing of it."""
    before = path.stat()
    assert before.st_size == len(text)
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_change_is_seen_although_size_and_time_are_as_before(project: Write, capsys: Capture) -> None:
    root = project({"a.py": BRANCH})
    os.utime(root / "a.py", ns=(10**18, 10**18))
    assert _places(capsys) == ["a.py:6:8: JIT101"]
    _write_unseen(root / "a.py", BRANCH.replace("@jax.jit", "#jax.jit"))
    assert _places(capsys) == []


def _mislead(root: Path) -> None:
    """Make the cache know a file otherwise than it is."""
    tool, parser = tool_fingerprint(()), parser_fingerprint()
    cache = Cache(str(root / ".jitlint_cache"), str(root), tool, parser)
    path, entry = str(root / "a.py"), cache.file(str(root / "a.py"), os.stat(root / "a.py"))
    assert entry is not None
    cache.remember(path, msgspec.structs.replace(entry, digest=digest(b"something else")))
    cache.save_index()


def _asked_by_a_command(root: Path, capsys: Capture) -> list[str]:
    return _places(capsys)


def _asked_by_an_editor(root: Path, capsys: Capture) -> list[str]:
    told = Session([str(root)], Settings()).refresh()
    return [f"{f.path}:{f.span.line}:{f.span.column}: {f.code}" for found in told.values() for f in found]


@pytest.mark.parametrize("ask", [_asked_by_a_command, _asked_by_an_editor])
def test_a_cache_that_lies_heals(
    ask: Callable[[Path, Capture], list[str]], project: Write, capsys: Capture
) -> None:
    root = project({"a.py": BRANCH})
    os.utime(root / "a.py", ns=(10**18, 10**18))
    assert _places(capsys) == ["a.py:6:8: JIT101"]
    _mislead(root)
    assert ask(root, capsys) == ["a.py:6:8: JIT101"]
