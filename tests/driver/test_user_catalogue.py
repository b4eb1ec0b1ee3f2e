"""A project's own catalogue file teaches jitlint the project's wrappers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

CODE = """\
from company.compile import fast_jit


@fast_jit(frozen=("n",))
def f(x, n):
    for _ in range(n):
        x = x * 2
    if x > 0:
        return x
    return -x
"""
CATALOGUE = """\
[wrap."company.compile.fast_jit"]
params = "function, frozen"
function = "function"
modes = "S"
static_names = "frozen"
"""


def run(folder: Path, catalogue: str) -> subprocess.CompletedProcess[str]:
    (folder / "app.py").write_text(CODE)
    (folder / "company.toml").write_text(catalogue)
    (folder / "jitlint.toml").write_text('catalogue = ["company.toml"]\n')
    command = [sys.executable, "-m", "jitlint", "check", "--no-cache", "--output-format", "json", "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def test_a_wrapper_of_the_project_is_known(tmp_path: Path) -> None:
    """The wrapped function is traced, its frozen argument is static."""
    result = run(tmp_path, CATALOGUE)
    assert [(row["code"], row["line"]) for row in json.loads(result.stdout)] == [("JIT101", 8)]


def test_a_broken_catalogue_is_a_configuration_error(tmp_path: Path) -> None:
    """The message names the file and the entry; nothing is analysed."""
    result = run(tmp_path, '[wrap."company.compile.fast_jit"]\nfunction = "function"\n')
    assert result.returncode == 2
    assert "company.toml" in result.stderr and "company.compile.fast_jit" in result.stderr
    assert "Traceback" not in result.stderr
