"""Of a text with a broken statement the others are kept, where they are."""

from __future__ import annotations

import pytest

from jitlint.syntax.repair import repaired

ABOVE = "import jax\nx = 1\n"
BELOW = "\n@jax.jit\ndef f(x):\n    return x\n\n\ny = f(x)\n"

BROKEN = {
    "a signature": "def g(a: float 5.0):\n    return a\n",
    "a decorator": "@partial(\n    f,\n    specs=(\n)\ndef g(a):\n    return a\n",
    "one of several branches": "if x:\n    a = 1\nelse:\n    a = = 2\n",
    "a line": "a b\n",
    "a class body": "class C:\n    def g(self:\n        pass\n\n    z = 1\n",
    "two of them": "a b\nc = 1\nd e\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_rest_stays_in_its_place(name: str) -> None:
    broken = BROKEN[name]
    text = ABOVE + "p = 1\n" * 6 + broken + BELOW
    found = repaired(text)
    assert found is not None
    kept, lines = found.splitlines(), text.splitlines()
    assert len(kept) == len(lines)
    assert all(new in (old, "") for new, old in zip(kept, lines))
    assert kept[: len(lines) - len((broken + BELOW).splitlines())] == (ABOVE + "p = 1\n" * 6).splitlines()
    assert found.endswith(BELOW)


@pytest.mark.parametrize("text", ["x = (\n", "def f(:\n    pass\n" * 9, "", "a b\n" * 3 + "x = 1\n" * 2])
def test_what_is_mostly_broken_is_left(text: str) -> None:
    assert repaired(text) in (None, text)
