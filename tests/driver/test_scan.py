"""The first look finds every import statement and every mention of a library."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from jitlint.driver.scan import mention_pattern, scan

PATTERN = mention_pattern(["jax", "flax"])


@pytest.mark.parametrize(
    ("source", "imports"),
    [
        ("import a", ["a"]),
        ("import a.b as c, d", ["a.b", "d"]),
        ("from a import b, c as d", ["a.b", "a.c"]),
        ("from .a import (b,  # (why)\n    c,\n)", [".a.b", ".a.c"]),
        ("from . import a\nfrom .. import *", [".a", ".."]),
        ("from ...a.b import *", ["...a.b"]),
        ("from a import b, \\\n    c", ["a.b", "a.c"]),
        ("if True: import a", ["a"]),
        ("    import a\nx = 1; import b # c", ["a", "b"]),
        ("from a import(b)", ["a.b"]),
        ("importance = from_me\nreimport = 1", []),
    ],
)
def test_imports(source: str, imports: list[str]) -> None:
    assert list(scan(source.encode(), PATTERN).imports) == imports


def test_mentions_are_whole_words() -> None:
    assert scan(b"x = 1  # jax", PATTERN).mentions
    assert scan(b"from flax.linen import Module", PATTERN).mentions
    assert scan(b"# jitlint: traced", PATTERN).mentions
    assert not scan(b"ajax = relaxed = 1", PATTERN).mentions


def test_lines_count_an_unfinished_last_line() -> None:
    assert [scan(text, PATTERN).lines for text in (b"", b"a", b"a\n", b"a\nb")] == [0, 1, 1, 2]


def test_no_import_of_the_standard_library_is_missed() -> None:
    missed: list[str] = []
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        data = path.read_bytes()
        missed += [
            f"{path.name}: {name}" for name in _parsed_imports(data) - set(scan(data, PATTERN).imports)
        ]
    assert missed == []


def _parsed_imports(data: bytes) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(data)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            joint = "" if base.endswith(".") else "."
            names.update(base if a.name == "*" else f"{base}{joint}{a.name}" for a in node.names)
    return names
