"""Comments silence findings on their statement, and only what they name."""

from __future__ import annotations

import pytest

from jitlint.base.diagnostic import Confidence, Finding, Severity, Span
from jitlint.driver.suppress import judge, suppressions


def _silenced(text: str, line: int = 1, end_line: int | None = None, code: str = "JIT101") -> bool:
    span = Span(line, 1, end_line or line, 5)
    return bool(suppressions(text).silenced_by(code, "traced-branch", span))


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


DECORATED = """\
@jit  # jitlint: ignore[JIT101]
@partial(
    f, a
)
def f(x):
    if x:
        pass

    if y:
        pass

def g(x):
    if x:
        pass
"""


def test_a_comment_on_a_decorator_covers_the_function() -> None:
    assert [line for line in range(1, 15) if _silenced(DECORATED, line)] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert not _silenced(DECORATED.replace("jitlint: ignore[JIT101]", "noqa: JIT101"), 6)
    nested = "class A:\n    @jit  # jitlint: ignore\n    def f(x): return x\n    def g(x): return x\n"
    assert [line for line in range(1, 5) if _silenced(nested, line)] == [2, 3]


def test_a_block_of_lines() -> None:
    text = "a\n# jitlint: off[JIT1]\nb\n# jitlint: off[JIT2]\nc\n# jitlint: on[JIT1]\nd\n# jitlint: on\ne\n"
    assert [line for line in range(1, 10) if _silenced(text, line)] == [2, 3, 4, 5, 6]
    assert [line for line in range(1, 10) if _silenced(text, line, code="JIT202")] == [4, 5, 6, 7, 8]
    assert _silenced("# jitlint: off\na\n", 900)


def _finding(line: int, code: str = "JIT101") -> Finding:
    return Finding(
        code, "traced-branch", Severity.ERROR, Confidence.CERTAIN, "m", "a.py", Span(line, 1, line, 2)
    )


def test_what_noqa_alone_silences_is_kept_apart_for_tools_with_a_noqa_of_their_own() -> None:
    text = "a  # noqa\nb  # jitlint: ignore\nc  # noqa: JIT1  # jitlint: ignore\nd\n"
    judged = judge([_finding(line) for line in (1, 2, 3, 4)], ["a.py"], lambda path: text)
    assert [f.span.line for f in judged.findings] == [4]
    assert [f.span.line for f in judged.by_noqa] == [1]


@pytest.mark.parametrize(
    "comment", ["# jitlint: ignroe[JIT101]", "# jitlint: disable=JIT101", "# jitlint: ignore[]"]
)
def test_misspelt_comments_silence_nothing_and_are_named(comment: str) -> None:
    text = f"if x:  {comment}\n    pass\n"
    finding = Finding(
        "JIT101", "traced-branch", Severity.ERROR, Confidence.CERTAIN, "m", "a.py", Span(1, 4, 1, 5)
    )
    judged = judge([finding], ["a.py"], {"a.py": text}.get)
    assert judged.findings == [finding]
    assert [path for path, _ in judged.unused] == ["a.py"]
    assert judge([], ["a.py"], {"a.py": "x = 1  # jitlint: traced\n# jitlint: example(3)\n"}.get).unused == []


def test_comments_without_use_are_named() -> None:
    text = "a  # noqa: JIT101\nb  # noqa\nc  # noqa: E501, JIT2\nd  # jitlint: ignore[JIT3]\ne  # jitlint: ignore\n"
    judged = judge([_finding(5)], ["a.py"], lambda path: text)
    assert [(path, c.span.line, c.span.column) for path, c in judged.unused] == [
        ("a.py", 1, 4),
        ("a.py", 4, 4),
    ]
