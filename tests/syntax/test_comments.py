"""Comments are found where they are, and only there."""

from __future__ import annotations

import io
import tokenize

from jitlint.syntax import comments
from tests.syntax.helpers import corpus


def test_comments() -> None:
    text = "x = 1  # noqa: JIT101\n'# no'\n  # other\ny = '''\n# no\n'''  # jitlint: ignore\n"
    assert comments(text) == [(1, 8, "# noqa: JIT101"), (3, 3, "# other"), (6, 6, "# jitlint: ignore")]


def test_nothing_is_searched_without_a_reason() -> None:
    assert comments("x = 1  # a comment\n") == []


def test_capitals_count() -> None:
    assert comments("x = 1  # NOQA") == [(1, 8, "# NOQA")]


def test_line_ends() -> None:
    for end in ("\n", "\r\n", "\r"):
        assert comments(f"a{end}b # noqa{end}'\\{end}' # c{end}") == [(2, 3, "# noqa"), (4, 3, "# c")]


def test_broken_files_have_comments_too() -> None:
    assert comments("x = (\n'unclosed  # noqa\ny # noqa\n") == [(2, 12, "# noqa"), (3, 3, "# noqa")]


def _comments_in_f_strings(tokens: list[tokenize.TokenInfo]) -> bool:
    depth = 0
    for token in tokens:
        kind = tokenize.tok_name[token.type]
        depth += (kind == "FSTRING_START") - (kind == "FSTRING_END")
        if depth and kind == "COMMENT":
            return True
    return False


def test_agreement_with_tokenize() -> None:
    compared = 0
    for source in corpus():
        text = "# noqa\n" + source.text
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
        except (tokenize.TokenError, SyntaxError):
            continue
        if _comments_in_f_strings(tokens):  # the one place where we do not look
            continue
        expected = [(t.start[0], t.start[1] + 1, t.string) for t in tokens if t.type == tokenize.COMMENT]
        assert comments(text) == expected, source.path
        compared += len(expected)
    assert compared > 500
