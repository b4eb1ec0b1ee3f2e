"""Fixes proved by running the code: the error is gone, and the result is the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.confirm.project import ROOT, run, write

pytest.importorskip("jax", reason="proof needs JAX")

FILES = {
    "pkg/__init__.py": "",
    "pkg/layers.py": """
        import jax.numpy as jnp


        def gate(x, limit):
            if x > limit:
                return x
            return limit * jnp.ones(())
        """,
    "pkg/model.py": """
        import jax

        from .layers import gate


        @jax.jit
        def apply(x):
            return gate(x, 0.5)


        @jax.jit
        def alone(x):
            return x if x > 0 else -x
        """,
    "test_model.py": """
        from pkg.model import apply


        def test_apply():
            assert apply(1.0) == 1.0
        """,
    "cases.py": """
        import jax
        import jax.numpy as jnp


        @jax.jit
        def twice(x):
            x[x < 0] = 2.0
            if x.sum() > 1.0:
                x = x * 2
            return x


        def case_twice():
            return twice(jnp.ones(3))


        @jax.jit
        def inverse(x):
            return x**x if x != 0 else 0.0


        def case_slope():
            return jax.grad(inverse)(0.0)


        @jax.jit
        def shown(x):
            print("x", x)
            return x + 1


        def case_shown():
            return shown(1.0)


        @jax.jit
        def draws(key):
            x = jax.random.normal(key)
            y = jax.random.normal(key)
            return x, y


        def case_draws():
            return draws(jax.random.key(0))
        """,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repairs") / "project"
    write(folder, FILES)
    return folder


@pytest.fixture(scope="module")
def rows(project: Path) -> dict[tuple[str, str], dict[str, Any]]:
    done = run(project, "--fixes", "--output-format", "json")
    assert done.returncode == 1, done.stderr
    return {(row["path"], row["line"]): row for row in json.loads(done.stdout)}


def test_an_error_in_a_helper_is_gone_in_a_test_that_passes(rows: dict[Any, Any]) -> None:
    row = rows["pkg/layers.py", 6]
    assert row["verdict"] == "proved" and "TracerBoolConversionError is gone" in row["evidence"]
    assert row["inputs"] == "test_apply() of test_model.py"
    assert row["fix"]["safety"] == "unsafe"


def test_arguments_are_made_up_where_nothing_calls(rows: dict[Any, Any]) -> None:
    """The module of a package is loaded anew with the fixed text."""
    row = rows["pkg/model.py", 14]
    assert row["verdict"] == "proved" and "without jit" in row["evidence"]


def test_a_gradient_that_is_no_number_is_seen(rows: dict[Any, Any]) -> None:
    row = rows["cases.py", 20]
    assert row["verdict"] == "harmful"
    assert row["evidence"] == "the result is not that without jit: nan instead of 0"


def test_of_two_errors_in_a_row_both_fixes_are_proved(rows: dict[Any, Any]) -> None:
    """Each alone leaves the other one; the store is no error of tracing, so there is nothing but the fixed code itself."""
    for line in (8, 9):
        row = rows["cases.py", line]
        assert row["verdict"] == "proved" and row["evidence"].startswith("with the other fixes, ")


def test_what_is_meant_to_change_is_not_said_to_be_the_same(rows: dict[Any, Any]) -> None:
    assert rows["cases.py", 40]["verdict"] == "not-shown"


def test_nothing_is_written(project: Path, rows: dict[Any, Any]) -> None:
    assert "if x > limit" in (project / "pkg/layers.py").read_text()


def test_only_what_is_proved_is_written(project: Path) -> None:
    command = [sys.executable, "-m", "jitlint", "check", "--fix", "--unsafe-fixes", "--confirm", "--isolated"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JITLINT_DEBUG": "1"}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    text = (project / "cases.py").read_text()
    assert "2 fixes left out: not proved by running the code." in done.stdout + done.stderr
    assert "x**x if x != 0 else 0.0" in text and "x = jax.random.normal(key)\n" in text
    assert 'jax.debug.print("x {}", x)' in text and "x = jnp.where(x < 0, 2.0, x)" in text
    assert "jnp.where(x > limit" in (project / "pkg/layers.py").read_text()


@pytest.mark.parametrize(
    "options",
    [
        ("check", "--confirm", "."),
        ("confirm", "--fixes", "--missed", "."),
        ("check", "--fix", "--confirm", "-"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "jitlint", *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, input=""
    )
    assert done.returncode == 2 and "--" in done.stderr
