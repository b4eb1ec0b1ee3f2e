"""Comments silence findings on their statement, and only what they name."""

from __future__ import annotations

import pytest

from jitlint.base.diagnostic import Span
from jitlint.driver.suppress import suppressions


def _silenced(text: str, line: int = 1, end_line: int | None = None, code: str = "JIT101") -> bool:
    span = Span(line, 1, end_line or line, 5)
    return suppressions(text).silences(code, "traced-branch", span)


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "# NOQA: JIT101",
        "# noqa:E501,JIT101",
        "# noqa: E501 JIT1",
        "# noqa: JIT",
        "# type: ignore  # noqa: JIT101",
        "# jitlint: ignore",
        "# jitlint: ignore[JIT101]",
        "# jitlint:ignore[JIT205, traced-branch]",
    ],
)
def test_comments_that_silence(comment: str) -> None:
    assert _silenced(f"if x:  {comment}\n    pass\n")


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa: because",
        "# noqa:",
        "# noqax",
        "# jitlint: ignore[]",
        "# jitlint: ignore[JIT2]",
        "# jitlint: traced",
        "'# noqa'",
    ],
)
def test_comments_that_do_not(comment: str) -> None:
    assert not _silenced(f"if x:  {comment}\n    pass\n")


def test_only_the_own_line_counts() -> None:
    text = "a = 1  # noqa\nif x:\n    pass  # noqa\n"
    assert _silenced(text, 1)
    assert not _silenced(text, 2)


def test_a_statement_over_several_lines_listens_at_both_ends() -> None:
    first = "y = f(  # noqa\n    a,\n    b,\n    c,\n)\n"
    last = "y = f(\n    a,\n    b,\n    c,\n)  # noqa\n"
    inner = "y = f(\n    a,\n    b,  # noqa\n    c,\n)\n"
    for text in (first, last):
        assert _silenced(text, 3)
    assert _silenced(inner, 3)
    assert not _silenced(inner, 2)
    assert _silenced(inner, 2, 3)


def test_the_body_of_a_compound_statement_is_not_part_of_its_header() -> None:
    text = "if (x and\n        y):\n    pass  # noqa\n"
    assert not _silenced(text, 1)
    assert _silenced("if (x and\n        y):  # noqa\n    pass\n", 1)


def test_a_whole_file() -> None:
    assert _silenced("x = 1\n# jitlint: ignore-file\n", 40)
    assert _silenced("# jitlint: ignore-file[JIT1]\n", 3)
    assert not _silenced("# jitlint: ignore-file[JIT2]\n", 3)


def test_text_that_cannot_be_tokenized_is_read_as_far_as_possible() -> None:
    assert _silenced("if x:  # noqa\n    y = (\n", 1)
