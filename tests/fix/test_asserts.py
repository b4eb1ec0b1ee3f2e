"""Assertions about traced values in files that use chex: what is written, and that it fails when it should."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fix.repairing import repair

PROGRAM = """\
import chex
import jax
import jax.numpy as jnp


@jax.jit
def checked(x, y):
    chex.assert_rank(x, 1)
    assert {test}
    return x + y


print(checked(jnp.ones(2), jnp.ones(2)))
checked(jnp.ones(2), jnp.array([1.0, jnp.nan]))
"""
WRITTEN = {
    "jnp.all(jnp.isfinite(y))": "chex.assert_tree_all_finite(y)",
    "jnp.isfinite(y).all()": "chex.assert_tree_all_finite(y)",
    "jnp.allclose(x, y)": "chex.assert_trees_all_close(x, y, rtol=1e-05, atol=1e-08)",
    "jnp.allclose(x, y, rtol=0.1)": "chex.assert_trees_all_close(x, y, rtol=0.1, atol=1e-08)",
    "jnp.array_equal(x, y), 'unlike'": "chex.assert_trees_all_equal(x, y, custom_message='unlike')",
}


def fixed(test: str, path: Path) -> str:
    """The program with this assertion, fixed."""
    path.write_text(PROGRAM.format(test=test))
    texts = repair({path: path.read_bytes()}).texts
    return next(iter(texts.values()), path.read_text())


@pytest.mark.parametrize("test", WRITTEN)
def test_an_assertion_becomes_one_of_chex(test: str, tmp_path: Path) -> None:
    text = fixed(test, tmp_path / "a.py")
    assert f"    {WRITTEN[test]}\n" in text
    assert "@chex.chexify\n@jax.jit\n" in text
    assert "assert jnp" not in text


def test_what_chex_has_no_word_for_is_left(tmp_path: Path) -> None:
    text = fixed("jnp.allclose(x, y, equal_nan=True)", tmp_path / "a.py")
    assert "assert jnp.allclose(x, y, equal_nan=True)" in text


@pytest.mark.parametrize("test", WRITTEN)
def test_the_assertion_of_chex_fails_when_it_should(test: str, tmp_path: Path) -> None:
    pytest.importorskip("chex", reason="the fixed program imports chex")
    path = tmp_path / "a.py"
    path.write_text(fixed(test, path))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300)
    assert done.stdout == "[2. 2.]\n", done.stderr
    assert "AssertionError" in done.stderr
