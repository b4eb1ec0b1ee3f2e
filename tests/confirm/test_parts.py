"""The statements that a finding needs, and no others."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from jitlint.confirm.planning.parts import first_line, needed, statements
from tests.confirm.project import confirmed, write

SCRIPT = """\
import jax
import time
x = 1.0
slow = [i for i in range(10)]
def f(y):
    return y * rate + x
rate = 2.0
x = 3.0
g = jax.jit(f)
a = g(x)
rate = 5.0
print(g(x))
def f(z):
    return z
f(1)
config = {}
config["on"] = True
def h(v):
    return v if config["on"] else -v
for i in range(3):
    h(i)
if __name__ == "__main__":
    for i in slow:
        print(i)
"""


def _lines(at: int, callers: bool) -> list[int]:
    return [first_line(node) for node in needed(statements(ast.parse(SCRIPT)), [at], callers)]


@pytest.mark.parametrize(
    ("at", "callers", "lines"),
    [
        (6, True, [1, 5, 7, 8, 9, 10, 11, 12]),
        (10, False, [1, 5, 7, 8, 9, 10]),
        (14, True, [13, 15]),
        (19, True, [16, 17, 18, 20]),
        (24, True, [4, 23]),
    ],
)
def test_what_is_needed(at: int, callers: bool, lines: list[int]) -> None:
    assert _lines(at, callers) == lines


def test_findings_below_a_failing_line_are_reached(tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="proof needs JAX")
    write(
        tmp_path,
        {
            "notes.py": textwrap.dedent("""\
                import jax
                import jax.numpy as jnp
                from jax.nowhere import config

                a = jnp.arange(3)
                a[0] = 9

                rate = 1.0


                @jax.jit
                def scaled(x):
                    return x * rate


                scaled(2.0)
                rate = 5.0
                scaled(2.0)

                held = []


                @jax.jit
                def keep(x):
                    held.append(x)
                    return x


                keep(1.0)
                while True:
                    pass
                """)
        },
    )
    found = confirmed(tmp_path, "--no-cache", "--timeout", "3", "notes.py")
    said = {item["line"]: (item["verdict"], item["evidence"], item["inputs"]) for item in found}
    assert {verdict for verdict, _, _ in said.values()} == {"confirmed"}
    assert said[6][2] == "a part of notes.py, past TypeError at line 6"
    assert "line 18: " in said[13][1] and said[13][2] == "a part of notes.py"
    assert said[25][1].startswith("`held` holds a tracer when all is over; using it raises jax.errors.")
