"""Nothing that was hidden or not looked at passes for clean, and no mistake is swallowed: all that is said, and the exit code.

What is refused with one sentence is in `test_wrong_input`.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jitlint.frontends.cli import main
from tests.conftest import Write

pytestmark = pytest.mark.installed

BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
FINE = "import jax\n\n\n@jax.jit\ndef g(x):\n    return -x\n"
Capture = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Mistake:
    """A command over files; what standard output and standard error say, and the exit code."""

    files: dict[str, str]
    command: str
    code: int
    out: str = ""
    err: str = ""
    folders: list[str] = field(default_factory=list)


FOUND = "Found 1 error in 1 file (1 file checked).\n"
NOTEBOOK = {"n.ipynb": '{"cells": []', "a.py": BRANCH}
NO_NOTEBOOK = "n.ipynb:1:13: error[JIT002] not a notebook: invalid JSON ("
MISTAKES: dict[str, Mistake] = {
    "a broken notebook": Mistake(NOTEBOOK, "check n.ipynb", 2, NO_NOTEBOOK),
    "a notebook without cells": Mistake({"n.ipynb": "[]"}, "check", 0, "No findings in 1 file.\n"),
    "a notebook of another language": Mistake(
        {"n.ipynb": '{"cells": [], "metadata": {"kernelspec": {"language": "julia"}}}'},
        "check n.ipynb",
        2,
        "n.ipynb:1:1: error[JIT002] a notebook of the language julia, not Python",
    ),
    "the last line of a notebook": Mistake(
        NOTEBOOK, "check n.ipynb", 2, "\n1 file could not be analysed. No findings in what could be.\n"
    ),
    "a notebook beside a file": Mistake(
        NOTEBOOK, "check n.ipynb a.py", 2, "(2 files checked). 1 file could not be analysed.\n"
    ),
    "a notebook to a machine": Mistake(NOTEBOOK, "check n.ipynb --output-format json", 2, '"code": "JIT002"'),
    "a file without a suffix": Mistake({"tool": BRANCH}, "check tool", 1, FOUND),
    "a script with a suffix of its own": Mistake(
        {"t.in": "#!/usr/bin/env python3\n" + BRANCH}, "check t.in", 1, FOUND
    ),
    "a stub": Mistake({"a.pyi": "x: int\n"}, "check a.pyi", 0, "No findings in 1 file.\n"),
    "a folder hidden by .gitignore": Mistake(
        {".git/config": "", ".gitignore": "out/\n*_gen.py\n", "out/sub/a.py": BRANCH, "out/b_gen.py": BRANCH},
        "check out",
        1,
        FOUND,
    ),
    "a folder below a hidden one": Mistake(
        {".git/config": "", ".gitignore": "out/\n", "out/sub/a.py": BRANCH}, "check out/sub", 1, FOUND
    ),
    "a folder that the configuration excludes": Mistake(
        {"jitlint.toml": 'exclude = ["docs/", "b.py"]\n', "docs/a.py": BRANCH, "docs/b.py": BRANCH},
        "check docs",
        1,
        FOUND,
    ),
    "a hidden folder that is not named": Mistake(
        {".git/config": "", ".gitignore": "out/\n", "out/a.py": BRANCH, "c.py": FINE},
        "check .",
        0,
        "No findings in 1 file.\n",
    ),
    "an empty folder": Mistake(
        {},
        "check empty",
        0,
        "No Python files, so nothing was checked.\n",
        "jitlint: warning: no Python files found\n",
        ["empty"],
    ),
    "an empty folder called like a module": Mistake(
        {}, "check d.py", 0, "No Python files, so nothing was checked.\n", "no Python files found", ["d.py"]
    ),
    "an empty folder beside a file": Mistake(
        {"a.py": BRANCH},
        "check a.py empty",
        1,
        FOUND,
        "jitlint: warning: empty: no Python files found\n",
        ["empty"],
    ),
    "a folder of which nothing is left": Mistake(
        {".git/config": "", ".gitignore": "out/\n*_gen.py\n", "out/a.py": BRANCH, "b_gen.py": BRANCH},
        "check .",
        0,
        "No Python files, so nothing was checked.\n",
        "warning: no Python files found; `exclude` or .gitignore leaves out b_gen.py, out\n",
    ),
    "a file that is named and left out": Mistake(
        {"a.py": BRANCH, "b.py": FINE},
        "check a.py b.py --exclude a.py --force-exclude",
        0,
        "No findings in 1 file (1 left out by `exclude`).\n",
    ),
    "nothing but files that are left out": Mistake(
        {"a.py": BRANCH},
        "check a.py --exclude a.py --force-exclude",
        0,
        "No Python files, so nothing was checked (1 left out by `exclude`).\n",
    ),
    "a yes in an INI file": Mistake(
        {"setup.cfg": "[jitlint]\nforce-exclude = yes\nexclude = a.py\n", "a.py": BRANCH},
        "check a.py",
        0,
        "(1 left out by `exclude`)",
    ),
    "a missing file": Mistake(
        {"a.py": FINE}, "check a.py gone.py", 2, "\n1 file could not be analysed. No findings"
    ),
    "a pattern that is none, in the configuration": Mistake(
        {"a.py": BRANCH, "jitlint.toml": 'per-file-ignores = {"[" = ["JIT1"]}\n'},
        "check",
        2,
        "",
        "jitlint: error: jitlint.toml: per-file-ignores: '[' is not a pattern",
    ),
    "a pattern of traced functions": Mistake(
        {"a.py": FINE, "jitlint.toml": 'traced = ["a.g", "b.*"]\n'},
        "check",
        0,
        "No findings in 1 file.\n",
        "jitlint: warning: traced: 'b.*' matches no function\n",
    ),
    "wrong brackets": Mistake(
        {"a.py": BRANCH.replace("> 0:", "> 0:  # jitlint: ignore(JIT101)")},
        "check",
        1,
        "Found 1 error, 1 warning in 1 file (1 file checked).\n",
    ),
    "a reason in brackets": Mistake(
        {"a.py": BRANCH.replace("> 0:", "> 0:  # jitlint: ignore (a test)")},
        "check",
        0,
        "No findings in 1 file.\n",
    ),
    "a reason without brackets": Mistake(
        {"a.py": BRANCH.replace("> 0:", "> 0:  # jitlint: ignore because x2 is never traced")},
        "check",
        0,
        "No findings in 1 file.\n",
    ),
    "all rules by their name": Mistake(
        {"a.py": BRANCH.replace("> 0:", "> 0:  # jitlint: ignore[ALL]")},
        "check",
        0,
        "No findings in 1 file.\n",
    ),
    "a comment about jitlint": Mistake(
        {"a.py": FINE + "# jitlint ignores this, and nobody else: type: ignore[misc]\n"},
        "check",
        0,
        "No findings in 1 file.\n",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_said(name: str, project: Write, capsys: Capture) -> None:
    mistake = MISTAKES[name]
    root = project(mistake.files)
    for folder in mistake.folders:
        (root / folder).mkdir()
    code = main(mistake.command.split())
    said = capsys.readouterr()
    assert mistake.out in said.out
    assert mistake.err in said.err
    if not mistake.err:
        assert said.err == ""
    assert code == mistake.code


def test_what_the_baseline_knows_is_counted(project: Write, capsys: Capture) -> None:
    root = project({"a.py": BRANCH, "b.py": FINE})
    main(["check", "--write-baseline", "known.json"])
    capsys.readouterr()
    assert main(["check", "--baseline", "known.json"]) == 0
    assert capsys.readouterr().out == "No new findings in 2 files (1 in the baseline).\n"
    (root / "c.py").write_text(BRANCH)
    assert main(["check", "--baseline", "known.json"]) == 1
    assert capsys.readouterr().out.endswith("Found 1 error in 1 file (3 files checked; 1 in the baseline).\n")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_what_lies_outside_the_changed_lines_is_counted(project: Write, capsys: Capture) -> None:
    root = project({"a.py": BRANCH})
    _git(root, "init", "-q")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "first")
    assert main(["check", "--diff", "HEAD", "a.py"]) == 0
    assert capsys.readouterr().out == "No new findings in 1 file (1 outside the changed lines).\n"


def test_patterns_of_traced_functions_may_speak_of_other_files(project: Write, capsys: Capture) -> None:
    project({"a.py": FINE, "b.py": FINE, "jitlint.toml": 'traced = ["b.*"]\n'})
    assert main(["check", "a.py"]) == 0
    assert capsys.readouterr().err == ""


def _git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)
