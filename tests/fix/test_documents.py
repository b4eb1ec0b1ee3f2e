"""Notebooks and texts: the code in them is fixed, and nothing else in the file is touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jitlint.base.diagnostic import Safety
from tests.fix.repairing import repair

BROKEN = "@jax.jit\ndef f(x):\n    print(x)  # shown\n    return x"


def code(*lines: str, **more: object) -> dict[str, object]:
    return {"cell_type": "code", **more, "source": list(lines)}


def notebook(*cells: dict[str, object], indent: int | None = 1, ascii_only: bool = False) -> str:
    content = {
        "nbformat": 4,
        "metadata": {"zeta": {"language_info": "é"}, "alpha": [1, {"b": None, "a": 1e-3}]},
        "cells": list(cells),
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=indent, ensure_ascii=ascii_only) + "\n"


def fixed(text: str, name: str = "a.ipynb") -> str:
    outcome = repair({Path(name): text.encode()})
    (after,) = outcome.texts.values()
    again = repair({Path(name): after.encode()})
    assert not again.texts
    return after


def changed_lines(before: str, after: str) -> list[str]:
    old = before.splitlines()
    return [line.strip() for line in after.splitlines() if line not in old]


OUTPUTS = [{"output_type": "stream", "text": ["print(x)  # shown\n"], "name": "stdout", "source": ["kept"]}]


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_only_the_strings_of_the_changed_lines_are_others(indent: int | None, ascii_only: bool) -> None:
    before = notebook(
        {"cell_type": "markdown", "source": ["print(x)  # shown"]},
        code(
            "import jax\n", "# é ☃\n", "y = 1", execution_count=3, outputs=OUTPUTS, metadata={"z": 1, "a": 2}
        ),
        code(
            "@jax.jit\n", "def f(x):  # é\n", "    print(x)  # ünd\n", "    return x", outputs=OUTPUTS, id="q"
        ),
        code("f(1.0)", outputs=[]),
        indent=indent,
        ascii_only=ascii_only,
    )
    shown, hidden = ("é", "ü"), ("\\u00e9", "\\u00fc")
    comment = "# " + (hidden if ascii_only else shown)[1] + "nd"
    wanted = before.replace(
        f'"    print(x)  {comment}\\n"', f'"    jax.debug.print(\\"{{}}\\", x)  {comment}\\n"'
    )
    assert wanted != before
    assert fixed(before) == wanted


def test_prints_of_notebooks_are_not_changed_without_being_asked() -> None:
    """Whoever wrote the notebook has seen the tracer; it may be what the cell is there for."""
    before = notebook(code("import jax"), code(*BROKEN.splitlines(keepends=True), outputs=OUTPUTS))
    assert not repair({Path("a.ipynb"): before.encode()}, Safety.SAFE).texts


def test_a_source_in_one_string_stays_one() -> None:
    before = notebook(code("import jax"), {"cell_type": "code", "source": BROKEN, "outputs": OUTPUTS})
    after = fixed(before)
    assert json.loads(after)["cells"][1]["source"] == BROKEN.replace("print(x)", 'jax.debug.print("{}", x)')
    assert changed_lines(before, after) == [
        '"source": "@jax.jit\\ndef f(x):\\n    jax.debug.print(\\"{}\\", x)  # shown\\n    return x",'
    ]


def test_an_import_goes_to_the_cell_of_imports() -> None:
    """That cell ends without a line end, and a command for the shell stands above it."""
    before = notebook(
        code("!pip install jax"),
        code("from jax import jit"),
        code("@jit\n", "def f(x):\n", "    return x if x > 0 else -x"),
        code("f(1.0)"),
    )
    cells = json.loads(fixed(before))["cells"]
    assert [each["source"] for each in cells] == [
        ["!pip install jax"],
        ["import jax.numpy as jnp\n", "from jax import jit"],
        ["@jit\n", "def f(x):\n", "    return jnp.where(x > 0, x, -x)"],
        ["f(1.0)"],
    ]


def test_a_last_line_that_goes_takes_its_line_end_with_it() -> None:
    before = notebook(
        code("import jax\n", "import jax.numpy as jnp"),
        code("def g(x):\n", "    return x + 1"),
        code("for i in range(3):\n", "    h = jax.jit(g)\n", "    h(jnp.ones(3))"),
    )
    (*_, last) = json.loads(fixed(before))["cells"]
    assert last["source"] == ["h = jax.jit(g)\n", "for i in range(3):\n", "    h(jnp.ones(3))"]


def test_what_a_magic_makes_is_left_alone() -> None:
    """The code behind `%%timeit` moves into a function, so its lines are no lines of the cell."""
    before = notebook(
        code("import jax"),
        code("%%timeit\n", "@jax.jit\n", "def f(x):\n", "    print(x)\n", "    return x\n", "f(1.0)"),
    )
    assert not repair({Path("a.ipynb"): before.encode()}).texts


def test_code_below_a_magic_is_fixed() -> None:
    before = notebook(
        code("import jax"), code("%%time\n", *(f"{line}\n" for line in BROKEN.split("\n")), "f(1.0)")
    )
    cells = json.loads(fixed(before))["cells"]
    assert cells[1]["source"][3] == '    jax.debug.print("{}", x)  # shown\n'


@pytest.mark.parametrize("margin", ["", "   "])
def test_texts_keep_what_is_around_the_code(margin: str) -> None:
    lines = [
        "# Title",
        "print(x)  # shown",
        f"{margin}```python",
        f"{margin}import jax",
        *(margin + line for line in BROKEN.split("\n")),
        f"{margin}f(1.0)",
        f"{margin}```",
        "é",
        "",
    ]
    before = "\n".join(lines)
    after = fixed(before, "a.md")
    assert after == before.replace("    print(x)  # shown", '    jax.debug.print("{}", x)  # shown')


def test_lines_that_come_into_a_text_stand_where_the_code_does() -> None:
    before = (
        "Text.\n\n   ```python\n   from jax import jit\n   @jit\n   def f(x):\n"
        "       return x if x > 0 else -x\n   f(1.0)\n   ```\n"
    )
    after = fixed(before, "a.md")
    assert "   import jax.numpy as jnp\n   from jax import jit\n   @jit\n" in after
    assert "       return jnp.where(x > 0, x, -x)\n" in after


def test_an_example_behind_a_prompt_is_fixed_where_no_line_comes_in() -> None:
    before = ">>> import jax\n>>> @jax.jit\n... def f(x):\n...     print(x)\n...     return x\n>>> f(1.0)\n"
    text = f"```python\n{before}```\n"
    assert fixed(text, "a.md") == text.replace("print(x)", 'jax.debug.print("{}", x)')
