"""What a project may teach in its own catalogue file: static helpers, functions and traced base classes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jitlint.catalogue.schema import CatalogueError
from jitlint.catalogue.transforms import Transforms, load_transforms, read

HELPERS = """\
[functions."company.tools"]
is_wide = "x@ -> static"
pad_to = "x, size!T -> like(x)"
"""
BASES = """\
[role.layer]
classes = ["company.nn.Layer"]
traced_methods = ["forward"]
doc = "https://example.com"
"""
USES_HELPERS = """\
import jax
from company.tools import is_wide, pad_to


@jax.jit
def f(x, n):
    if is_wide(x):
        x = x * 2
    x = pad_to(x, n)
    return x
"""
USES_BASES = """\
import jax.numpy as jnp
from company.nn import Layer


class Clip(Layer):
    def forward(self, x):
        limit = jnp.sum(x)
        if limit > 0:
            return x
        return -x
"""


def findings(folder: Path, code: str, catalogue: str) -> list[tuple[str, int]]:
    (folder / "app.py").write_text(code)
    (folder / "company.toml").write_text(catalogue)
    (folder / "jitlint.toml").write_text('catalogue = ["company.toml"]\n')
    command = [sys.executable, "-m", "jitlint", "check", "--no-cache", "--output-format", "json", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    return [(row["code"], row["line"]) for row in json.loads(done.stdout)]


def test_helpers(tmp_path: Path) -> None:
    """A helper whose result is static may decide; an argument that must be static is reported."""
    assert findings(tmp_path, USES_HELPERS, HELPERS) == [("JIT201", 9)]


def test_base_classes(tmp_path: Path) -> None:
    """The methods named are meant to be traced."""
    assert findings(tmp_path, USES_BASES, BASES) == [("JIT101", 8)]
    assert findings(tmp_path, USES_BASES, "") == []


def test_a_malformed_line_names_file_and_function() -> None:
    with pytest.raises(CatalogueError, match=r"^company\.toml: company\.tools\.pad_to: no `->`"):
        read({"functions": {"company.tools": {"pad_to": "x, size!T"}}}, Transforms(), "company.toml")


def test_the_shipped_entries_are_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(HELPERS, encoding="utf-8")
    assert "company.tools.pad_to" in load_transforms((str(path),)).functions
    assert load_transforms(()).functions == {}
