"""What runs whenever its line runs, and what may be left out."""

from __future__ import annotations

import pytest

from jitlint.base.diagnostic import Span
from jitlint.base.parts import Part, Parts


def _at(text: str, wanted: str) -> Part | None:
    """The part at the first place of some text."""
    before = text[: text.index(wanted)]
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
    end = wanted.rpartition("\n")[2]
    last = line + wanted.count("\n")
    return Parts(text).at(Span(line, column, last, len(end) + 1 if last > line else column + len(wanted)))


def _function(*lines: str) -> str:
    return "import jax\n\n\n@jax.jit\ndef f(x, n):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("y = g(n) + x", "g(n)"),
        ("y = [g(n), x]", "g(n)"),
        ("y = g(n) and x", "g(n)"),
        ("y = 1 if g(n) else 2", "g(n)"),
        ("y = [z for z in g(n)]", "g(n)"),
        ("y = g(n) < x < 3", "g(n)"),
        ("assert g(n), 'no'", "g(n)"),
        ("y = 'größe', g(n)", "g(n)"),
        ("x[0] = 1", "x[0] = 1"),
        ("return g(n)", "g(n)"),
        ("with g(n) as y: pass", "g(n)"),
        ("y: list = g(n)", "g(n)"),
    ],
)
def test_what_always_runs(line: str, wanted: str) -> None:
    part = _at(_function(line), wanted)
    assert part is not None
    assert part.always
    assert part.function == ("f", 4)
    assert list(part.lines) == [6]
    assert part.names <= {"x", "n"}
    assert part.names


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("y = x and g(n)", "g(n)"),
        ("y = x and g(n)", "x and g(n)"),
        ("y = g(n) if x else 2", "g(n)"),
        ("y = 2 if x else g(n)", "g(n)"),
        ("y = [g(n) for z in x]", "g(n)"),
        ("y = [z for z in x if g(n)]", "g(n)"),
        ("y = [z for z in x for w in g(n)]", "g(n)"),
        ("y = h(lambda: g(n))", "g(n)"),
        ("y = h(x or n)", "h(x or n)"),
        ("y = 1 < x < g(n)", "g(n)"),
        ("y = 1 < x < n", "1 < x < n"),
        ("assert x, g(n)", "g(n)"),
        ("if x: y = g(n)", "g(n)"),
        ("with x: y = g(n)", "g(n)"),
    ],
)
def test_what_may_be_left_out(line: str, wanted: str) -> None:
    part = _at(_function(line), wanted)
    assert part is None or not part.always


def test_headers_and_statements_of_several_lines() -> None:
    text = _function("if g(", "    n", "):", "    y = h(x,", "          n.k)")
    header, body = _at(text, "g(\n        n\n    )"), _at(text, "n.k")
    assert header is not None
    assert list(header.lines) == [6, 7, 8]
    assert body is not None
    assert (list(body.lines), body.always, body.names) == ([9, 10], True, {"n"})


def test_the_innermost_function_counts_and_closures_have_names() -> None:
    text = _function("def inner(z):", "    return g(n, z)", "return inner(x)")
    part = _at(text, "g(n, z)")
    assert part is not None
    assert part.function == ("inner", 6)
    assert part.names == {"n", "z"}


def test_what_no_statement_holds() -> None:
    text = _function("pass")
    assert _at(text, text[:-1]) is None
    assert _at(text, "jax.jit") is None
    assert Parts("def f(:\n").at(Span(1, 1, 1, 2)) is None
    part = _at("x = g(1)\n", "g(1)")
    assert part is not None
    assert part.function == ("", 0)
