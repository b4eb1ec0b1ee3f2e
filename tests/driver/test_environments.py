"""Installed code is no part of the project around it: nobody's callers, nobody's context, and quick to look at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jitlint.base.config import Settings
from jitlint.driver.environments import is_installed
from jitlint.driver.project import callers_of, project_root
from jitlint.driver.run import check
from jitlint.frontends.cli import main
from tests.conftest import Write

BRANCH = "import jax\nfrom pkg.helper import h\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return h(x)\n    return -x\n"
PACKAGES = ".venv/lib/python3.11/site-packages"
PROJECT = {
    "pyproject.toml": "",
    "mine.py": "import jax\n",
    ".venv/pyvenv.cfg": "",
    f"{PACKAGES}/setup.py": "",
    f"{PACKAGES}/single.py": "import pkg\n",
    f"{PACKAGES}/pkg/__init__.py": "import jax\n",
    f"{PACKAGES}/pkg/helper.py": "import jax\nimport other\n\n\ndef h(x):\n    return x\n",
    f"{PACKAGES}/pkg/code.py": BRANCH,
    f"{PACKAGES}/other/__init__.py": "import jax\n",
}


@pytest.mark.parametrize(
    ("path", "installed"),
    [
        ("project/a.py", False),
        ("project/lib/a.py", False),
        (".venv/lib/python3.11/site-packages/pkg/a.py", True),
        (".venv/lib/python3.11/site-packages", True),
        ("conda/envs/x/lib/python3.12/site-packages/a.py", True),
        ("usr/lib/python3/dist-packages/numpy/core.py", True),
        ("usr/lib/python3.11/json/decoder.py", True),
        ("env/bin/activate_this.py", True),
        ("env/lib/a.py", True),
        ("env/main.py", False),
        ("env/app/lib/main.py", False),
        ("env/lib/python3.11/site-packages/checkout/a.py", False),
    ],
)
def test_what_counts_as_installed(path: str, installed: bool, tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "env/lib/python3.11/site-packages/checkout/.git").mkdir(parents=True)
    assert is_installed(str(tmp_path / path)) is installed


def test_a_named_file_of_an_environment_is_judged_by_itself(project: Write) -> None:
    project(PROJECT)
    result = check([f"{PACKAGES}/pkg/code.py"], Settings())
    assert [(f.code, f.span.line) for f in result.findings] == [("JIT101", 7)]
    assert result.statistics.parsed == 1
    assert check([f"{PACKAGES}/single.py"], Settings()).statistics.parsed == 1
    assert callers_of([f"{PACKAGES}/pkg/code.py"]) == ()
    assert callers_of([f"{PACKAGES}/pkg/code.py", "mine.py"]) == (os.getcwd(),)


def test_a_named_folder_of_an_environment_is_judged_with_what_is_in_it(project: Write) -> None:
    project(PROJECT)
    assert check([f"{PACKAGES}/pkg"], Settings()).statistics.parsed == 3


def test_nothing_in_an_environment_is_the_top_of_a_project(project: Write) -> None:
    root = project(PROJECT)
    assert project_root([f"{PACKAGES}/single.py"]) == str(root)


def test_no_cache_is_left_in_an_environment_outside_of_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JITLINT_CACHE_DIR", raising=False)
    package = tmp_path / "env/lib/python3.11/site-packages/pkg"
    package.mkdir(parents=True)
    (package / "code.py").write_text(BRANCH)
    assert [f.code for f in check([str(package / "code.py")], Settings()).findings] == ["JIT101"]
    assert [path.name for path in package.iterdir()] == ["code.py"]


def test_who_names_every_file_does_not_mean_those_of_an_environment(project: Write) -> None:
    root = project(PROJECT)
    forced = Settings(force_exclude=True)
    result = check([f"{PACKAGES}/pkg/code.py", "mine.py"], forced)
    assert [os.path.relpath(path, root) for path in result.named] == ["mine.py"]
    assert result.statistics.excluded == [f"{PACKAGES}/pkg/code.py"]


def test_who_stands_in_an_environment_means_it(project: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(PROJECT)
    monkeypatch.chdir(root / PACKAGES / "pkg")
    assert len(check(["code.py"], Settings(force_exclude=True)).named) == 1
    assert len(check(["."], Settings(force_exclude=True)).named) == 3


def test_code_kept_beside_the_folders_of_an_environment_is_a_project(project: Write) -> None:
    project({"pyvenv.cfg": "", "lib/python3.11/site-packages/a.py": "", "main.py": ""})
    assert callers_of(["main.py"]) == (os.getcwd(),)


def test_the_last_line_says_what_was_left_out_as_installed(
    project: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    project(PROJECT)
    assert main(["check", "--force-exclude", "--exclude", "mine.py", f"{PACKAGES}/single.py", "mine.py"]) == 0
    out = capsys.readouterr().out
    assert out == (
        "No Python files, so nothing was checked (1 left out by `exclude`, 1 left out as installed code).\n"
    )
