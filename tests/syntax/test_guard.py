"""The guard: what it refuses, quickly, and what it must not refuse."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest

from jitlint.syntax import compute_spans, ir, lower
from jitlint.syntax.guard import MAX_DEPTH, guard
from jitlint.syntax.source import SyntaxProblem
from tests.syntax.helpers import corpus, problem

# Ways to nest n levels deep.
DEEP: dict[str, Callable[[int], str]] = {
    "sum": lambda n: "x = " + " + ".join(["a"] * n),
    "sum over lines": lambda n: "x = (" + " +\n".join(["a"] * n) + ")",
    "continued sum": lambda n: "x = " + " + \\\n".join(["a"] * n),
    "power": lambda n: "x = " + "**".join(["a"] * n),
    "and": lambda n: "x = " + " and ".join(["a"] * n),
    "or over lines": lambda n: "x = (" + "\nor\n".join(["a"] * n) + ")",
    "not": lambda n: "x = " + "not " * n + "a",
    "minus": lambda n: "x = " + "-" * n + "a",
    "attributes": lambda n: "x = a" + ".b" * n,
    "calls": lambda n: "x = a" + "()" * n,
    "methods": lambda n: "x = (a" + "\n.b(1, 'c')" * n + ")",
    "subscripts": lambda n: "x = a" + "[0]" * n,
    "conditional": lambda n: "x = " + "a if b else " * n + "c",
    "lambda": lambda n: "x = " + "lambda: " * n + "a",
    "comprehension": lambda n: "x = [a" + " for a in b" * n + "]",
    "elif": lambda n: "if a: pass\n" + "elif b: pass\n" * n,
    "f-string": lambda n: "x = f'{" + "-" * n + "a}'",
    "parentheses": lambda n: "x = " + "(" * n + "a" + ")" * n,
    "lists": lambda n: "x = " + "[" * n + "]" * n,
    "nested calls": lambda n: "x = " + "f(" * n + ")" * n,
    "nested calls over lines": lambda n: "x = " + "f(\n" * n + ")" * n,
    "dicts": lambda n: "x = " + "{0:" * n + "0" + "}" * n,
    "brackets in f-string": lambda n: "x = f'{" + "(" * n + "a" + ")" * n + "}'",
    "unclosed": lambda n: "x = " + "f(" * n,
    "blocks": lambda n: "".join(" " * i + "if a:\n" for i in range(n)) + " " * n + "pass\n",
    "functions": lambda n: "".join(" " * i + "def f():\n" for i in range(n)) + " " * n + "pass\n",
}
BRACKETS = {
    "parentheses",
    "lists",
    "nested calls",
    "nested calls over lines",
    "dicts",
    "brackets in f-string",
}


def _quickly(text: str) -> SyntaxProblem:
    """The problem, found in little time of this process: neither what else the machine does counts, nor the collection of
    what other tests have left."""
    gc.disable()
    try:
        start = time.process_time()
        found = problem(text)
        assert time.process_time() - start < 2
    finally:
        gc.enable()
    return found


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("levels", [3_000, 20_000])
def test_deep_code_is_refused_quickly(kind: str, levels: int) -> None:
    text = DEEP[kind](min(levels, 2_000) if kind in ("blocks", "functions") else levels)
    found = _quickly(text)
    assert found.code == "JIT003"
    assert found.message.startswith("too complex to be analysed")
    assert 1 <= found.line <= text.count("\n") + 1


@pytest.mark.parametrize("kind", [kind for kind in DEEP if kind != "unclosed"])
def test_code_within_the_limits_is_analysed(kind: str) -> None:
    levels = 90 if kind in BRACKETS or kind in ("blocks", "functions") else MAX_DEPTH - 10
    text = DEEP[kind](levels // 2 if kind == "methods" else levels)  # an attribute and a call each
    lowered = lower(text)
    assert isinstance(lowered, ir.Module), lowered
    assert ir.decode_module(ir.encode_module(lowered)) == lowered
    assert len(compute_spans(text, range(lowered.origins))) == lowered.origins


@pytest.mark.parametrize(
    "text",
    [
        "x = [" + "1.5, " * 5000 + "]",
        "x = [" + "-a.b + 1,\n" * 5000 + "]",
        "x = {" + "'a': 'b', " * 5000 + "}",
        "x = '''" + "((((" * 5000 + "'''",
        "# " + "((((" * 5000 + "\nx = 1",
        "x = '" + "-+." * 5000 + "'",
        "x = f'" + "-+.{a}" * 100 + "'",
        "x = f'" + "{{" * 500 + "'",
        "x = (" + "'a'\n" * 900 + ")",
        "a.b.c + d\n" * 5000,
        "if a: pass\nelif b: pass\n" * 500,
        "a < " * 5000 + "b",
        "a = " * 5000 + "b",
        "@a.b\n" * 1000 + "def f(): pass",
        "x = f(" + "a,\n" + " " * 200 + "b)",
    ],
)
def test_long_but_flat_code_is_analysed(text: str) -> None:
    assert isinstance(lower(text), ir.Module)


@pytest.mark.parametrize(
    "pattern",
    [
        "(" * 9 + "0" + ")" * 9,
        "[" * 20 + "0" + "]" * 20,
        "A(b=" * 9 + "0" + ")" * 9,
        "{1: " * 20 + "0" + "}" * 20 + " if a",
        "[0,\n  # (\n '(', " + "[" * 9 + "0" + "]" * 10,
    ],
)
def test_deep_patterns_are_refused_quickly(pattern: str) -> None:
    found = _quickly(f"match a:\n case 0: pass\n case {pattern}: pass\n")
    assert found.code == "JIT003"
    assert "pattern" in found.message
    assert found.line == 3 + pattern.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "match a:\n case " + "[" * 8 + "0" + "]" * 8 + ": pass\n",
        "match a:\n case [b] if " + "f(" * 20 + ")" * 20 + ": pass\n",
        "match a:\n case 0:\n  x = " + "[" * 20 + "]" * 20 + "\n",
        "case = " + "[" * 20 + "]" * 20 + "\ncase(" + "[" * 20 + "]" * 20 + ")\n",
        "case[0] = " + "{0: " * 20 + "1" + "}" * 20 + "\n",
    ],
)
def test_what_is_no_deep_pattern_is_analysed(text: str) -> None:
    assert isinstance(lower(text), ir.Module)


@pytest.mark.parametrize("piece", ["'a'\n", "b'''a\n'''", "'a'  # (\n", "r'a' \\\n", "'a'\r\n"])
def test_of_a_string_in_thousands_of_pieces_only_the_value_is_lost(piece: str) -> None:
    text = "x = (" + piece * 2000 + ")\nf(y)\n"
    lowered = lower(text)
    assert isinstance(lowered, ir.Module), lowered
    assign, call = lowered.body
    assert isinstance(assign, ir.Assign)
    assert isinstance(assign.value, ir.Const)
    assert assign.value.value is None
    assert isinstance(call, ir.ExprStmt)
    span = compute_spans(text, [call.value.at])[call.value.at]
    assert (span.line, span.column, span.end_column) == (text.count("\n"), 1, 5)


def test_many_concatenated_f_strings_are_refused() -> None:
    assert problem("x = (" + "f'{a}'\n" * 1100 + ")").code == "JIT003"


@pytest.mark.parametrize("text", ["x = 1  # " + "a" * 10_000_000, "x = [" + "1,\n" * 400_000 + "]"])
def test_large_files_are_refused(text: str) -> None:
    found = problem(text)
    assert (found.code, found.line, found.column) == ("JIT003", 1, 1)
    assert found.message.startswith("too large")


def test_place_of_the_problem() -> None:
    found = problem("a = 1\n\nb = " + "(" * 150 + ")" * 150)
    assert (found.line, found.column) == (3, 105)
    assert problem("a = 1\n\nb = " + "-" * 300 + "a").line == 3


def test_an_unclosed_bracket_in_a_long_file_is_an_ordinary_syntax_error() -> None:
    text = "x = f(1\n" + "a.b.c + d\n" * 500
    assert problem(text).code == "JIT001"


def test_real_files_pass() -> None:
    for source in corpus():
        assert guard(source.text) is None, source.path
