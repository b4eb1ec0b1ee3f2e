"""What is said of a file is what is true of it in its project, whoever asks, however little of it is named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
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


# ------------------------------------------------------------ what a file brings about in another

DOUBLE = "def double(x):\n    if x > 0:\n        return x * 2\n    return x\n"
USE = "import jax\nfrom lib import double\n\nfast = jax.jit(double)\nprint(fast(1.0))\n"
BROUGHT = ["use.py:5:7: JIT101"]


def _findings(capsys: Capture, *arguments: str) -> list[dict[str, object]]:
    main(["check", "--output-format", "json", *arguments])
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_what_a_named_file_brings_about_in_another_is_shown_in_the_named_one(
    project: Write, capsys: Capture
) -> None:
    project({"lib.py": DOUBLE, "use.py": USE})
    assert _places(capsys) == _places(capsys, "lib.py") == ["lib.py:2:8: JIT101"]
    assert _places(capsys, "use.py") == BROUGHT
    [finding] = _findings(capsys, "use.py")
    assert str(finding["message"]).endswith("`x > 0` is traced (lib.py:2:8)")
    related = finding["related"]
    assert isinstance(related, list)
    steps = [(step["path"], step["line"], step["message"]) for step in related]
    assert steps == [
        ("use.py", 4, "`double` is jitted with `jax.jit` here"),
        ("use.py", 5, "and called here"),
        ("lib.py", 2, "and leads to this line"),
    ]
    assert main(["check", "use.py"]) == 1
    assert capsys.readouterr().out.endswith("Found 1 error in 1 file (1 file checked).\n")


def test_what_another_file_brings_about_there_is_none_of_its_business(
    project: Write, capsys: Capture
) -> None:
    project({"lib.py": DOUBLE, "use.py": USE, "also.py": "from lib import double\n\nprint(double(1.0))\n"})
    assert _places(capsys, "also.py") == []


def test_it_is_silenced_where_it_is(project: Write, capsys: Capture) -> None:
    root = project({"lib.py": DOUBLE.replace("> 0:", "> 0:  # noqa: JIT101"), "use.py": USE})
    assert _places(capsys, "use.py") == []
    (root / "lib.py").write_text(DOUBLE)
    (root / "jitlint.toml").write_text('per-file-ignores = { "lib.py" = ["JIT1"] }\n')
    assert _places(capsys, "use.py") == []


def test_a_baseline_knows_it_by_its_own_place(project: Write, capsys: Capture) -> None:
    project({"lib.py": DOUBLE, "use.py": USE})
    main(["check", "--write-baseline", "known.json"])
    capsys.readouterr()
    assert main(["check", "use.py", "--baseline", "known.json"]) == 0
    assert capsys.readouterr().out == "No new findings in 1 file (1 in the baseline).\n"


def test_only_named_files_are_changed(project: Write, capsys: Capture) -> None:
    root = project({"lib.py": DOUBLE, "use.py": USE})
    assert main(["check", "use.py", "--fix", "--unsafe-fixes"]) == 1
    assert "use.py:5:7: error[JIT101]" in capsys.readouterr().out
    assert main(["check", "use.py", "--add-noqa"]) == 0
    assert (root / "lib.py").read_text() + (root / "use.py").read_text() == DOUBLE + USE


def test_the_same_by_way_of_the_cache(project: Write, capsys: Capture) -> None:
    root = project({"lib.py": DOUBLE, "use.py": USE})
    for _ in range(2):
        assert _places(capsys, "use.py") == BROUGHT
    (root / "lib.py").write_text("# a comment\n" + DOUBLE)
    [finding] = _findings(capsys, "use.py")
    assert str(finding["message"]).endswith("(lib.py:3:8)")


def test_it_is_confirmed_too(project: Write, capsys: Capture) -> None:
    pytest.importorskip("jax", reason="proof needs JAX")
    project({"lib.py": DOUBLE, "use.py": USE})
    assert main(["confirm", "use.py"]) == 1
    assert capsys.readouterr().out.startswith("confirmed  lib.py:2  JIT101")


def _git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def _committed(root: Path) -> None:
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        _git(root, *command)


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@needs_git
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("fast(1.0)", "fast(2.0)"),
        ("jax.jit(double)", "jax.jit(double)  # a comment"),
        ("jax.jit(double)", "jax.jit(double, donate_argnums=0)"),
        ("fast(1.0)", "jax.vmap(fast)(jax.numpy.ones(3))"),
    ],
)
def test_what_a_changed_line_led_to_before_is_old(
    before: str, after: str, project: Write, capsys: Capture
) -> None:
    root = project({"lib.py": DOUBLE, "use.py": USE})
    _committed(root)
    (root / "use.py").write_text(USE.replace(before, after))
    for paths in ([], ["use.py"], ["lib.py"]):
        capsys.readouterr()
        assert main(["check", "--diff", "HEAD", *paths]) == 0
        assert "(1 there before)" in capsys.readouterr().out


@needs_git
def test_another_way_to_what_was_found_before_is_no_news(project: Write, capsys: Capture) -> None:
    root = project({"lib.py": DOUBLE, "a.py": USE, "sub/keep.txt": ""})
    _committed(root)
    (root / "b.py").write_text(USE)
    assert _places(capsys, "--diff", "HEAD") == []
    (root / "a.py").unlink()  # and where the old way is gone
    assert _places(capsys, "--diff", "HEAD") == []


@needs_git
def test_a_file_with_another_name_is_not_new(project: Write, capsys: Capture) -> None:
    root = project({"lib.py": DOUBLE + "# end\n" * 20, "use.py": USE})
    _committed(root)
    _git(root, "mv", "use.py", "run.py")
    assert _places(capsys, "--diff", "HEAD") == []
    _git(root, "mv", "lib.py", "helpers.py")
    (root / "run.py").write_text(USE.replace("lib", "helpers"))
    assert _places(capsys, "--diff", "HEAD") == []
    (root / "run.py").write_text(USE.replace("lib", "helpers").replace("fast(1.0)", "fast(2.0)"))
    assert _places(capsys, "--diff", "HEAD") == []
    (root / "helpers.py").write_text(DOUBLE.replace("> 0", "> 1") + "# end\n" * 20)
    assert _places(capsys, "--diff", "HEAD") == ["helpers.py:2:8: JIT101"]


@needs_git
def test_what_a_changed_line_brings_beside_what_was_there(project: Write, capsys: Capture) -> None:
    lib = DOUBLE + "\n\ndef whole(x):\n    return int(x)\n"
    root = project({"lib.py": lib, "use.py": USE.replace("import double", "import double, whole")})
    _committed(root)
    changed = USE.replace("import double", "import double, whole").replace(
        "(1.0)", "(1.0), jax.jit(whole)(1.0)"
    )
    (root / "use.py").write_text(changed)
    assert [place.split()[-1] for place in _places(capsys, "--diff", "HEAD")] == ["JIT108"]


@needs_git
def test_what_a_changed_line_brings_about_is_shown_on_that_line(project: Write, capsys: Capture) -> None:
    root = project({"lib.py": DOUBLE, "use.py": USE.replace("jax.jit(double)", "double")})
    _committed(root)
    (root / "use.py").write_text(USE)
    assert _places(capsys, "--diff", "HEAD") == ["use.py:4:8: JIT101"]
    assert _places(capsys, "--diff", "HEAD", "use.py") == ["use.py:4:8: JIT101"]
    # Who asks about the other file alone is told there.
    assert _places(capsys, "--diff", "HEAD", "lib.py") == ["lib.py:2:8: JIT101"]
    _git(root, "commit", "-qam", "second")
    assert main(["check", "--diff", "HEAD", "use.py"]) == 0
    assert capsys.readouterr().out == "No new findings in 1 file (1 outside the changed lines).\n"
