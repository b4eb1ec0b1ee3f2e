"""The tools that compare what jitlint says of a JAX with what that JAX does, on small projects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax", reason="compares with JAX")

ROOT = Path(__file__).parents[2]

PROJECT = """\
import jax
import jax.numpy as jnp
import no_such_library

LEAVES = jax.tree_leaves([1.0])
PLACES = jax.ops.index_update
no_such_library.use(LEAVES)


def double(params):
    return jax.tree_map(jnp.add, params, params)


if hasattr(jax, "tree_map"):
    jax.tree_map(abs, [1.0])
"""
TESTS = """\
from package.trees import double


def test_double():
    double({"w": 1.0})
"""
UNKNOWN = """\
import jax

HOW = "never_there"
getattr(jax, HOW)
"""
BRANCH = (
    "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:{mark}\n        return x\n    return -x\n\n\n{call}"
)


def _run(tool: str, *arguments: str | Path) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "tools" / tool), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_an_upgrade_report_is_compared_with_imports_and_tests(tmp_path: Path) -> None:
    files = {"requirements.txt": "jax==0.4.20\n", "package/__init__.py": "", "package/trees.py": PROJECT}
    _write(tmp_path, {**files, "tests/test_trees.py": TESTS})
    code, text = _run("check_upgrade.py", "--tests", sys.executable, tmp_path)
    assert code == 0, text
    assert (
        "3 findings, 3 names, arguments and options tried; 3 places fell over a missing one; 0 disagree"
        in text
    )
    assert "no_such_library" in text and "tests: 1 failed" in text


def test_what_the_report_does_not_say_is_told(tmp_path: Path) -> None:
    _write(tmp_path, {"requirements.txt": "jax==0.4.20\n", "strange.py": UNKNOWN})
    code, text = _run("check_upgrade.py", sys.executable, tmp_path)
    assert code == 1 and "raised, not listed" in text and "strange.py:4" in text


def test_cases_are_compared_with_what_jax_does(tmp_path: Path) -> None:
    mark = "  # BUG TracerBoolConversionError"
    files = {
        "errors/branch.py": BRANCH.format(mark=mark, call="f(1.0)\n"),
        "errors/never_called.py": BRANCH.format(mark=mark, call=""),
        "clean/number.py": "assert 1\n",
        "clean/raises.py": "assert not 1\n",
        "silent/none.py": "import jax  # BUG print\n",
    }
    _write(tmp_path, files)
    code, text = _run("check_cases.py", tmp_path, sys.executable)
    assert code == 1
    assert "errors: 1 raise, 1 run, 0 not run, 1 disagree" in text
    assert "errors/never_called.py: false: JIT101 at 6: JAX runs clean" in text
    assert "clean/raises.py: missed: JAX raises AssertionError" in text
    assert "silent/none.py: missed" in text and "errors/branch.py" not in text
