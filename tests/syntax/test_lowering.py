"""Lowering as a whole: bad input, determinism, the way through bytes, leftovers."""

from __future__ import annotations

import ast
import gc
import inspect
import subprocess
import sys
import threading
from pathlib import Path

import libcst as cst
import pytest

import jitlint.syntax
from jitlint.syntax import SyntaxProblem, ir, lower
from jitlint.syntax.abstract import expressions as abstract
from jitlint.syntax.concrete.expressions import EXPR
from jitlint.syntax.concrete.lowering import lower_with_nodes
from jitlint.syntax.concrete.statements import STMT
from tests.syntax.helpers import corpus, in_both_ways, module, problem, walk

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("x = = 1\n", (1, 5)),
        ("def f(:\n    pass\n", (1, 7)),
        ("a\nprint 'x'\n", (2, 1)),
        ("if a:\nb\n", (2, 1)),
        ("x = (1,\n", (1, 5)),
        ("x = 'a\n", (1, 5)),
        ("x\0y", (1, 2)),
        ("x = 1\n\0", (2, 1)),
        ("  x = 1\n y = 2\n", (1, 1)),
    ],
)
def test_syntax_errors(text: str, place: tuple[int, int]) -> None:
    found = problem(text)
    assert found.code == "JIT001"
    assert found.line == place[0]
    if sys.version_info < (3, 13):  # Python moves the column around from version to version
        assert abs(found.column - place[1]) <= 2
    assert "\n" not in found.message


@pytest.mark.parametrize("text", ["x = '\ud800'", "\ud800", "# \udfff"])
def test_text_that_no_file_can_hold(text: str) -> None:
    assert problem(text).code == "JIT001"


def test_lowering_is_deterministic_and_survives_bytes() -> None:
    for source in corpus()[::4]:
        first = lower(source.text)
        if isinstance(first, SyntaxProblem):
            continue
        data = ir.encode_module(first)
        assert data == ir.encode_module(module_again(source.text)), source.path
        assert ir.decode_module(data) == first


def module_again(text: str) -> ir.Module:
    again = lower(text)
    assert isinstance(again, ir.Module)
    return again


def test_every_node_has_an_origin_of_its_own() -> None:
    for source in corpus()[::4]:
        lowered = lower(source.text)
        if isinstance(lowered, SyntaxProblem):
            continue
        origins = [at for _, at in walk(lowered)]
        assert len(origins) == len(set(origins)), source.path
        assert all(0 <= at < lowered.origins for at in origins)


def test_the_interpreter_is_left_as_it_was() -> None:
    limit = sys.getrecursionlimit()
    assert gc.isenabled()
    module("x = 1")
    problem("x = = 1")
    assert gc.isenabled()
    assert sys.getrecursionlimit() == limit
    gc.disable()
    try:
        module("x = 1")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_nodes_made_by_hand_are_validated_however_many_parse_at_once() -> None:
    """Two threads that parse at the same time leave libcst as it was."""
    ends = threading.Barrier(2)

    def parse() -> None:
        for _ in range(20):
            ends.wait()
            lower_with_nodes("x = 1\n" * 200)

    threads = [threading.Thread(target=parse) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with pytest.raises(cst.CSTValidationError):
        cst.Name("")


def test_a_long_file() -> None:
    text = "".join(f"def f{i}(x):\n    return x + {i}\n\n" for i in range(5_000)) + "pass\n" * 35_000
    lowered = module(text)
    assert len(lowered.functions) == 5_000
    assert len(lowered.body) == 40_000


def test_both_parsers_lead_to_the_same() -> None:
    """Number for number: what is found in one lowering is looked for in the other."""
    texts = [path.read_text("utf-8") for path in sorted(FIXTURES.rglob("*.py"))]
    compared = [in_both_ways(text) for text in [*texts, *(source.text for source in corpus()[::4])]]
    assert compared.count(True) > 200


def _concrete(base: type) -> set[str]:
    """Names of the classes below ``base`` that can be instantiated and are exported."""
    found: set[str] = set()
    subclasses: list[type] = base.__subclasses__()
    for cls in subclasses:
        found |= _concrete(cls)
        if not inspect.isabstract(cls) and hasattr(cst, cls.__name__) and not cls.__name__.startswith("Base"):
            found.add(cls.__name__)
    return found


def test_every_class_of_libcst_is_lowered() -> None:
    statements = _concrete(cst.BaseSmallStatement) | _concrete(cst.BaseCompoundStatement)
    assert statements == {cls.__name__ for cls in STMT}
    assert _concrete(cst.BaseExpression) == {cls.__name__ for cls in EXPR}


def test_a_class_that_is_not_known_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(EXPR, cst.Set)
    expected = SyntaxProblem("JIT001", "syntax that jitlint does not know yet (Set)")
    assert lower_with_nodes("x = {1}") == expected
    monkeypatch.delitem(abstract.EXPR, ast.Set)
    assert problem("x = {1}") == expected


def test_libcst_is_loaded_only_when_needed() -> None:
    code = "import sys, jitlint.syntax, jitlint.syntax.ir; sys.exit('libcst' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_other_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'lowre'"):
        jitlint.syntax.lowre  # noqa: B018
